/* The best cut of cells in an order: those before it go left, the others right. */
#ifndef DECIBAN_CUTS_H
#define DECIBAN_CUTS_H

#include <stddef.h>
#include "wide.h"

enum { DECIBAN_CELLS = 256 };   /* the most cells of a column */

/* Better by less than this is as good: cells without rows hold what rounding left, and a cut behind
   one of them is no other cut. */
#define DECIBAN_EQUAL (1 + 1e-12)

/* First and second derivative and weight of some rows; four numbers, one wide register. */
typedef struct { double gradient, hessian, weight, unused; } deciban_part;

/* How good each cut is, for cuts at which the parts on the left are given.

   ``G_l^2 / (H_l + penalty) + G_r^2 / (H_r + penalty)``, over one denominator. */
DECIBAN_WIDE
static void deciban_cut_gains(
    const double *restrict gradient, const double *restrict hessian, ptrdiff_t n,
    double all_gradient, double all_hessian, double penalty, double *restrict out)
{
    for (ptrdiff_t c = 0; c < n; c++) {
        const double right = all_gradient - gradient[c];
        const double over = hessian[c] + penalty;
        const double under = all_hessian - hessian[c] + penalty;
        out[c] = (gradient[c] * gradient[c] * under + right * right * over) / (over * under);
    }
}

/* The cut after which of n cells is best, the first of equals, and how good it is; -1 if none
   leaves enough weight on both sides or is better than `least`.

   `begin` is what goes left before the first cell, `order` the places of the cells (NULL: their
   own), and `part` becomes what goes left. */
static ptrdiff_t deciban_best_cut(
    const void *of_cells, const ptrdiff_t *order, ptrdiff_t n, const void *begin,
    const void *of_all, double penalty, double min_weight, double least, void *part, double *gain)
{
    const deciban_part *cells = of_cells, *total = of_all;
    double gradient[DECIBAN_CELLS], hessian[DECIBAN_CELLS], weight[DECIBAN_CELLS];
    double gains[DECIBAN_CELLS];
    deciban_part left = *(const deciban_part *)begin;
    ptrdiff_t c, first = -1, best = -1;
    for (c = 0; c < n; c++) {
        const deciban_part *cell = cells + (order ? order[c] : c);
        left.gradient += cell->gradient;
        left.hessian += cell->hessian;
        left.weight += cell->weight;
        if (total->weight - left.weight < min_weight)
            break;
        gradient[c] = left.gradient;
        hessian[c] = left.hessian;
        weight[c] = left.weight;
        if (first < 0 && left.weight >= min_weight)
            first = c;
    }
    if (first < 0)      /* also where there is no cell, or none but holes */
        return -1;
    deciban_cut_gains(gradient + first, hessian + first, c - first, total->gradient,
                      total->hessian, penalty, gains + first);
    for (ptrdiff_t at = first; at < c; at++)
        if (gains[at] > least) {
            least = gains[at] * DECIBAN_EQUAL;
            best = at;
        }
    if (best >= 0) {
        *gain = gains[best];
        *(deciban_part *)part = (deciban_part){gradient[best], hessian[best], weight[best], 0};
    }
    return best;
}

#endif
