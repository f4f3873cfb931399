select cast(a as);
