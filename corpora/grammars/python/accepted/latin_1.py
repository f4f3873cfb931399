# coding: latin-1
a = "ä"  # ö
