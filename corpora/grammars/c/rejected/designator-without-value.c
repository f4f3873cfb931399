struct s a = { .x };
