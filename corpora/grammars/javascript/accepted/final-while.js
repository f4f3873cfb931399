if (a) b; else while (c) d
