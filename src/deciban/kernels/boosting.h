/* Boosting: probabilities under logits, and sums over the cells of binned columns. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "exponential.h"
#include "wide.h"

enum { DECIBAN_BLOCK = 512 };   /* rows whose sums stay in the nearest cache */

/* The probability of the second of two classes, from logits of n rows. */
DECIBAN_WIDE
static void deciban_logistic(const double *restrict logits, ptrdiff_t n, double *restrict out)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double less = deciban_exp(-fabs(logits[i])), share = 1.0 / (1.0 + less);
        out[i] = logits[i] < 0 ? less * share : share;
    }
}

/* The largest of the K logits of each of some rows; those of class k stand at logits + k * n. */
static inline void deciban_tops(
    const double *restrict logits, ptrdiff_t n, ptrdiff_t K, ptrdiff_t many, double *restrict out)
{
    memcpy(out, logits, many * sizeof(double));
    for (ptrdiff_t k = 1; k < K; k++)
        for (ptrdiff_t i = 0; i < many; i++)
            out[i] = logits[k * n + i] > out[i] ? logits[k * n + i] : out[i];
}

/* The probabilities of K classes, from the logits of the rows from `begin` to `end` of n; both are
   (classes, rows). */
DECIBAN_WIDE
static void deciban_softmax(
    const double *restrict logits, ptrdiff_t n, ptrdiff_t K, ptrdiff_t begin, ptrdiff_t end,
    double *restrict out)
{
    double top[DECIBAN_BLOCK], total[DECIBAN_BLOCK];
    for (; begin < end; begin += DECIBAN_BLOCK) {
        const ptrdiff_t many = end - begin < DECIBAN_BLOCK ? end - begin : DECIBAN_BLOCK;
        ptrdiff_t i, k;
        deciban_tops(logits + begin, n, K, many, top);
        memset(total, 0, sizeof(total));
        for (k = 0; k < K; k++)
            for (i = 0; i < many; i++) {
                const double each = deciban_exp(logits[k * n + begin + i] - top[i]);
                out[k * n + begin + i] = each;
                total[i] += each;
            }
        for (i = 0; i < many; i++)
            total[i] = 1.0 / total[i];
        for (k = 0; k < K; k++)
            for (i = 0; i < many; i++)
                out[k * n + begin + i] *= total[i];
    }
}

/* The logarithm of the summed exponentials of the K logits of each of n rows, (classes, rows). */
DECIBAN_WIDE
static void deciban_log_totals(
    const double *restrict logits, ptrdiff_t n, ptrdiff_t K, double *restrict out)
{
    double top[DECIBAN_BLOCK], total[DECIBAN_BLOCK];
    for (ptrdiff_t begin = 0; begin < n; begin += DECIBAN_BLOCK) {
        const ptrdiff_t many = n - begin < DECIBAN_BLOCK ? n - begin : DECIBAN_BLOCK;
        ptrdiff_t i, k;
        deciban_tops(logits + begin, n, K, many, top);
        memset(total, 0, sizeof(total));
        for (k = 0; k < K; k++)
            for (i = 0; i < many; i++)
                total[i] += deciban_exp(logits[k * n + begin + i] - top[i]);
        for (i = 0; i < many; i++)
            out[begin + i] = top[i] + log(total[i]);
    }
}

/* First and second derivative, weight, and nothing: one wide register, at any address. */
typedef double deciban_sum __attribute__((vector_size(32), aligned(8)));

/* The sums of every cell of some columns over n rows; column j begins at first[j]. */
DECIBAN_WIDE
static void deciban_gather(
    const uint8_t *X, ptrdiff_t d, const ptrdiff_t *first, const ptrdiff_t *columns, ptrdiff_t many,
    const int32_t *at, ptrdiff_t n, const void *of_rows, void *of_cells)
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
    const ptrdiff_t *common, const int32_t *at, ptrdiff_t n, const void *of_rows, void *of_cells)
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

/* Add sums to others, of some columns. */
DECIBAN_WIDE
static void deciban_add(
    void *to, const void *what, const ptrdiff_t *first, const ptrdiff_t *columns, ptrdiff_t many)
{
    deciban_sum *a = to;
    const deciban_sum *b = what;
    for (ptrdiff_t c = 0; c < many; c++)
        for (ptrdiff_t i = first[columns[c]]; i < first[columns[c] + 1]; i++)
            a[i] += b[i];
}
