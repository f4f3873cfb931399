int a[] = { 0, 1u, 2l, 3LL, 4ull, 5Ul, 0777, 0x1Fu, 0b101, 0XffLLU, 1i, 2J };
double b[] = { 1., .5, 1.5e10, 1e-3f, 1.0L, 0x1p3, 0x.8p-1, 0x1.8p+1f, 1.0q, 2.f128, 3.0F32x, 4.df, 5.DD, 1.5if };
int c[] = { 'a', L'b', u'c', U'd', '\n', '\'', '\\', '\0', '\177', '\x7f', 'ab', '\e', '"', '\u00e4' };
char *d[] = { "", "a" "b" L"c", u8"d", "\t\"\\\?", "\u00e4\U0001F600", "über", "it's", "a\
b", "\%\(" };
int größe, \u00e4, $dollar, _$1;
