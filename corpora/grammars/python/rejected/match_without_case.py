match a:
    pass
