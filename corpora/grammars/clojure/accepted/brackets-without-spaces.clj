[a[b](c){d e}"f"\g :h]((x)(y))(let[a 1]a)(fn[x]x)#{}[]@a'b`c
