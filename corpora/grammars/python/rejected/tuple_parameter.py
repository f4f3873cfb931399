lambda (a, b): a
