/* Memory for tables that are looked up at random: of a large one, every place would need a page
   of its own to be found, so huge pages are asked for where the system has them. */

#ifndef DECIBAN_LARGE_H
#define DECIBAN_LARGE_H

#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

/* Bytes that are all 0, for `free`; NULL where there is no memory. */
static inline void *deciban_zeros(size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const size_t huge = (size_t)1 << 21;
    void *at;
    if (size >= huge) {
        if (posix_memalign(&at, huge, size))
            return NULL;
        madvise(at, size, MADV_HUGEPAGE); /* if it fails, pages are small */
        return memset(at, 0, size);
    }
#endif
    return calloc(size, 1);
}

#endif
