if a then b() 
