/* Trees on binned columns: rows fall to leaves. */
#ifndef DECIBAN_TREES_H
#define DECIBAN_TREES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "wide.h"

/* Whether a cell is in a set of 256 bits. */
static inline int deciban_goes_left(const uint64_t *left, ptrdiff_t cell)
{
    return (left[cell >> 6] >> (cell & 63)) & 1;
}

/* The most inner nodes of a tree, and how many rows fall through it side by side. */
enum { DECIBAN_INNER = 255, DECIBAN_ABREAST = 8 };

/* The cell of what training had none of: it goes neither left nor right. */
enum { DECIBAN_UNKNOWN = 255 };

/* The node to which a row goes from a node that it has reached; this one itself where it stays. */
static inline ptrdiff_t deciban_child(
    const uint8_t *row, ptrdiff_t at, ptrdiff_t inner, const int32_t *column, const uint64_t *left)
{
    if (at >= inner || column[at] < 0 || row[column[at]] == DECIBAN_UNKNOWN)
        return at;
    return 2 * at + 2 - deciban_goes_left(left + 4 * at, row[column[at]]);
}

/* Add the node of every row that it stays at, one row after another: of few rows, which take no
   preparing, and of those with unknown cells. */
static inline void deciban_fall_alone(
    const uint8_t *X, ptrdiff_t n, ptrdiff_t d, ptrdiff_t inner, const int32_t *column,
    const uint64_t *left, const double *value, double *logits, ptrdiff_t stride)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t at = -1, next = 0;
        while (next != at) {
            at = next;
            next = deciban_child(X + i * d, at, inner, column, left);
        }
        logits[i * stride] += value[at];
    }
}

/* Add the leaf of every row, n of d cells, to logits that stand `stride` apart; where rows are not
   few, none has an unknown cell.

   Rows fall to the bottom without asking whether there is a split, so that the processor need not
   guess: a node without one sends all to the left, where its value has been passed down. */
DECIBAN_WIDE
static void deciban_fall(
    const uint8_t *X, ptrdiff_t n, ptrdiff_t d, ptrdiff_t inner, const int32_t *column,
    const uint64_t *left, const double *value, double *logits, ptrdiff_t stride)
{
    int32_t of[DECIBAN_INNER];
    uint64_t sets[4 * DECIBAN_INNER];
    double passed[2 * DECIBAN_INNER + 1];
    ptrdiff_t i, r, levels = 0;
    if (n < DECIBAN_ABREAST) {
        deciban_fall_alone(X, n, d, inner, column, left, value, logits, stride);
        return;
    }
    while (inner > 0 && column[inner - 1] < 0)      /* levels without a split are left out */
        inner--;
    while ((((ptrdiff_t)1 << levels) - 1) < inner)
        levels++;
    inner = ((ptrdiff_t)1 << levels) - 1;
    passed[0] = value[0];
    memset(sets, 0xff, inner * 4 * sizeof(uint64_t));
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
        const uint8_t *row[DECIBAN_ABREAST];
        ptrdiff_t node[DECIBAN_ABREAST] = {0};
        for (r = 0; r < DECIBAN_ABREAST; r++)       /* beyond the last row, the last one again */
            row[r] = X + (i + (r < many ? r : many - 1)) * d;
        for (ptrdiff_t level = 0; level < levels; level++)
            for (r = 0; r < DECIBAN_ABREAST; r++) {
                const ptrdiff_t at = node[r];
                const uint8_t x = row[r][of[at]];
                node[r] = 2 * at + 2 - (ptrdiff_t)((sets[4 * at + (x >> 6)] >> (x & 63)) & 1);
            }
        for (r = 0; r < many; r++)
            logits[(i + r) * stride] += passed[node[r]];
    }
}

#endif
