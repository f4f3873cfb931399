a != b
