

  # nothing
