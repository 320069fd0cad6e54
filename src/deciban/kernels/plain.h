/* Which of 64 bytes belong to words of ASCII: by arithmetic on bytes, which compilers do for many
   at once, instead of a branch a byte. */
#ifndef DECIBAN_PLAIN_H
#define DECIBAN_PLAIN_H

#include <stdint.h>
#include <string.h>

#define DECIBAN_PLAIN_BLOCK 64

/* How many of the lowest bits are zero; 64 of zero itself. */
static inline int deciban_low_zeros(uint64_t x)
{
    if (!x)
        return 64;
#if defined(__GNUC__)
    return __builtin_ctzll(x);
#else
    int n = 0;
    for (; !(x & 1); x >>= 1)
        n++;
    return n;
#endif
}

/* One bit for each of 64 bytes that are 0 or 1, the first byte the lowest. */
static inline uint64_t deciban_pack_bits(const uint8_t *flags)
{
    uint64_t out = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t eight = 0;
        for (int k = 0; k < 8; k++) /* one load, where the lowest byte comes first */
            eight |= (uint64_t)flags[8 * i + k] << 8 * k;
        out |= (eight * 0x0102040810204080u) >> 56 << 8 * i;
    }
    return out;
}

/* The letters, digits and underscores among 64 bytes, and in `foreign` what is not ASCII.
   `folded` are the bytes, capitals as small letters if `lower` is 32; 0 leaves them. */
static inline uint64_t deciban_plain_block(
    const uint8_t *restrict at, uint8_t lower, uint8_t *restrict folded, uint64_t *foreign)
{
    uint8_t words[DECIBAN_PLAIN_BLOCK], high[DECIBAN_PLAIN_BLOCK];
    for (int i = 0; i < DECIBAN_PLAIN_BLOCK; i++) {
        const uint8_t c = at[i];
        const uint8_t capital = (uint8_t)(c - 'A') < 26, letter = (uint8_t)((c | 32) - 'a') < 26;
        const uint8_t digit = (uint8_t)(c - '0') < 10;
        words[i] = letter | digit | (c == '_');
        high[i] = c >> 7;
        folded[i] = c | (uint8_t)(-capital & lower);
    }
    *foreign = deciban_pack_bits(high);
    return deciban_pack_bits(words);
}

#endif
