if a:
    b
  # c
else
    d
