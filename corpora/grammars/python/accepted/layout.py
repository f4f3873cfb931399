# A comment before anything else.

if a:

        # deeper than its block
    b = (1,
2,  # in brackets
            3)
  # less deep

    if c:
      d = """
no indentation
"""
      e = 1 + \
2
    else: pass
elif f \
    and g:
	h
	if i:
	        j
class K:
    def l(self): pass
    # at the end of a block



    def m(self):
        return [
    n
]; 
