/* Products of the factors of pairs of values, under every class, that never underflow. */
#include <stdint.h>
#include <string.h>
#include "wide.h"

/* The power of two of a product is moved away after this many factors, each above 1e-35. */
#define OFTEN 8

/* V cells, d columns, K classes; W is d, or 1 where every value of every column is known. */
typedef struct {
    int64_t d, V, K, W;
    const int64_t *start;
    const double *pairs;   /* (pairs, K) weights */
    const double *share;   /* (V + d, K) P(v | c); the last d lines: a value never seen */
    const double *over;    /* (V, W, K) 1 / (weight of u where column j is known + m) */
    const double *support; /* (V,) weight of u in all classes */
    double m;              /* what the shares are worth where a parent is given */
    double least;          /* a parent has at least this weight */
} deciban_pairs;

/* The weights of a pair of cells; the cells of earlier columns are smaller. */
static inline const double *deciban_line(const deciban_pairs *t, int64_t u, int64_t v)
{
    return t->pairs + (u < v ? t->start[u] + v : t->start[v] + u) * t->K;
}

static inline const double *deciban_over(const deciban_pairs *t, int64_t u, int64_t j)
{
    return t->over + (u * t->W + (t->W > 1 ? j : 0)) * t->K;
}

/* Move the powers of two of some products to where they are added up. */
static inline void deciban_carry(double *restrict of, int64_t *restrict power, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits;
        memcpy(&bits, of + k, 8);
        power[k] += (int64_t)(bits >> 52) - 1023;
        bits = (bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL;
        memcpy(of + k, &bits, 8);
    }
}

/* Value u as parent of v and the other way round: both read the same counts. */
static inline void deciban_both(
    const double *restrict count, const double *restrict u, const double *restrict v,
    const double *restrict over_u, const double *restrict over_v,
    double *restrict of_u, double *restrict of_v, double m, int64_t K)
{
    for (int64_t k = 0; k < K; k++) {
        of_u[k] *= (count[k] + m * v[k]) * over_u[k];
        of_v[k] *= (count[k] + m * u[k]) * over_v[k];
    }
}

/* A parent and a value that was never seen with it. */
static inline void deciban_unseen(
    const double *restrict v, const double *restrict over, double *restrict of, double m, int64_t K)
{
    for (int64_t k = 0; k < K; k++)
        of[k] *= m * v[k] * over[k];
}

/* P(u_i | c) prod_j P(v_j | c, u_i) of every column i as parent: of * 2**power, (d, K). */
static inline __attribute__((always_inline)) void deciban_products_of(
    const deciban_pairs *t, const int64_t *row, double *of, int64_t *power, const int64_t K)
{
    const int64_t d = t->d, V = t->V;
    for (int64_t i = 0; i < d; i++)
        for (int64_t k = 0; k < K; k++) {
            of[i * K + k] = row[i] >= 0 ? t->share[row[i] * K + k] : 1.0;
            power[i * K + k] = 0;
        }
    for (int64_t i = 0; i < d; i++) {
        const int64_t u = row[i];
        if (u < 0)
            continue;
        deciban_carry(of + i * K, power + i * K, K);
        for (int64_t j = i + 1; j < d; j++) {
            const int64_t v = row[j];
            if (v < 0)
                continue;
            const double *su = t->share + u * K, *sv = t->share + v * K;
            if (u < V && v < V)
                deciban_both(deciban_line(t, u, v), su, sv, deciban_over(t, u, j),
                             deciban_over(t, v, i), of + i * K, of + j * K, t->m, K);
            else if (u < V)
                deciban_unseen(sv, deciban_over(t, u, j), of + i * K, t->m, K);
            else if (v < V)
                deciban_unseen(su, deciban_over(t, v, i), of + j * K, t->m, K);
            if ((j - i) % OFTEN == 0)
                deciban_carry(of + i * K, power + i * K, K);
        }
        if (i % OFTEN == 0)
            deciban_carry(of, power, d * K);
    }
    deciban_carry(of, power, d * K);
}

/* The same; loops over few classes are worth unrolling. */
DECIBAN_WIDE
static void deciban_products(
    const deciban_pairs *t, const int64_t *row, double *of, int64_t *power)
{
    switch (t->K) {
    case 2: deciban_products_of(t, row, of, power, 2); break;
    case 3: deciban_products_of(t, row, of, power, 3); break;
    case 4: deciban_products_of(t, row, of, power, 4); break;
    default: deciban_products_of(t, row, of, power, t->K);
    }
}

/* Two to a power; 0 where it is too small to matter. */
static inline double deciban_two(int64_t power)
{
    uint64_t bits = power < -1022 ? 0 : (uint64_t)(power + 1023) << 52;
    double out;
    memcpy(&out, &bits, 8);
    return out;
}
