[for a in b]
