/* Sums over the cells of binned columns. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "wide.h"

/* Slope, curvature, weight, and nothing: one wide register, at any address. */
typedef double deciban_sum __attribute__((vector_size(32), aligned(8)));

/* The sums of every cell of every column over n rows; column j begins at first[j]. */
DECIBAN_WIDE
static void deciban_gather(
    const uint8_t *X, ptrdiff_t d, const ptrdiff_t *first, const ptrdiff_t *at, ptrdiff_t n,
    const void *of_rows, void *of_cells)
{
    const deciban_sum *rows = of_rows;
    deciban_sum *cells = of_cells;
    memset(cells, 0, first[d] * sizeof(deciban_sum));
    for (ptrdiff_t i = 0; i < n; i++) {
        const deciban_sum row = rows[at[i]];
        const uint8_t *x = X + at[i] * d;
        for (ptrdiff_t j = 0; j < d; j++)
            cells[first[j] + x[j]] += row;
    }
}

/* What the smaller of two nodes leaves to the other. */
DECIBAN_WIDE
static void deciban_rest(const void *whole, const void *part, void *out, ptrdiff_t n)
{
    const deciban_sum *a = whole, *b = part;
    for (ptrdiff_t i = 0; i < n; i++)
        ((deciban_sum *)out)[i] = a[i] - b[i];
}
