/* Bob Jenkins's lookup3 as PostgreSQL has it, for many values at once.

   The last step of the hash, most of its cost for short values, has no branch and no table: it is
   done for a block of values side by side, in wide registers. */
#ifndef DECIBAN_KEYS_H
#define DECIBAN_KEYS_H

#include <string.h>
#include "wide.h"

/* Values that are hashed together: their states stay in the nearest cache. */
#define DECIBAN_KEY_BLOCK 256
/* So many bytes are taken in at once. */
#define DECIBAN_KEY_STEP 12

typedef struct { uint32_t a, b, c; } deciban_key_state;

/* The states of a block of values, and their hashes. */
typedef struct {
    uint32_t a[DECIBAN_KEY_BLOCK], b[DECIBAN_KEY_BLOCK], c[DECIBAN_KEY_BLOCK];
    uint64_t hash[DECIBAN_KEY_BLOCK];
} deciban_key_block;

static inline uint32_t deciban_rotate(uint32_t x, int k)
{
    return (x << k) | (x >> (32 - k));
}

static inline deciban_key_state deciban_key_stir(deciban_key_state s)
{
    s.a -= s.c; s.a ^= deciban_rotate(s.c, 4); s.c += s.b;
    s.b -= s.a; s.b ^= deciban_rotate(s.a, 6); s.a += s.c;
    s.c -= s.b; s.c ^= deciban_rotate(s.b, 8); s.b += s.a;
    s.a -= s.c; s.a ^= deciban_rotate(s.c, 16); s.c += s.b;
    s.b -= s.a; s.b ^= deciban_rotate(s.a, 19); s.a += s.c;
    s.c -= s.b; s.c ^= deciban_rotate(s.b, 4); s.b += s.a;
    return s;
}

/* The state from which a value of so many bytes is hashed. */
static inline deciban_key_state deciban_key_start(int64_t length, uint64_t seed)
{
    deciban_key_state s;
    s.a = s.b = s.c = (uint32_t)length + 0x9E3779B9u + 3923095u;
    if (!seed)
        return s;
    s.a += (uint32_t)(seed >> 32);
    s.b += (uint32_t)seed;
    return deciban_key_stir(s);
}

/* The hashes of the first n values of a block from their states. */
DECIBAN_WIDE
static void deciban_key_finish(deciban_key_block *block, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t a = block->a[i], b = block->b[i], c = block->c[i];
        c ^= b; c -= deciban_rotate(b, 14);
        a ^= c; a -= deciban_rotate(c, 11);
        b ^= a; b -= deciban_rotate(a, 25);
        c ^= b; c -= deciban_rotate(b, 16);
        a ^= c; a -= deciban_rotate(c, 4);
        b ^= a; b -= deciban_rotate(a, 14);
        c ^= b; c -= deciban_rotate(b, 24);
        block->hash[i] = ((uint64_t)b << 32) | c;
    }
}

static inline void deciban_key_put(deciban_key_block *block, int64_t i, deciban_key_state s)
{
    block->a[i] = s.a;
    block->b[i] = s.b;
    block->c[i] = s.c;
}

/* The state of eight bytes more. */
static inline deciban_key_state deciban_key_eight(deciban_key_state s, uint64_t bits)
{
    s.a += (uint32_t)bits;
    s.b += (uint32_t)(bits >> 32);
    return s;
}

/* The bits by which a number is hashed: all NaN are one. */
static inline uint64_t deciban_key_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return value == value ? bits : 0x7FF8000000000000u;
}

/* Four or eight bytes, the lowest first. */
static inline uint32_t deciban_key_word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t deciban_key_words(const uint8_t *at)
{
    return deciban_key_word(at) | (uint64_t)deciban_key_word(at + 4) << 32;
}

/* The first eight of up to eleven bytes; what is beyond the end is zero. */
static inline uint64_t deciban_key_head(const uint8_t *at, int64_t n)
{
    if (n >= 8)
        return deciban_key_words(at);
    if (n >= 4) /* the words overlap, and agree where they do */
        return deciban_key_word(at) | (uint64_t)deciban_key_word(at + n - 4) << 8 * (n - 4);
    if (!n)
        return 0;
    return at[0] | (uint64_t)at[n >> 1] << 8 * (n >> 1) | (uint64_t)at[n - 1] << 8 * (n - 1);
}

/* The state of a text, whose last step is still to be done; `starts` are those of short texts. */
static inline deciban_key_state deciban_key_text(
    const uint8_t *at, int64_t n, uint64_t seed, const deciban_key_state *starts)
{
    deciban_key_state s = n < DECIBAN_KEY_STEP ? starts[n] : deciban_key_start(n, seed);
    for (; n >= DECIBAN_KEY_STEP; n -= DECIBAN_KEY_STEP, at += DECIBAN_KEY_STEP) {
        s = deciban_key_eight(s, deciban_key_words(at));
        s.c += deciban_key_word(at + 8);
        s = deciban_key_stir(s);
    }
    s = deciban_key_eight(s, deciban_key_head(at, n));
    if (n > 8) /* the lowest byte of c is that of the length */
        s.c += (uint32_t)(deciban_key_words(at + n - 8) >> 8 * (16 - n)) << 8;
    return s;
}

#endif
