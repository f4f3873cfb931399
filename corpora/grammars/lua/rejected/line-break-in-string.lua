a = "two
lines"
