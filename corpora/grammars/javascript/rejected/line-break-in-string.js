x = "two
lines";