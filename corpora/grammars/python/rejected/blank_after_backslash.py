a = b \ 
c
