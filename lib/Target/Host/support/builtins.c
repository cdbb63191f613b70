/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What LLVM calls without being asked: memory functions, conversions of small
 * floats, remainders, x y + z rounded once. Ours, so that an artifact imports
 * nothing. Compiled freestanding and without builtins, or memcpy would call
 * itself.
 */
#include <stddef.h>
#include <stdint.h>

#define WORD 8

void *memcpy(void *restrict dst, const void *restrict src, size_t n) {
  unsigned char *d = dst;
  const unsigned char *s = src;
#if defined(__x86_64__)
  if (n >= 256) {
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
    return dst;
  }
#endif
  for (; n >= WORD; n -= WORD, d += WORD, s += WORD) {
    uint64_t word;
    __builtin_memcpy_inline(&word, s, WORD);
    __builtin_memcpy_inline(d, &word, WORD);
  }
  for (; n; --n)
    *d++ = *s++;
  return dst;
}

void *memmove(void *dst, const void *src, size_t n) {
  unsigned char *d = dst;
  const unsigned char *s = src;
  if (d == s || !n)
    return dst;
  if (d < s || d >= s + n) {
    for (; n >= WORD; n -= WORD, d += WORD, s += WORD) {
      uint64_t word;
      __builtin_memcpy_inline(&word, s, WORD);
      __builtin_memcpy_inline(d, &word, WORD);
    }
    for (; n; --n)
      *d++ = *s++;
    return dst;
  }
  for (; n >= WORD; n -= WORD) {
    uint64_t word;
    __builtin_memcpy_inline(&word, s + n - WORD, WORD);
    __builtin_memcpy_inline(d + n - WORD, &word, WORD);
  }
  for (; n; --n)
    d[n - 1] = s[n - 1];
  return dst;
}

void *memset(void *dst, int value, size_t n) {
  unsigned char *d = dst;
#if defined(__x86_64__)
  if (n >= 256) {
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(value) : "memory");
    return dst;
  }
#endif
  uint64_t word = (unsigned char)value * UINT64_C(0x0101010101010101);
  for (; n >= WORD; n -= WORD, d += WORD)
    __builtin_memcpy_inline(d, &word, WORD);
  for (; n; --n)
    *d++ = (unsigned char)value;
  return dst;
}

int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (; n; --n, ++x, ++y)
    if (*x != *y)
      return *x < *y ? -1 : 1;
  return 0;
}

int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }

/* Small floats. Bits of T as U and back. */
#define BITS(name, T, U)                                                       \
  static inline U name##_bits(T value) {                                       \
    union {                                                                    \
      T t;                                                                     \
      U u;                                                                     \
    } c = {.t = value};                                                        \
    return c.u;                                                                \
  }                                                                            \
  static inline T name##_from(U bits) {                                        \
    union {                                                                    \
      U u;                                                                     \
      T t;                                                                     \
    } c = {.u = bits};                                                         \
    return c.t;                                                                \
  }
BITS(f64, double, uint64_t)
BITS(f32, float, uint32_t)
BITS(f16, _Float16, uint16_t)

static inline __bf16 bf16_from(uint16_t bits) {
  union {
    uint16_t u;
    __bf16 t;
  } c = {.u = bits};
  return c.t;
}

static float extend_half(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16;
  uint32_t exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
  if (exponent == 31)
    return f32_from(sign | 0x7f800000 | (mantissa ? 0x400000 : 0) |
                    mantissa << 13);
  if (exponent)
    return f32_from(sign | (exponent + 112) << 23 | mantissa << 13);
  /* Subnormal: mantissa * 2^-24, exact. */
  float magnitude = (float)mantissa * 0x1p-24f;
  return f32_from(sign | f32_bits(magnitude));
}

/* Rounds a double to a format of `precision` bits whose smallest normal is
 * 2^least and largest exponent `most`, to nearest even; returns its bits with
 * `mantissa` stored bits. Everything narrower than a double goes through here,
 * so nothing is rounded twice. */
static uint16_t narrow(uint64_t bits, int mantissa, int least, int most) {
  uint16_t sign = (uint16_t)(bits >> 48) & 0x8000;
  int exponent = (int)((bits >> 52) & 2047);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  uint16_t infinity = (uint16_t)((most - least + 2) << mantissa);
  if (exponent == 2047) {
    if (!fraction)
      return sign | infinity;
    uint16_t payload = (uint16_t)(fraction >> (52 - mantissa));
    return sign | infinity | (uint16_t)(1 << (mantissa - 1)) | payload;
  }
  if (exponent == 0)
    return sign; /* far below every subnormal here */
  int e = exponent - 1023;
  uint64_t significand = fraction | (UINT64_C(1) << 52);
  if (e > most)
    return sign | infinity;
  int drop = 52 - mantissa;
  uint64_t base = 0;
  if (e < least)
    drop += least - e;
  else
    base = (uint64_t)(e - least) << mantissa;
  if (drop > 54)
    return sign;
  uint64_t kept = significand >> drop;
  uint64_t rest = significand & ((UINT64_C(1) << drop) - 1);
  uint64_t half = UINT64_C(1) << (drop - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  /* The implicit bit of a normal number adds one to the exponent field. */
  return sign | (uint16_t)(base + kept);
}

float __extendhfsf2(_Float16 value) { return extend_half(f16_bits(value)); }
double __extendhfdf2(_Float16 value) { return extend_half(f16_bits(value)); }
_Float16 __truncdfhf2(double value) {
  return f16_from(narrow(f64_bits(value), 10, -14, 15));
}
_Float16 __truncsfhf2(float value) { return __truncdfhf2(value); }
__bf16 __truncdfbf2(double value) {
  return bf16_from(narrow(f64_bits(value), 7, -126, 127));
}
__bf16 __truncsfbf2(float value) {
  uint32_t bits = f32_bits(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bf16_from((uint16_t)(bits >> 16 | 0x40));
  return bf16_from((uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
}
float __gnu_h2f_ieee(uint16_t value) { return extend_half(value); }
uint16_t __gnu_f2h_ieee(float value) {
  return narrow(f64_bits(value), 10, -14, 15);
}

/* Exact remainder with the sign of the dividend, bit by bit. */
double fmod(double x, double y) {
  uint64_t a = f64_bits(x), b = f64_bits(y) & ~(UINT64_C(1) << 63);
  uint64_t sign = a & (UINT64_C(1) << 63);
  const uint64_t infinity = UINT64_C(2047) << 52;
  a ^= sign;
  if (a >= infinity || b > infinity || b == 0)
    return (x * y) / (x * y);
  if (a < b)
    return x;
  int ea = (int)(a >> 52), eb = (int)(b >> 52);
  uint64_t ma = a & ((UINT64_C(1) << 52) - 1), mb = b & ((UINT64_C(1) << 52) - 1);
  if (ea)
    ma |= UINT64_C(1) << 52;
  else
    ea = 1;
  if (eb)
    mb |= UINT64_C(1) << 52;
  else
    eb = 1;
  for (; ea > eb; --ea) {
    if (ma >= mb)
      ma -= mb;
    ma <<= 1;
  }
  if (ma >= mb)
    ma -= mb;
  if (!ma)
    return f64_from(sign);
  while (ma < (UINT64_C(1) << 52) && ea > 1) {
    ma <<= 1;
    --ea;
  }
  uint64_t result = ma;
  if (ma >= (UINT64_C(1) << 52))
    result = (ma ^ (UINT64_C(1) << 52)) | (uint64_t)ea << 52;
  return f64_from(sign | result);
}
float fmodf(float x, float y) { return (float)fmod(x, y); }

/* x y + z, rounded once, for processors without an instruction for it.
 *
 *   P = mx my 2^20, in [2^124, 2^126)      Z = mz, moved to where P's last bit is
 *
 * What does not fit behind the last bit is or-ed into it; where that happens, the
 * two are so far apart that the bits which are rounded off do not cancel. */
typedef unsigned __int128 wide;

static wide shift_right(wide value, int by) {
  if (by > 127)
    return value != 0;
  return value >> by | ((value & (((wide)1 << by) - 1)) != 0);
}
static int highest_bit(wide value) {
  uint64_t high = (uint64_t)(value >> 64);
  return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)value);
}
/* A finite number that is not 0 as an integer of 53 bits times 2^exponent. */
static uint64_t significand(uint64_t bits, int *exponent) {
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  *exponent = (int)(bits >> 52 & 2047) - 1075;
  if (*exponent > -1075)
    return fraction | UINT64_C(1) << 52;
  int shift = __builtin_clzll(fraction) - 11;
  *exponent = -1074 - shift;
  return fraction << shift;
}
double fma(double x, double y, double z) {
  const uint64_t infinity = UINT64_C(2047) << 52, top = UINT64_C(1) << 63;
  uint64_t a = f64_bits(x), b = f64_bits(y), c = f64_bits(z);
  if ((a & infinity) == infinity || (b & infinity) == infinity || !(a & ~top) ||
      !(b & ~top))
    return x * y + z;
  if ((c & infinity) == infinity)
    return z + z;
  if (!(c & ~top))
    return x * y;
  int ea, eb, ec;
  wide product = (wide)significand(a, &ea) * significand(b, &eb) << 20;
  wide term = significand(c, &ec);
  int exponent = ea + eb - 20, up = ec - exponent;
  if (up > 70) {
    product = shift_right(product, up - 70);
    exponent += up - 70;
    up = 70;
  }
  term = up < 0 ? shift_right(term, -up) : term << up;

  uint64_t sign = (a ^ b) & top;
  wide sum = product + term;
  if (sign != (c & top)) {
    if (product == term)
      return 0;
    sum = product > term ? product - term : term - product;
    if (product < term)
      sign ^= top;
  }
  int last = highest_bit(sum), leading = exponent + last;
  if (leading > 1023)
    return f64_from(sign | infinity);
  int drop = last - 52 + (leading < -1022 ? -1022 - leading : 0);
  /* One bit behind the last, and whether there is more, decide. */
  sum = drop < 2 ? sum << (2 - drop) : shift_right(sum, drop - 2);
  uint64_t kept = (uint64_t)(sum >> 2), rest = (uint64_t)sum & 3;
  kept += rest > 2 || (rest == 2 && (kept & 1));
  /* The implicit bit of a normal number adds one to the exponent field. */
  uint64_t base = leading < -1022 ? 0 : (uint64_t)(leading + 1022) << 52;
  return f64_from(sign | (base + kept));
}
/* The product is exact. The sum is rounded to a number whose last bit is set where
 * it is not exact, so that rounding it again is rounding once. */
float fmaf(float x, float y, float z) {
  double product = (double)x * y, sum = product + z;
  double other = sum - product;
  double error = (product - (sum - other)) + (z - other);
  uint64_t bits = f64_bits(sum);
  if ((bits >> 52 & 2047) != 2047 && error != 0 && !(bits & 1))
    bits += (error > 0) == (sum > 0) ? 1 : -1;
  return (float)f64_from(bits);
}

/* Rounding, which processors without SSE4.1 have no instruction for. Values of
 * 2^52 and more, infinities and NaNs are whole as they are. */
static double toward_zero(double x) {
  double whole = (double)(int64_t)x;
  return __builtin_copysign(whole, x);
}
static int is_whole(double x) {
  return !(__builtin_fabs(x) < 4503599627370496.0);
}
double trunc(double x) { return is_whole(x) ? x : toward_zero(x); }
double floor(double x) {
  double whole = trunc(x);
  return whole > x ? __builtin_copysign(whole - 1, x) : whole;
}
double ceil(double x) {
  double whole = trunc(x);
  return whole < x ? __builtin_copysign(whole + 1, x) : whole;
}
/* Halves go to the even neighbour. */
double roundeven(double x) {
  if (is_whole(x))
    return x;
  double below = floor(x), part = x - below;
  int64_t number = (int64_t)below;
  int up = part > 0.5 || (part == 0.5 && (number & 1));
  return __builtin_copysign(up ? below + 1 : below, x);
}
/* Halves go away from zero. */
double round(double x) {
  double whole = trunc(x);
  return __builtin_fabs(x - whole) >= 0.5 ? whole + __builtin_copysign(1, x) : whole;
}
double rint(double x) { return roundeven(x); }
double nearbyint(double x) { return roundeven(x); }
float truncf(float x) { return (float)trunc(x); }
float floorf(float x) { return (float)floor(x); }
float ceilf(float x) { return (float)ceil(x); }
float roundevenf(float x) { return (float)roundeven(x); }
float roundf(float x) { return (float)round(x); }
float rintf(float x) { return (float)rint(x); }
float nearbyintf(float x) { return (float)nearbyint(x); }
