a = 1

def b():
    return 1
