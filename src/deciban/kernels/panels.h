/* Scoring loops over panels.

   A table of scores (cells, classes) is cut into panels of W classes, each (cells, W), so that
   the sums of a row stay in registers while its cells are gathered. Codes have panels of 2, 4 or 8
   classes: with 8 one cell is one cache line. */

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

/* out[i, :width] += sum over the non-zeros of x_ij * panel[j], cells of R registers of L numbers.
   Columns are many and their cells far apart: a cell is as wide as the classes are, up to 32, so
   that each is looked for once. */
#define DECIBAN_ADD_CELLS(LANES, L, INDEX)                                                 \
    static inline __attribute__((always_inline)) void deciban_add_cells_##L##_##INDEX(     \
        const double *data, const INDEX *indices, const INDEX *indptr, ptrdiff_t n,        \
        const double *panel, double *out, ptrdiff_t stride, ptrdiff_t width,               \
        const ptrdiff_t R)                                                                 \
    {                                                                                      \
        INDEX end = indptr[n];                                                             \
        for (ptrdiff_t i = 0; i < n; i++) {                                                \
            LANES sums[8] = {{0}};                                                         \
            for (INDEX p = indptr[i]; p < indptr[i + 1]; p++) {                            \
                const double *cell = panel + L * R * (ptrdiff_t)indices[p];                \
                double x = data[p];                                                        \
                if (p + DECIBAN_AHEAD < end) {                                             \
                    const double *next =                                                   \
                        panel + L * R * (ptrdiff_t)indices[p + DECIBAN_AHEAD];             \
                    for (ptrdiff_t r = 0; r < R; r += 2)                                   \
                        DECIBAN_PREFETCH(next + L * r);                                    \
                }                                                                          \
                for (ptrdiff_t r = 0; r < R; r++)                                          \
                    sums[r] += x * *(const LANES *)(cell + L * r);                         \
            }                                                                              \
            for (ptrdiff_t k = 0; k < width; k++)                                          \
                out[i * stride + k] += sums[k / L][k % L];                                 \
        }                                                                                  \
    }

#define DECIBAN_OF_REGISTERS(L, R, INDEX)                                                  \
    case L * R:                                                                            \
        deciban_add_cells_##L##_##INDEX(                                                   \
            data, indices, indptr, n, panel, out, stride, width, R);                       \
        break;

/* Cells of 2, 4, 8, 12, ... or 32 classes. */
#define DECIBAN_ADD_BAGS(INDEX)                                                            \
    DECIBAN_ADD_CELLS(deciban_two, 2, INDEX)                                               \
    DECIBAN_ADD_CELLS(deciban_four, 4, INDEX)                                              \
    DECIBAN_WIDE static void deciban_add_bags_##INDEX(                                     \
        const double *data, const INDEX *indices, const INDEX *indptr, ptrdiff_t n,        \
        const double *panel, double *out, ptrdiff_t stride, ptrdiff_t width, ptrdiff_t W)  \
    {                                                                                      \
        switch (W) {                                                                       \
            DECIBAN_OF_REGISTERS(2, 1, INDEX)                                              \
            DECIBAN_OF_REGISTERS(4, 1, INDEX)                                              \
            DECIBAN_OF_REGISTERS(4, 2, INDEX)                                              \
            DECIBAN_OF_REGISTERS(4, 3, INDEX)                                              \
            DECIBAN_OF_REGISTERS(4, 4, INDEX)                                              \
            DECIBAN_OF_REGISTERS(4, 5, INDEX)                                              \
            DECIBAN_OF_REGISTERS(4, 6, INDEX)                                              \
            DECIBAN_OF_REGISTERS(4, 7, INDEX)                                              \
            DECIBAN_OF_REGISTERS(4, 8, INDEX)                                              \
        }                                                                                  \
    }

DECIBAN_ADD_CODES(2, deciban_two)
DECIBAN_ADD_CODES(4, deciban_four)
DECIBAN_ADD_CODES(8, deciban_four)
DECIBAN_ADD_BAGS(int32_t)
DECIBAN_ADD_BAGS(int64_t)

#endif
