/* The exponential function in loops that use wide registers. */
#ifndef DECIBAN_EXPONENTIAL_H
#define DECIBAN_EXPONENTIAL_H

#include <stdint.h>
#include <string.h>

/* The exponential of a number <= 0, to 2 units in the last place; 1e-304 for what is less.

   Branchless, so that loops over it use wide registers: x = n ln 2 + r, and
   the power series of exp(r), |r| <= ln 2 / 2. */
static inline double deciban_exp(double x)
{
    const double shift = 0x1.8p52; /* rounds to a whole number, found in the low bits */
    x = x > -700.0 ? x : -700.0;
    const double moved = x * 0x1.71547652b82fep0 + shift, n = moved - shift;
    const double r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
    const double s = r * r; /* even and odd powers by themselves: two short chains of products */
    double even = 1.0 / 479001600, odd = 1.0 / 39916800;
    even = even * s + 1.0 / 3628800;
    odd = odd * s + 1.0 / 362880;
    even = even * s + 1.0 / 40320;
    odd = odd * s + 1.0 / 5040;
    even = even * s + 1.0 / 720;
    odd = odd * s + 1.0 / 120;
    even = even * s + 1.0 / 24;
    odd = odd * s + 1.0 / 6;
    even = even * s + 0.5;
    const double of = 1.0 + (r + s * (even + r * odd));
    uint64_t bits;
    memcpy(&bits, &moved, 8);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, 8);
    return of * power;
}

#endif
