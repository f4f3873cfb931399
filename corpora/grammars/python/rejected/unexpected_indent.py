a
    b
