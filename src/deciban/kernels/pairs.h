/* Products of the factors of pairs of values, under every class, that never underflow. */
#include <stdint.h>
#include <string.h>
#include "wide.h"

/* The power of two of a product is moved away after this many factors, each above 1e-35. */
#define DECIBAN_FACTORS_PER_CARRY 8

/* V cells, d columns, K classes; W is d, or 1 where every value of every column is known. */
typedef struct {
    int64_t d, V, K, W;
    const int64_t *start;
    const double *pairs;   /* (pairs, K) weights */
    const double *share;   /* (V + d or more, K) P(v | c); lines from V on: values never seen */
    const double *known;   /* (V, W, K) weight of u where column j is known */
    const double *support; /* (V,) weight of u in all classes */
    double least;          /* a parent has at least this weight */
} deciban_pairs;

/* What concerns the n values that one row has: gathered once, read for every m. */
typedef struct {
    int64_t n, parents;
    int64_t *column; /* (n,) */
    int64_t *unseen; /* (n,) whether it is a value never seen */
    double *parent;  /* (n,) 1 for a parent, else 0 */
    double *count;   /* (pairs of values, K) */
    double *share;   /* (n, K) */
    double *known;   /* (n, n or 1, K) */
    double *over;    /* as known: 1 / (known + m) */
    double *of;      /* (n, K) products, without ... */
    int64_t *power;  /* ... their powers of two */
} deciban_row;

/* The pair of values i and j > i of n. */
static inline int64_t deciban_pair(int64_t n, int64_t i, int64_t j)
{
    return i * n - i * (i + 1) / 2 + j - i - 1;
}

/* What is known of value i in rows that have a value where j has one. */
static inline int64_t deciban_beside(const deciban_pairs *t, int64_t n, int64_t i, int64_t j)
{
    return (t->W > 1 ? i * n + j : i) * t->K;
}

/* Gather what concerns a row of which a weight w is left out. */
static void deciban_take(const deciban_pairs *t, const int64_t *row, double w, deciban_row *r)
{
    const int64_t K = t->K, V = t->V, line = K * sizeof(double);
    int64_t n = 0;
    for (int64_t j = 0; j < t->d; j++)
        if (row[j] >= 0)
            r->column[n++] = j;
    r->n = n;
    r->parents = 0;
    double *count = r->count;
    for (int64_t i = 0; i < n; i++) {
        const int64_t u = row[r->column[i]], rows = t->W > 1 ? n : 1;
        const double left = u < V ? t->support[u] - w : 0.0;
        const int parent = left > 1e-9 * w && left >= t->least;
        r->unseen[i] = u >= V;
        r->parent[i] = parent;
        r->parents += parent;
        memcpy(r->share + i * K, t->share + u * K, line);
        for (int64_t j = 0; j < rows; j++) {
            double *known = r->known + (i * rows + j) * K;
            if (u < V)
                memcpy(known, t->known + (u * t->W + (rows > 1 ? r->column[j] : 0)) * K, line);
            else
                memset(known, 0, line);
        }
        for (int64_t j = i + 1; j < n; j++, count += K) {
            const int64_t v = row[r->column[j]];
            if (u < V && v < V)
                memcpy(count, t->pairs + (t->start[u] + v) * K, line);
            else
                memset(count, 0, line);
        }
    }
}

static inline void deciban_subtract(double *of, int64_t n, int64_t K, double w)
{
    for (int64_t i = 0; i < n; i++)
        of[i * K] = of[i * K] > w ? of[i * K] - w : 0.0;
}

/* Take the weight w away from class k, whose shares, one a column, are then these. */
static void deciban_leave_one_out(
    const deciban_pairs *t, deciban_row *r, int64_t k, double w, const double *share)
{
    const int64_t n = r->n, K = t->K;
    deciban_subtract(r->count + k, n * (n - 1) / 2, K, w);
    deciban_subtract(r->known + k, t->W > 1 ? n * n : n, K, w);
    for (int64_t i = 0; i < n; i++)
        r->share[i * K + k] = share[r->column[i]];
}

/* A value never seen is as likely beside any parent, (count + m share) / (known + m) = share. */
static void deciban_count_unseen(const deciban_pairs *t, deciban_row *r)
{
    const int64_t n = r->n, K = t->K;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; r->unseen[i] && j < n; j++) {
            if (r->unseen[j])
                continue;
            double *count = r->count + (i < j ? deciban_pair(n, i, j) : deciban_pair(n, j, i)) * K;
            const double *known = r->known + deciban_beside(t, n, j, i), *share = r->share + i * K;
            for (int64_t k = 0; k < K; k++)
                count[k] = known[k] * share[k];
        }
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

/* P(u_i | c) prod_j P(v_j | c, u_i) of every value i as parent: of * 2**power, (n, K). */
static inline __attribute__((always_inline)) void deciban_products_of(
    const deciban_pairs *t, deciban_row *r, double m, const int64_t K)
{
    const int64_t n = r->n, lines = t->W > 1 ? n * n : n;
    double *of = r->of;
    const double *count = r->count;
    for (int64_t i = 0; i < lines * K; i++)
        r->over[i] = 1.0 / (r->known[i] + m);
    memcpy(of, r->share, n * K * sizeof(double));
    memset(r->power, 0, n * K * sizeof(int64_t));
    for (int64_t i = 0; i < n; i++) {
        deciban_carry(of + i * K, r->power + i * K, K);
        for (int64_t j = i + 1; j < n; j++, count += K) {
            deciban_both(count, r->share + i * K, r->share + j * K,
                         r->over + deciban_beside(t, n, i, j), r->over + deciban_beside(t, n, j, i),
                         of + i * K, of + j * K, m, K);
            if ((j - i) % DECIBAN_FACTORS_PER_CARRY == 0)
                deciban_carry(of + i * K, r->power + i * K, K);
        }
        if (i % DECIBAN_FACTORS_PER_CARRY == 0)
            deciban_carry(of, r->power, n * K);
    }
    deciban_carry(of, r->power, n * K);
}

/* The products of all parents; loops over few classes are worth unrolling. */
DECIBAN_WIDE
static void deciban_products(const deciban_pairs *t, deciban_row *r, double m)
{
    switch (t->K) {
    case 2: deciban_products_of(t, r, m, 2); break;
    case 3: deciban_products_of(t, r, m, 3); break;
    case 4: deciban_products_of(t, r, m, 4); break;
    default: deciban_products_of(t, r, m, t->K);
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
