if a:
b
