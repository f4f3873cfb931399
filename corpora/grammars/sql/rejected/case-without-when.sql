select case a end;
