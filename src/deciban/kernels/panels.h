/* Scoring loops over panels.

   A table of scores (cells, classes) is cut into panels of W = 2, 4 or 8
   classes, each (cells, W): with W = 8 one cell of a panel is one cache line,
   and the sums of a row stay in registers while its cells are gathered. */

#ifndef DECIBAN_PANELS_H
#define DECIBAN_PANELS_H

#include "wide.h"

/* Numbers that are added at once, wherever they lie. */
typedef double deciban_two __attribute__((vector_size(16), aligned(8)));
typedef double deciban_four __attribute__((vector_size(32), aligned(8)));

#define DECIBAN_AHEAD 16 /* non-zeros whose cells are fetched in advance */

/* out[i, :width] += sum_j panel[offsets[j] + x_ij]; the last cell of a column
   stands for every code beyond it, a code below zero is missing. */
#define DECIBAN_ADD_CODES(W, LANES)                                                        \
    DECIBAN_WIDE static void deciban_add_codes_##W(                                       \
        const int64_t *X, ptrdiff_t n, ptrdiff_t d, const ptrdiff_t *offsets,             \
        const double *panel, double *out, ptrdiff_t stride, ptrdiff_t width)              \
    {                                                                                     \
        for (ptrdiff_t i = 0; i < n; i++) {                                               \
            LANES low = {0}, high = {0};                                                  \
            for (ptrdiff_t j = 0; j < d; j++) {                                           \
                int64_t v = X[i * d + j], last = offsets[j + 1] - offsets[j] - 1;         \
                if (v < 0)                                                                \
                    continue;                                                             \
                const double *cell = panel + W * (offsets[j] + (v < last ? v : last));    \
                low += *(const LANES *)cell;                                              \
                if (W == 8)                                                               \
                    high += *(const LANES *)(cell + 4);                                   \
            }                                                                             \
            for (ptrdiff_t k = 0; k < width; k++)                                         \
                out[i * stride + k] += k < 4 ? low[k] : high[k - 4];                      \
        }                                                                                 \
    }

/* out[i, :width] += sum over the non-zeros of x_ij * panel[j]. */
#define DECIBAN_ADD_BAGS(W, LANES, INDEX)                                                 \
    DECIBAN_WIDE static void deciban_add_bags_##W##_##INDEX(                              \
        const double *data, const INDEX *indices, const INDEX *indptr, ptrdiff_t n,       \
        const double *panel, double *out, ptrdiff_t stride, ptrdiff_t width)              \
    {                                                                                     \
        INDEX end = indptr[n];                                                            \
        for (ptrdiff_t i = 0; i < n; i++) {                                               \
            LANES low = {0}, high = {0};                                                  \
            for (INDEX p = indptr[i]; p < indptr[i + 1]; p++) {                           \
                const double *cell = panel + W * (ptrdiff_t)indices[p];                   \
                double x = data[p];                                                       \
                if (p + DECIBAN_AHEAD < end)                                              \
                    DECIBAN_PREFETCH(panel + W * (ptrdiff_t)indices[p + DECIBAN_AHEAD]);  \
                low += x * *(const LANES *)cell;                                          \
                if (W == 8)                                                               \
                    high += x * *(const LANES *)(cell + 4);                               \
            }                                                                             \
            for (ptrdiff_t k = 0; k < width; k++)                                         \
                out[i * stride + k] += k < 4 ? low[k] : high[k - 4];                      \
        }                                                                                 \
    }

DECIBAN_ADD_CODES(2, deciban_two)
DECIBAN_ADD_CODES(4, deciban_four)
DECIBAN_ADD_CODES(8, deciban_four)
DECIBAN_ADD_BAGS(2, deciban_two, int32_t)
DECIBAN_ADD_BAGS(4, deciban_four, int32_t)
DECIBAN_ADD_BAGS(8, deciban_four, int32_t)
DECIBAN_ADD_BAGS(2, deciban_two, int64_t)
DECIBAN_ADD_BAGS(4, deciban_four, int64_t)
DECIBAN_ADD_BAGS(8, deciban_four, int64_t)

#endif
