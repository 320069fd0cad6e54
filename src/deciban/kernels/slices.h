/* Sums and sums of squares of floats, exactly, by plain arithmetic of doubles.

   The values of a column lie below 2**top. A square is a double and what rounding took from it,

       x * x = p + e,    p = fl(x * x),    e = fma(x, x, -p),

   so doubles are all there is to add up: x, p and e. Their sums are kept in slices. One that is not
   the last begins at 1.5 * 2**52 units, and stays within a factor of 2 of it: to add a value rounds
   that to units, and the rest, exact again, goes to the next slice. The last begins at 0; its unit
   divides whatever is left. So nothing rounds in sums of 1024 rows. Then they go to integers of 128
   bits.

   Rows are taken in blocks, and in a block by classes, so that sums stay in registers. What does
   not fit is set aside, value by value. */

#ifndef DECIBAN_SLICES_H
#define DECIBAN_SLICES_H

#include "wide.h"
#include <string.h>

enum {
    DECIBAN_SLICE_RANGE = 33,   /* so many exponents below top: all their bits are in slices */
    DECIBAN_SLICE_ROWS = 1024,  /* of one class, before sums of doubles might round */
    DECIBAN_SLICE_SUMS = 8,     /* two of x, three of p, three of e */
    DECIBAN_LANES = 4,          /* columns side by side */
    DECIBAN_SLICE_BLOCK = 512,  /* rows at most, and about so many values: */
    DECIBAN_SLICE_VALUES = 1 << 14,
};

/* How many exponents of 2 the unit of each sum is below top, or below 2 * top for p and e. 1024
   values of 2**41 units fit where a sum begins at 1.5 * 2**52 of them, 1024 of 2**43 where it
   begins at 0. Of a value half a unit is left at most; e is half of the last place of p at most. */
static const int deciban_slice_units[DECIBAN_SLICE_SUMS] = {41, 85, 41, 83, 127, 95, 137, 181};
static const int deciban_slice_is_last[DECIBAN_SLICE_SUMS] = {0, 1, 0, 0, 1, 0, 0, 1};

typedef double deciban_lanes __attribute__((vector_size(8 * DECIBAN_LANES)));
typedef uint64_t deciban_bits __attribute__((vector_size(8 * DECIBAN_LANES)));

/* How columns are cut, a multiple of four of them, and their sums: (classes, columns / 4, sums,
   4). */
typedef struct {
    double *begin;     /* where the sums of a class begin, */
    double *finer;     /* and how many of their units are 1 */
    int64_t *least;    /* the bits of a power of 2 that all values exceed but zeros, */
    int64_t *most;     /* and of one that they do not reach, column by column */
    double *sums;      /* exact for some rows, */
    __int128 *totals;  /* and of those before them, in units */
    int64_t *rows;     /* how many rows of each class were added, */
    int64_t *since;    /* and how many of them are in doubles */
    int32_t *head;     /* of each class, -1 */
    int64_t *aside;    /* where the values of the last block lie that do not fit, */
    ptrdiff_t n_aside; /* and how many they are; */
    ptrdiff_t refused; /* how many values were refused with one of them beside them */
} deciban_slices;

/* How many rows of `width` values make a block. */
static inline ptrdiff_t deciban_block_rows(ptrdiff_t width)
{
    ptrdiff_t rows = DECIBAN_SLICE_VALUES / (width + 1);
    return rows > DECIBAN_SLICE_BLOCK ? DECIBAN_SLICE_BLOCK : rows < 16 ? 16 : rows;
}

/* The greater of each two numbers, by their upper halves: there is no such instruction for 64 bits.
   The lower halves are one's or the other's. */
static inline deciban_bits deciban_greater(deciban_bits a, deciban_bits b)
{
    uint32_t x[2 * DECIBAN_LANES], y[2 * DECIBAN_LANES];
    memcpy(x, &a, sizeof(x));
    memcpy(y, &b, sizeof(y));
    for (int l = 0; l < 2 * DECIBAN_LANES; l++)
        x[l] = x[l] > y[l] ? x[l] : y[l];
    memcpy(&a, x, sizeof(x));
    return a;
}

/* Add four columns of the rows of one class. Where a value does not fit, nothing is added, and 0
   returned. What lies `ahead` is needed soon. */
static inline int deciban_add_lanes(
    const double *x, ptrdiff_t d, const int32_t *rows, ptrdiff_t n, ptrdiff_t ahead,
    const int64_t *least, const int64_t *most, double *sums)
{
    deciban_lanes sum[DECIBAN_SLICE_SUMS], v;
    deciban_bits greatest = {0}, tiniest = {0};
    for (int k = 0; k < DECIBAN_SLICE_SUMS; k++) /* one by one: into registers, not via the stack */
        memcpy(&sum[k], sums + k * DECIBAN_LANES, sizeof(v));
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *row = x + rows[i] * d;
        DECIBAN_PREFETCH(row + ahead);
        memcpy(&v, row, sizeof(v));
        deciban_bits bits = (deciban_bits)v & INT64_MAX;
        greatest = deciban_greater(greatest, bits);
        tiniest = deciban_greater(tiniest, -bits); /* the less, the greater; but for zero */
        deciban_lanes p = v * v, e;
        for (int l = 0; l < DECIBAN_LANES; l++)
            e[l] = __builtin_fma(v[l], v[l], -p[l]);
        deciban_lanes t = sum[0] + v;
        sum[1] += v - (t - sum[0]);
        sum[0] = t;
        t = sum[2] + p;
        p -= t - sum[2];
        sum[2] = t;
        t = sum[3] + p;
        sum[4] += p - (t - sum[3]);
        sum[3] = t;
        t = sum[5] + e;
        e -= t - sum[5];
        sum[5] = t;
        t = sum[6] + e;
        sum[7] += e - (t - sum[6]);
        sum[6] = t;
    }
    for (int l = 0; l < DECIBAN_LANES; l++)
        if (greatest[l] >> 32 >= (uint64_t)most[l] >> 32
            || tiniest[l] >> 32 >= (uint64_t)-least[l] >> 32)
            return 0;
    for (int k = 0; k < DECIBAN_SLICE_SUMS; k++)
        memcpy(sums + k * DECIBAN_LANES, &sum[k], sizeof(v));
    return 1;
}

/* Add up to four columns of the rows of one class; values that do not fit are set aside. */
static inline void deciban_add_fitting(
    const double *x, ptrdiff_t d, const int32_t *rows, ptrdiff_t n, ptrdiff_t lanes,
    ptrdiff_t place, deciban_slices *to, const int64_t *least, const int64_t *most, double *sums)
{
    double some[DECIBAN_SLICE_BLOCK * DECIBAN_LANES];
    int64_t *aside = to->aside + to->n_aside;
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = some + rows[i] * DECIBAN_LANES;
        for (ptrdiff_t l = 0; l < DECIBAN_LANES; l++) {
            double v = l < lanes ? x[rows[i] * d + l] : 0.0;
            int64_t a;
            memcpy(&a, &v, 8);
            a &= INT64_MAX;
            int bad = (a != 0) & ((a <= least[l]) | (a >= most[l]));
            *aside = place + rows[i] * d + l;
            aside += bad; /* no branch to mispredict */
            row[l] = bad ? 0.0 : v;
        }
    }
    to->n_aside = aside - to->aside;
    deciban_add_lanes(some, DECIBAN_LANES, rows, n, 0, least, most, sums);
}

/* Move the sums of one class to those of 128 bits, which are whole numbers of units. */
static inline void deciban_spill_slices(const deciban_slices *to, ptrdiff_t c, ptrdiff_t size)
{
    double *sums = to->sums + c * size;
    __int128 *totals = to->totals + c * size;
    for (ptrdiff_t k = 0; k < size; k++) {
        totals[k] += (int64_t)((sums[k] - to->begin[k]) * to->finer[k]);
        sums[k] = to->begin[k];
    }
    to->since[c] = 0;
}

/* Add rows of `width` values, d apart, block by block; returned is how many: all, or those up to a
   block of which values were set aside. */
DECIBAN_WIDEST static ptrdiff_t deciban_slice_rows(
    const double *x, ptrdiff_t n, ptrdiff_t d, ptrdiff_t width, const ptrdiff_t *y,
    deciban_slices *to)
{
    ptrdiff_t groups = (width + DECIBAN_LANES - 1) / DECIBAN_LANES;
    ptrdiff_t size = groups * DECIBAN_SLICE_SUMS * DECIBAN_LANES, step = deciban_block_rows(width);
    ptrdiff_t start = 0;
    int32_t next[DECIBAN_SLICE_BLOCK], rows[DECIBAN_SLICE_BLOCK];
    ptrdiff_t classes[DECIBAN_SLICE_BLOCK];
    to->n_aside = 0;
    while (start < n && !to->n_aside) {
        ptrdiff_t block = n - start < step ? n - start : step, n_classes = 0;
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
            if (to->since[c] + some > DECIBAN_SLICE_ROWS)
                deciban_spill_slices(to, c, size);
            to->since[c] += some;
            for (ptrdiff_t g = 0; g < groups; g++) {
                ptrdiff_t column = g * DECIBAN_LANES, left = width - column;
                const int64_t *least = to->least + column, *most = to->most + column;
                double *sums = to->sums + c * size + g * DECIBAN_SLICE_SUMS * DECIBAN_LANES;
                const double *from = x + start * d + column;
                if (left >= DECIBAN_LANES) {
                    if (deciban_add_lanes(from, d, rows, some, step * d, least, most, sums))
                        continue;
                    left = DECIBAN_LANES;
                    to->refused += some * DECIBAN_LANES;
                }
                deciban_add_fitting(
                    from, d, rows, some, left, start * d + column, to, least, most, sums);
            }
        }
        start += block;
    }
    return start;
}

#endif
