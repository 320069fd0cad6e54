/* The loss of rows under every discount of a grid. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "exponential.h"
#include "wide.h"

/* log sum_k exp(prior_k + beta log_likelihood_k) is top + log total, for each of n discounts beta. */
DECIBAN_WIDE
static void deciban_totals(
    const double *restrict beta, int64_t n, const double *restrict prior,
    const double *restrict log_likelihood, int64_t K, double *restrict top, double *restrict total)
{
    for (int64_t b = 0; b < n; b++) {
        top[b] = -INFINITY;
        total[b] = 0.0;
    }
    for (int64_t k = 0; k < K; k++)
        for (int64_t b = 0; b < n; b++) {
            const double joint = prior[k] + beta[b] * log_likelihood[k];
            top[b] = joint > top[b] ? joint : top[b];
        }
    for (int64_t k = 0; k < K; k++)
        for (int64_t b = 0; b < n; b++)
            total[b] += deciban_exp(prior[k] + beta[b] * log_likelihood[k] - top[b]);
}

/* exp(prior_k + beta log_likelihood_k), but for a factor that all have; their sum is returned. */
DECIBAN_WIDE
static double deciban_shares(
    const double beta, const double *restrict prior, const double *restrict log_likelihood,
    int64_t K, double *restrict share)
{
    double top = -INFINITY, total = 0.0;
    for (int64_t k = 0; k < K; k++) {
        const double joint = prior[k] + beta * log_likelihood[k];
        top = joint > top ? joint : top;
    }
    for (int64_t k = 0; k < K; k++)
        share[k] = deciban_exp(prior[k] + beta * log_likelihood[k] - top);
    for (int64_t k = 0; k < K; k++)
        total += share[k];
    return total;
}
