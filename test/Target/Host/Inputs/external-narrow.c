signed char half(signed char value, int plus) { return value / 2 + plus; }
int of_short(short value) { return value * 2; }
int of_bool(_Bool value) { return value ? 10 + value : 20; }
_Bool is_odd(unsigned value) { return value & 1; }
