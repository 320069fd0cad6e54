/* Dual coordinate ascent for the softmax: one pass over rows in single precision.

   Logits are padded to a multiple of eight, one wide register; those beyond the classes are so
   low that their probability is zero. A cell holds the coefficients of a column and then their
   variances, side by side: what the logits of a row have fetched, its update finds in the cache.
   Products and sums are in one order whatever the machine, so that all give the same bits. */

#ifndef DECIBAN_ASCENT_H
#define DECIBAN_ASCENT_H

#include <math.h>
#include "wide.h"

/* Eight numbers, at any address, and their bits. */
typedef float deciban_eight __attribute__((vector_size(32), aligned(4)));
typedef int32_t deciban_eight_bits __attribute__((vector_size(32), aligned(4)));

#define DECIBAN_ASCENT_AHEAD 24    /* stored values whose cells are fetched in advance */
#define DECIBAN_MAX_NEWTON_STEPS 40  /* of one row; two or three are the rule */

static inline __attribute__((always_inline)) deciban_eight deciban_select(
    deciban_eight_bits mask, deciban_eight yes, deciban_eight no)
{
    return (deciban_eight)(((deciban_eight_bits)yes & mask) | ((deciban_eight_bits)no & ~mask));
}

static inline __attribute__((always_inline)) deciban_eight deciban_larger(deciban_eight a, deciban_eight b)
{
    return deciban_select(a > b, a, b);
}

static inline __attribute__((always_inline)) float deciban_largest(deciban_eight a)
{
    float top = a[0];
    for (int k = 1; k < 8; k++)
        top = a[k] > top ? a[k] : top;
    return top;
}

static inline __attribute__((always_inline)) float deciban_total(deciban_eight a)
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

/* How much of a Newton step of so many nats is sure to lower the log loss and to reach its optimum
   (Sun and Tran-Dinh, 2019): the second derivatives of the softmax grow no faster than exp. */
static inline __attribute__((always_inline)) float deciban_damping(float nats)
{
    return nats > 1e-3f ? logf(1.0f + nats) / nats : 1.0f;
}

/* The exponentials of numbers <= 0, to about 2 units in the last place; of less than -50, zero:
   products with numbers near the smallest that there are would take a hundred times as long.

   x = n ln 2 + r, and the power series of exp(r), |r| <= ln 2 / 2. */
static inline __attribute__((always_inline)) deciban_eight deciban_exp_eight(deciban_eight x)
{
    const deciban_eight zero = {0}, least = zero - 50.0f;
    const deciban_eight_bits some = x > least;
    x = deciban_select(some, x, least);
    const deciban_eight moved = x * 0x1.715476p0f + 0x1.8p23f, n = moved - 0x1.8p23f;
    const deciban_eight r = (x - n * 0x1.63p-1f) - n * -0x1.bd0106p-13f;
    deciban_eight of = r * (1.0f / 720) + 1.0f / 120;
    of = of * r + 1.0f / 24;
    of = of * r + 1.0f / 6;
    of = of * r + 0.5f;
    of = of * r + 1.0f;
    of = of * r + 1.0f;
    const deciban_eight_bits power = ((deciban_eight_bits)moved + 127) << 23;
    return deciban_select(some, of * (deciban_eight)power, zero);
}

/* The rows of a regression; B registers of logits each. */
typedef struct {
    const float *data;       /* stored values; their columns; where each row starts */
    const int32_t *columns;
    const int64_t *starts;
    const int64_t *y;
    const float *weight;
    const float *offset;     /* (rows, 8 B) */
    const float *spread;     /* (rows, 8 B): how far a unit of a row's dual moves its logits */
    float *cells;            /* (columns, 2, 8 B): coefficients, variances */
    float *duals;            /* (rows, 8 B) */
} deciban_ascent;

/* Rows come in no order: those that come next are fetched in advance. First where a row starts and
   what it has of its own, W numbers each; then its stored values; then the first of its cells. */
static inline __attribute__((always_inline)) void deciban_fetch_rows(
    const deciban_ascent *of, const int64_t *order, ptrdiff_t at, ptrdiff_t n, const ptrdiff_t W)
{
    if (at + 3 < n) {
        const int64_t i = order[at + 3];
        DECIBAN_PREFETCH(of->starts + i);
        DECIBAN_PREFETCH(of->y + i);
        DECIBAN_PREFETCH(of->weight + i);
        DECIBAN_PREFETCH(of->offset + W * i);
        DECIBAN_PREFETCH(of->spread + W * i);
        DECIBAN_PREFETCH(of->duals + W * i);
    }
    if (at + 2 < n) {
        const int64_t i = order[at + 2], end = of->starts[i + 1];
        for (int64_t p = of->starts[i]; p < end; p += 16) {
            DECIBAN_PREFETCH(of->columns + p);
            DECIBAN_PREFETCH(of->data + p);
        }
    }
    if (at + 1 < n) {
        const int64_t i = order[at + 1], start = of->starts[i];
        int64_t end = of->starts[i + 1];
        end = end - start > DECIBAN_ASCENT_AHEAD ? start + DECIBAN_ASCENT_AHEAD : end;
        for (int64_t p = start; p < end; p++)
            for (ptrdiff_t k = 0; k < 2 * W; k += 16)
                DECIBAN_PREFETCH(of->cells + 2 * W * (ptrdiff_t)of->columns[p] + k);
    }
}

/* out[k] = offset + x . coefficients */
static inline __attribute__((always_inline)) void deciban_row_logits(
    const deciban_ascent *of, int64_t i, const float *intercept, deciban_eight *out,
    const ptrdiff_t B)
{
    const int64_t end = of->starts[i + 1];
    for (ptrdiff_t b = 0; b < B; b++)
        out[b] = *(const deciban_eight *)(of->offset + 8 * (B * i + b))
                 + *(const deciban_eight *)(intercept + 8 * b);
    for (int64_t p = of->starts[i]; p < end; p++) {
        const float *cell = of->cells + 16 * B * (ptrdiff_t)of->columns[p];
        if (p + DECIBAN_ASCENT_AHEAD < end) {
            const float *next =
                of->cells + 16 * B * (ptrdiff_t)of->columns[p + DECIBAN_ASCENT_AHEAD];
            for (ptrdiff_t b = 0; b < B; b++)
                DECIBAN_PREFETCH(next + 16 * b);
        }
        for (ptrdiff_t b = 0; b < B; b++)
            out[b] += of->data[p] * *(const deciban_eight *)(cell + 8 * b);
    }
}

/* The dual of one row that is the best given all others, by Newton's method over its logits s:

       s = z + D (w (Y - softmax(s)) - a),

   whose matrix is diagonal but for a product of two vectors. `proba` becomes what the last
   step makes of the probabilities, so that w (Y - proba) is the new dual. A step of fewer nats
   than `accuracy` is the last: it leaves an error of about its square. */
static inline __attribute__((always_inline)) void deciban_row_optimum(
    const deciban_eight *z, const float *a, const float *D, float w, int64_t y, deciban_eight *s,
    deciban_eight *proba, deciban_eight *step, float accuracy, const ptrdiff_t B)
{
    for (ptrdiff_t b = 0; b < B; b++)
        s[b] = z[b];
    for (int n = 0; n < DECIBAN_MAX_NEWTON_STEPS; n++) {
        deciban_eight top = s[0], mass = {0}, upper = {0}, lower = {0}, mean = {0};
        deciban_eight low = {0}, high = {0};
        for (ptrdiff_t b = 1; b < B; b++)
            top = deciban_larger(top, s[b]);
        const float highest = deciban_largest(top);
        for (ptrdiff_t b = 0; b < B; b++) {
            proba[b] = deciban_exp_eight(s[b] - highest);
            mass += proba[b];
        }
        const float share = 1.0f / deciban_total(mass);
        for (ptrdiff_t b = 0; b < B; b++) {
            const deciban_eight spread = *(const deciban_eight *)(D + 8 * b);
            deciban_eight target = *(const deciban_eight *)(a + 8 * b) / w;
            proba[b] *= share;
            if (y / 8 == b)
                target[y % 8] -= 1.0f;
            const deciban_eight f = s[b] - z[b] + w * spread * (target + proba[b]);
            const deciban_eight h = 1.0f / (1.0f + w * spread * proba[b]);
            step[b] = f * h;
            upper += proba[b] * step[b];
            lower += proba[b] * h;
        }
        const float pull = deciban_total(upper) / deciban_total(lower);
        for (ptrdiff_t b = 0; b < B; b++) {
            const deciban_eight slope = w * *(const deciban_eight *)(D + 8 * b) * proba[b];
            step[b] += slope / (1.0f + slope) * pull;
            low = deciban_larger(low, -step[b]);
            high = deciban_larger(high, step[b]);
        }
        const float nats = deciban_largest(low) + deciban_largest(high);
        const float damping = deciban_damping(nats);
        for (ptrdiff_t b = 0; b < B; b++) {
            step[b] *= -damping;
            s[b] += step[b];
            mean += proba[b] * step[b];
        }
        const float middle = deciban_total(mean);
        for (ptrdiff_t b = 0; b < B; b++)
            proba[b] += proba[b] * (step[b] - middle);
        if (nats < accuracy)
            break;
    }
}

/* One pass over rows in that order. Rows whose dual changes by less than `least` in all stay as
   they are. `sums` gets the change of all duals and their size; `curvature`, (8 B), how fast the
   sum of the duals falls as the intercepts rise. */
static inline __attribute__((always_inline)) void deciban_pass(
    const deciban_ascent *of, const int64_t *order, ptrdiff_t n, const float *intercept,
    float accuracy, float least, float *work, double *curvature, double *sums, const ptrdiff_t B)
{
    deciban_eight *z = (deciban_eight *)work, *s = z + B, *proba = s + B, *step = proba + B;
    for (ptrdiff_t at = 0; at < n; at++) {
        const int64_t i = order[at], end = of->starts[i + 1];
        const float w = of->weight[i];
        float *a = of->duals + 8 * B * i;
        const float *D = of->spread + 8 * B * i;
        deciban_eight size = {0}, change = {0};
        if (!(w > 0.0f))
            continue;
        deciban_fetch_rows(of, order, at, n, 8 * B);
        deciban_row_logits(of, i, intercept, z, B);
        deciban_row_optimum(z, a, D, w, of->y[i], s, proba, step, accuracy, B);
        for (ptrdiff_t b = 0; b < B; b++) {
            for (int k = 0; k < 8; k++) {
                const float p = proba[b][k], slope = w * p * (1.0f - p);
                curvature[8 * b + k] += slope / (1.0f + D[8 * b + k] * slope);
            }
            deciban_eight new = -proba[b];
            if (of->y[i] / 8 == b)
                new[of->y[i] % 8] += 1.0f;
            new *= w;
            step[b] = new - *(deciban_eight *)(a + 8 * b);
            size += deciban_larger(new, -new);
            change += deciban_larger(step[b], -step[b]);
        }
        const float moved = deciban_total(change);
        sums[0] += moved;
        sums[1] += deciban_total(size);
        if (moved < least)
            continue;
        for (ptrdiff_t b = 0; b < B; b++)
            *(deciban_eight *)(a + 8 * b) += step[b];
        for (int64_t p = of->starts[i]; p < end; p++) {
            float *cell = of->cells + 16 * B * (ptrdiff_t)of->columns[p];
            for (ptrdiff_t b = 0; b < B; b++)
                *(deciban_eight *)(cell + 8 * b) +=
                    of->data[p] * step[b] * *(const deciban_eight *)(cell + 8 * (B + b));
        }
    }
}

DECIBAN_WIDE
static void deciban_ascend(
    const deciban_ascent *of, const int64_t *order, ptrdiff_t n, const float *intercept,
    float accuracy, float least, float *work, double *curvature, double *sums, ptrdiff_t B)
{
    if (B == 1)
        deciban_pass(of, order, n, intercept, accuracy, least, work, curvature, sums, 1);
    else if (B == 2)
        deciban_pass(of, order, n, intercept, accuracy, least, work, curvature, sums, 2);
    else if (B == 3)
        deciban_pass(of, order, n, intercept, accuracy, least, work, curvature, sums, 3);
    else
        deciban_pass(of, order, n, intercept, accuracy, least, work, curvature, sums, B);
}

/* One logit, of cells of one coefficient and its variance: four sums, of which that of the
   place of a stored value, modulo four, is added to. */
static inline __attribute__((always_inline)) float deciban_row_logit(
    const deciban_ascent *of, int64_t start, int64_t end, float offset)
{
    float part[4] = {offset}, sum0, sum1, sum2, sum3;
    int64_t p = start;
#define DECIBAN_ADD_VALUE(sum, p) sum += of->data[p] * of->cells[2 * (ptrdiff_t)of->columns[p]]
    for (; p < end && (p & 3); p++)
        DECIBAN_ADD_VALUE(part[p & 3], p);
    sum0 = part[0], sum1 = part[1], sum2 = part[2], sum3 = part[3];
    for (; p + 4 <= end; p += 4) {
        for (int64_t ahead = p + DECIBAN_ASCENT_AHEAD; ahead < p + DECIBAN_ASCENT_AHEAD + 4; ahead++)
            if (ahead < end)
                DECIBAN_PREFETCH(of->cells + 2 * (ptrdiff_t)of->columns[ahead]);
        DECIBAN_ADD_VALUE(sum0, p);
        DECIBAN_ADD_VALUE(sum1, p + 1);
        DECIBAN_ADD_VALUE(sum2, p + 2);
        DECIBAN_ADD_VALUE(sum3, p + 3);
    }
    part[0] = sum0, part[1] = sum1, part[2] = sum2, part[3] = sum3;
    for (; p < end; p++)
        DECIBAN_ADD_VALUE(part[p & 3], p);
#undef DECIBAN_ADD_VALUE
    return (part[0] + part[2]) + (part[1] + part[3]);
}

/* Of two classes: one logit, cells of one coefficient and its variance. */
DECIBAN_WIDE
static void deciban_ascend_one(
    const deciban_ascent *of, const int64_t *order, ptrdiff_t n, const float *intercept,
    float accuracy, float least, double *curvature, double *sums)
{
    for (ptrdiff_t at = 0; at < n; at++) {
        const int64_t i = order[at], start = of->starts[i], end = of->starts[i + 1];
        const float w = of->weight[i], y = (float)of->y[i], D = of->spread[i];
        float proba = 0.0f, slope = 0.0f;
        if (!(w > 0.0f))
            continue;
        deciban_fetch_rows(of, order, at, n, 1);
        const float z = deciban_row_logit(of, start, end, of->offset[i] + intercept[0]);
        const float a = of->duals[i];
        float s = z;
        for (int steps = 0; steps < DECIBAN_MAX_NEWTON_STEPS; steps++) {
            const deciban_eight x = {s > 0.0f ? -s : s};
            const float small = deciban_exp_eight(x)[0];
            proba = (s > 0.0f ? 1.0f : small) / (1.0f + small);
            slope = w * small / ((1.0f + small) * (1.0f + small));
            float step = -(s - z + D * (a - w * (y - proba))) / (1.0f + D * slope);
            const float nats = fabsf(step);
            step *= deciban_damping(nats);
            s += step;
            proba += slope / w * step;
            if (nats < accuracy)
                break;
        }
        const float new = w * (y - proba), change = new - a;
        sums[0] += fabsf(change);
        sums[1] += fabsf(new);
        curvature[0] += slope / (1.0f + D * slope);
        if (fabsf(change) < least)
            continue;
        of->duals[i] = a + change;
        for (int64_t p = start; p < end; p++) {
            float *cell = of->cells + 2 * (ptrdiff_t)of->columns[p];
            cell[0] += of->data[p] * change * cell[1];
        }
    }
}

#endif
