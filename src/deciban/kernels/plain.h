/* Which of 64 bytes belong to words of ASCII: by arithmetic on bytes, which compilers do for many
   at once, instead of a branch a byte. */
#ifndef DECIBAN_PLAIN_H
#define DECIBAN_PLAIN_H

#include <stdint.h>
#include <string.h>

#include "wide.h"

#define DECIBAN_PLAIN_BLOCK 64
#define DECIBAN_PLAIN_CHUNK 2048 /* bytes, whole blocks, whose words are found before any is used */

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

/* One bit for each of 64 bytes that are 0 or 1, the first byte the lowest: every eighth byte of
   them becomes bits of one, and these 8 x 8 bits are turned by halves of halves. */
static inline uint64_t deciban_pack_bits(const uint8_t *flags)
{
    uint64_t eight[8], x = 0, t;
    memcpy(eight, flags, sizeof(eight));
    for (int i = 0; i < 8; i++)
        x |= eight[i] << i;
    t = (x ^ x >> 7) & 0x00aa00aa00aa00aau;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000cccc0000ccccu;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000f0f0f0f0u;
    return x ^ t ^ t << 28;
}

/* How many of `n` bytes make whole blocks of ASCII, up to the first that does not. */
static inline ptrdiff_t deciban_ascii_blocks(const uint8_t *at, ptrdiff_t n)
{
    ptrdiff_t i = 0;
    for (; i + DECIBAN_PLAIN_BLOCK <= n; i += DECIBAN_PLAIN_BLOCK) {
        uint64_t eight[DECIBAN_PLAIN_BLOCK / 8], all = 0;
        memcpy(eight, at + i, sizeof(eight));
        for (int k = 0; k < DECIBAN_PLAIN_BLOCK / 8; k++)
            all |= eight[k];
        if (all & 0x8080808080808080u)
            break;
    }
    return i;
}

/* The letters, digits and underscores among 64 bytes, and in `foreign` what is not ASCII.
   `folded` are those bytes, capitals as small letters if `lower` is 32; 0 leaves them. */
static inline uint64_t deciban_plain_block(
    const uint8_t *restrict at, uint8_t lower, uint8_t *restrict folded, uint64_t *foreign)
{
    uint8_t words[DECIBAN_PLAIN_BLOCK], high[DECIBAN_PLAIN_BLOCK];
    uint8_t all = 0;
    for (int i = 0; i < DECIBAN_PLAIN_BLOCK; i++) {
        const uint8_t c = at[i];
        const uint8_t small = c | 32, letter = (uint8_t)(small - 'a') < 26;
        const uint8_t digit = (uint8_t)(c - '0') < 10, line = c == '_';
        words[i] = letter | digit | line;
        all |= c;
        folded[i] = (c | lower) ^ (uint8_t)(-line & lower); /* of digits, that bit is set */
    }
    *foreign = 0;
    if (all >> 7) { /* in few blocks */
        for (int i = 0; i < DECIBAN_PLAIN_BLOCK; i++)
            high[i] = at[i] >> 7;
        *foreign = deciban_pack_bits(high);
    }
    return deciban_pack_bits(words);
}

/* Where words of ASCII begin and end, one after the other, among the first bytes of `n` that lie
   outside of any word before. Returned is how many bytes were looked at: from there on may be
   another word, or more of the last one, which is left out. */
DECIBAN_WIDEST static ptrdiff_t deciban_plain_words(
    const uint8_t *at, ptrdiff_t n, uint8_t lower, uint8_t *folded, uint16_t *edges,
    ptrdiff_t *n_edges)
{
    uint8_t tail[DECIBAN_PLAIN_BLOCK];
    uint64_t foreign = 0, before = 0;
    uint16_t *edge = edges;
    ptrdiff_t done = 0, limit = n < DECIBAN_PLAIN_CHUNK ? n : DECIBAN_PLAIN_CHUNK;
    for (; done < limit && !foreign; done += DECIBAN_PLAIN_BLOCK) {
        const uint8_t *block = at + done;
        if (n - done < DECIBAN_PLAIN_BLOCK) { /* what is beyond the end separates */
            memset(tail, 0, sizeof(tail));
            memcpy(tail, block, n - done);
            block = tail;
        }
        uint64_t words = deciban_plain_block(block, lower, folded + done, &foreign);
        if (foreign) {
            limit = done + deciban_low_zeros(foreign);
            words &= (foreign & -foreign) - 1;
        }
        uint64_t turns = words ^ (words << 1 | before);
        before = words >> 63;
        for (; turns; turns &= turns - 1)
            *edge++ = (uint16_t)(done + deciban_low_zeros(turns));
    }
    if (before)
        *edge++ = (uint16_t)limit;
    if (limit < n && edge > edges && edge[-1] == limit) {
        edge -= 2;
        limit = *edge;
    }
    *n_edges = edge - edges;
    return limit;
}

#endif
