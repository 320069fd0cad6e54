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

/* The same from the places of the cells that are not the common one of their column, those of
   row i from starts[i] on; the common cells hold what is left. */
DECIBAN_WIDE
static void deciban_gather_some(
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

/* What the smaller of two nodes leaves to the other. */
DECIBAN_WIDE
static void deciban_rest(const void *whole, const void *part, void *out, ptrdiff_t n)
{
    const deciban_sum *a = whole, *b = part;
    for (ptrdiff_t i = 0; i < n; i++)
        ((deciban_sum *)out)[i] = a[i] - b[i];
}

/* The most inner nodes of a tree, and how many rows fall through it side by side. */
enum { DECIBAN_INNER = 255, DECIBAN_ABREAST = 8 };

/* Add the leaf of every row, n of d cells, to margins that stand `stride` apart.

   Rows fall to the bottom without asking whether there is a split, so that the processor need not
   guess: a node without one sends all to the left, where its value has been passed down. */
DECIBAN_WIDE
static void deciban_fall(
    const uint8_t *X, ptrdiff_t n, ptrdiff_t d, ptrdiff_t inner, const int32_t *column,
    const uint64_t *left, const double *value, double *margin, ptrdiff_t stride)
{
    int32_t of[DECIBAN_INNER];
    uint64_t sets[4 * DECIBAN_INNER];
    double passed[2 * DECIBAN_INNER + 1];
    ptrdiff_t i, r, levels = 0;
    while ((((ptrdiff_t)1 << levels) - 1) < inner)
        levels++;
    passed[0] = value[0];
    memset(sets, 0xff, sizeof(sets));
    for (i = 0; i < inner; i++) {
        const int split = column[i] >= 0;
        of[i] = split ? column[i] : 0;
        if (split)
            memcpy(sets + 4 * i, left + 4 * i, 4 * sizeof(uint64_t));
        passed[2 * i + 1] = split ? value[2 * i + 1] : passed[i];
        passed[2 * i + 2] = split ? value[2 * i + 2] : passed[i];
    }
    for (i = 0; i < n; i += DECIBAN_ABREAST) {
        const ptrdiff_t many = n - i < DECIBAN_ABREAST ? n - i : DECIBAN_ABREAST;
        ptrdiff_t node[DECIBAN_ABREAST] = {0};
        for (ptrdiff_t level = 0; level < levels; level++)
            for (r = 0; r < DECIBAN_ABREAST; r++) {
                /* Beyond the last row, the last one again. */
                const ptrdiff_t row = i + (r < many ? r : many - 1), at = node[r];
                const uint8_t x = X[row * d + of[at]];
                node[r] = 2 * at + 2 - (ptrdiff_t)((sets[4 * at + (x >> 6)] >> (x & 63)) & 1);
            }
        for (r = 0; r < many; r++)
            margin[(i + r) * stride] += passed[node[r]];
    }
}
