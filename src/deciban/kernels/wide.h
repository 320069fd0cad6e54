/* What the compiled loops share: wide registers and fetching in time.

   DECIBAN_WIDE: on x86 a loop is compiled twice, plain and for AVX2 (without
   fused multiply-add, so that both give the same bits); the loader picks one.
   DECIBAN_WIDEST: with it where there is one, for loops that never round. */

#ifndef DECIBAN_WIDE_H
#define DECIBAN_WIDE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define DECIBAN_WIDE __attribute__((target_clones("avx2", "default")))
#if defined(__clang__) || __GNUC__ < 12
#define DECIBAN_WIDEST DECIBAN_WIDE
#else
#define DECIBAN_WIDEST __attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
#else
#define DECIBAN_WIDE
#define DECIBAN_WIDEST
#endif

#if defined(__GNUC__)
#define DECIBAN_PREFETCH(address) __builtin_prefetch(address)
#else
#define DECIBAN_PREFETCH(address)
#endif

#endif
