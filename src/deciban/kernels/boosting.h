/* Sums over the cells of binned columns. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "wide.h"

/* First and second derivative, weight, and nothing: one wide register, at any address. */
typedef double deciban_sum __attribute__((vector_size(32), aligned(8)));

/* The sums of every cell of some columns over n rows; column j begins at first[j]. */
DECIBAN_WIDE
static void deciban_gather(
    const uint8_t *X, ptrdiff_t d, const ptrdiff_t *first, const ptrdiff_t *columns, ptrdiff_t many,
    const ptrdiff_t *at, ptrdiff_t n, const void *of_rows, void *of_cells)
{
    const deciban_sum *rows = of_rows;
    deciban_sum *cells = of_cells;
    for (ptrdiff_t c = 0; c < many; c++) {
        const ptrdiff_t j = columns[c];
        memset(cells + first[j], 0, (first[j + 1] - first[j]) * sizeof(deciban_sum));
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        const deciban_sum row = rows[at[i]];
        const uint8_t *x = X + at[i] * d;
        for (ptrdiff_t c = 0; c < many; c++)
            cells[first[columns[c]] + x[columns[c]]] += row;
    }
}

/* The sums of every cell of every column over n rows, from the places of the cells that are not
   the commonest of their column, those of row i from starts[i] on: the commonest hold the rest. */
DECIBAN_WIDE
static void deciban_gather_rare(
    const int32_t *places, const int64_t *starts, ptrdiff_t d, const ptrdiff_t *first,
    const ptrdiff_t *common, const ptrdiff_t *at, ptrdiff_t n, const void *of_rows, void *of_cells)
{
    const deciban_sum *rows = of_rows;
    deciban_sum *cells = of_cells, total = {0};
    memset(cells, 0, first[d] * sizeof(deciban_sum));
    for (ptrdiff_t i = 0; i < n; i++) {
        const deciban_sum row = rows[at[i]];
        total += row;
        for (int64_t p = starts[at[i]]; p < starts[at[i] + 1]; p++)
            cells[places[p]] += row;
    }
    for (ptrdiff_t j = 0; j < d; j++) {
        deciban_sum left = total;
        for (ptrdiff_t c = first[j]; c < first[j + 1]; c++)
            left -= cells[c];
        /* Less weight than this is rounding: no row is there. */
        if (left[2] > 1e-12 * total[2])
            cells[common[j]] = left;
    }
}

/* The sums of a node without those of one child, of some columns: those of the other. */
DECIBAN_WIDE
static void deciban_subtract(
    const void *whole, const void *part, void *out, const ptrdiff_t *first,
    const ptrdiff_t *columns, ptrdiff_t many)
{
    const deciban_sum *a = whole, *b = part;
    for (ptrdiff_t c = 0; c < many; c++)
        for (ptrdiff_t i = first[columns[c]]; i < first[columns[c] + 1]; i++)
            ((deciban_sum *)out)[i] = a[i] - b[i];
}
