/* Factors of one pair of values under every class, and products that never underflow. */
#include <stdint.h>
#include <string.h>

/* Value u as parent of v and the other way round: both read the same counts. */
static inline void deciban_both(
    const double *restrict count, const double *restrict u, const double *restrict v,
    const double *restrict over_u, const double *restrict over_v,
    double *restrict of_u, double *restrict of_v, double m, long K)
{
    for (long k = 0; k < K; k++) {
        of_u[k] *= (count[k] + m * v[k]) * over_u[k];
        of_v[k] *= (count[k] + m * u[k]) * over_v[k];
    }
}

/* A parent and a value that was never seen with it. */
static inline void deciban_unseen(
    const double *restrict v, const double *restrict over, double *restrict of, double m, long K)
{
    for (long k = 0; k < K; k++)
        of[k] *= m * v[k] * over[k];
}

/* Move the powers of two of some products to where they are added up. */
static inline void deciban_carry(double *restrict of, int64_t *restrict power, long K)
{
    for (long k = 0; k < K; k++) {
        uint64_t bits;
        memcpy(&bits, of + k, 8);
        power[k] += (int64_t)(bits >> 52) - 1023;
        bits = (bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL;
        memcpy(of + k, &bits, 8);
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
