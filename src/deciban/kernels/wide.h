/* What the compiled loops share: wide registers and fetching in time.

   DECIBAN_WIDE: on x86 a loop is compiled twice, plain and for AVX2 (without
   fused multiply-add, so that both give the same bits); the loader picks one. */

#ifndef DECIBAN_WIDE_H
#define DECIBAN_WIDE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define DECIBAN_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define DECIBAN_WIDE
#endif

#if defined(__GNUC__)
#define DECIBAN_PREFETCH(address) __builtin_prefetch(address)
#else
#define DECIBAN_PREFETCH(address)
#endif

#endif
