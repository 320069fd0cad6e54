/* Sums and sums of squares of floats in slices, exactly, by plain arithmetic of doubles.

   The values of a column lie below 2**top. Each is cut into four slices of 22 bits,

       x = s0 + s1 + s2 + s3,    s0 a multiple of U0 = 2**(top - 21), s1 of U0 / 2**22, ...

   by rounding: s0 is x rounded to multiples of U0. Of x**2, products of slices are added up by
   their order, that of s_i s_j being i + j. In units, a product is no more than 2**42, and no more
   than three are added a row: sums of 512 rows are exact in doubles, with or without a fused
   multiply-add. Then they go to integers of 128 bits.

   Rows are taken in blocks, and in a block by classes, so that sums stay in registers. */

#ifndef DECIBAN_SLICES_H
#define DECIBAN_SLICES_H

#include "wide.h"
#include <string.h>

enum {
    DECIBAN_SLICE_BITS = 22,
    DECIBAN_SLICE_RANGE = 35,   /* so many exponents below top: all their bits are in slices */
    DECIBAN_SLICE_ROWS = 512,   /* of one class, before sums of doubles might round */
    DECIBAN_SLICE_SUMS = 9,     /* of s0 + s1, of s2 + s3, and of squares by the orders 0 to 6 */
    DECIBAN_LANES = 4,          /* columns side by side */
    DECIBAN_SLICE_BLOCK = 256,  /* rows at most */
};

typedef double deciban_lanes __attribute__((vector_size(8 * DECIBAN_LANES)));

/* How columns are cut, a multiple of four of them, and their sums: (classes, columns / 4, sums, 4). */
typedef struct {
    double *round;     /* (3, columns): what is added and taken away to round to s0, s1, s2 */
    int64_t *least;    /* the bits of the least magnitude that fits, 0 apart, */
    int64_t *most;     /* and of the greatest */
    double *sums;      /* exact for some rows, */
    __int128 *totals;  /* and of those before them, in units: U0 / 2**22 and / 2**66, and squares */
    int64_t *rows;     /* how many rows of each class were added, */
    int64_t *since;    /* and how many of them are in doubles */
    int32_t *head;     /* of each class, -1 */
} deciban_slices;

/* Whether all values of some rows fit: n rows of `width` values, d apart. */
static inline int deciban_rows_fit(
    const double *restrict x, ptrdiff_t n, ptrdiff_t d, ptrdiff_t width,
    const int64_t *restrict least, const int64_t *restrict most)
{
    int64_t bad = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < width; j++) {
            int64_t a;
            memcpy(&a, x + i * d + j, 8);
            a &= INT64_MAX;
            bad |= (a > most[j]) | ((a < least[j]) & (a != 0));
        }
    return !bad;
}

/* Add four columns of the rows of one class; beyond `lanes` of them, zeros. */
static inline void deciban_add_lanes(
    const double *x, ptrdiff_t d, const int32_t *rows, ptrdiff_t n, ptrdiff_t lanes,
    const double *round, ptrdiff_t columns, double *sums)
{
    deciban_lanes c0, c1, c2, sum[DECIBAN_SLICE_SUMS];
    memcpy(&c0, round, sizeof(c0));
    memcpy(&c1, round + columns, sizeof(c1));
    memcpy(&c2, round + 2 * columns, sizeof(c2));
    memcpy(sum, sums, sizeof(sum));
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *row = x + rows[i] * d;
        deciban_lanes v = {0};
        if (lanes == DECIBAN_LANES)
            memcpy(&v, row, sizeof(v));
        else
            for (ptrdiff_t l = 0; l < lanes; l++)
                v[l] = row[l];
        deciban_lanes s0 = (v + c0) - c0, r = v - s0;
        deciban_lanes s1 = (r + c1) - c1;
        r -= s1;
        deciban_lanes s2 = (r + c2) - c2, s3 = r - s2;
        sum[0] += v - r;
        sum[1] += r;
        sum[2] += s0 * s0;
        sum[3] += s0 * s1;                  /* half of what is of odd orders */
        sum[5] += s0 * s3;
        s0 += s0;
        sum[4] += s0 * s2;
        sum[4] += s1 * s1;
        sum[5] += s1 * s2;
        s1 += s1;
        sum[6] += s1 * s3;
        sum[6] += s2 * s2;
        sum[7] += s2 * s3;
        sum[8] += s3 * s3;
    }
    memcpy(sums, sum, sizeof(sum));
}

/* Move the sums of one class to those of 128 bits, which are whole numbers of units. */
static inline void deciban_spill_slices(
    double *sums, __int128 *totals, ptrdiff_t columns, const double *round)
{
    const double finer = 1 << DECIBAN_SLICE_BITS;
    for (ptrdiff_t j = 0; j < columns; j++) {
        double unit = 0x1.8p52 / round[j] * finer, square = unit * unit / finer / finer;
        ptrdiff_t at = j / DECIBAN_LANES * DECIBAN_SLICE_SUMS * DECIBAN_LANES + j % DECIBAN_LANES;
        for (int k = 0; k < DECIBAN_SLICE_SUMS; k++, at += DECIBAN_LANES) {
            totals[at] += (int64_t)(sums[at] * (k < 2 ? unit : square));
            sums[at] = 0.0;
            if (k < 2)
                unit *= finer * finer;
            else
                square *= finer;
        }
    }
}

/* Add rows of `width` values, d apart, block by block, while they fit; returned is how many. */
DECIBAN_WIDEST static ptrdiff_t deciban_slice_rows(
    const double *x, ptrdiff_t n, ptrdiff_t d, ptrdiff_t width, const ptrdiff_t *y,
    const deciban_slices *to)
{
    ptrdiff_t groups = (width + DECIBAN_LANES - 1) / DECIBAN_LANES;
    ptrdiff_t columns = groups * DECIBAN_LANES, size = columns * DECIBAN_SLICE_SUMS;
    ptrdiff_t step = 8192 / (width + 1);
    step = step > DECIBAN_SLICE_BLOCK ? DECIBAN_SLICE_BLOCK : step < 16 ? 16 : step;
    int32_t next[DECIBAN_SLICE_BLOCK], rows[DECIBAN_SLICE_BLOCK];
    ptrdiff_t classes[DECIBAN_SLICE_BLOCK];
    for (ptrdiff_t start = 0; start < n; start += step) {
        ptrdiff_t block = n - start < step ? n - start : step, n_classes = 0;
        const double *from = x + start * d;
        if (!deciban_rows_fit(from, block, d, width, to->least, to->most))
            return start;
        for (ptrdiff_t i = block - 1; i >= 0; i--) {
            ptrdiff_t c = y[start + i];
            if (to->head[c] < 0)
                classes[n_classes++] = c;
            next[i] = to->head[c];
            to->head[c] = (int32_t)i;
        }
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            ptrdiff_t c = classes[k], some = 0;
            for (int32_t i = to->head[c]; i >= 0; i = next[i])
                rows[some++] = i;
            to->head[c] = -1;
            to->rows[c] += some;
            to->since[c] += some;
            double *sums = to->sums + c * size;
            if (to->since[c] > DECIBAN_SLICE_ROWS) {
                deciban_spill_slices(sums, to->totals + c * size, columns, to->round);
                to->since[c] = some;
            }
            for (ptrdiff_t g = 0; g < groups; g++) {
                ptrdiff_t lanes = width - g * DECIBAN_LANES;
                deciban_add_lanes(
                    from + g * DECIBAN_LANES, d, rows, some,
                    lanes < DECIBAN_LANES ? lanes : DECIBAN_LANES,
                    to->round + g * DECIBAN_LANES, columns,
                    sums + g * DECIBAN_SLICE_SUMS * DECIBAN_LANES);
            }
        }
    }
    return n;
}

#endif
