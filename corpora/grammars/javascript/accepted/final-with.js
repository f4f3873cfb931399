lab: for (;;) with (a) b
