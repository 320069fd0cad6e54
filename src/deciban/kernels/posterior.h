/* The exponentials of log joints above the largest. */

#ifndef DECIBAN_POSTERIOR_H
#define DECIBAN_POSTERIOR_H

#include "exponential.h"
#include "wide.h"
#include <math.h>

/* x = exp(x - most), of numbers that are no larger: 0 for minus infinity. */
DECIBAN_WIDE static void deciban_exponentials(double *x, ptrdiff_t n, double most)
{
    int64_t beyond = 0; /* what the fast function would not get right, NaN too */
    for (ptrdiff_t k = 0; k < n; k++)
        beyond |= !(x[k] - most > -700.0);
    if (!beyond)
        for (ptrdiff_t k = 0; k < n; k++)
            x[k] = deciban_exp(x[k] - most);
    else
        for (ptrdiff_t k = 0; k < n; k++)
            x[k] = exp(x[k] - most);
}

#endif
