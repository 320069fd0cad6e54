/* Faults at the system calls that change a disk, for a process that is started with LD_PRELOAD.
 *
 * Nothing happens until torture_arm(at, fault) is called. From then on every call that changes a
 * regular file or a folder has a number, from 0. At number `at`:
 *
 *   TORTURE_COUNT         nothing; torture_calls() says how many there were
 *   TORTURE_KILL          the process ends before the call
 *   TORTURE_KILL_HALFWAY  half of what a write should write is written, then the process ends
 *   TORTURE_INTERRUPT     Ctrl-C, then the call goes on
 *   an errno > 0          the call fails with it, this one and all after it of a kind that can
 *   an errno < 0          the call fails with -errno, and only this one
 *
 * Calls on pipes, sockets and terminals are not counted, so acknowledgements can be sent.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TORTURE_COUNT = 0, TORTURE_KILL = 1000, TORTURE_KILL_HALFWAY, TORTURE_INTERRUPT };

static atomic_int armed, calls;
static int fault_at, fault;

void torture_arm(int at, int which) {
    fault_at = at;
    fault = which;
    atomic_store(&calls, 0);
    atomic_store(&armed, 1);
}

int torture_disarm(void) {
    atomic_store(&armed, 0);
    return atomic_load(&calls);
}

static void end(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* What becomes of a call: 0 it goes on, 1 half of it and then the end, -1 it fails with errno. */
static int step(void) {
    if (!atomic_load(&armed)) return 0;
    int number = atomic_fetch_add(&calls, 1);
    if (number < fault_at || fault == TORTURE_COUNT) return 0;
    if (fault > 0 && fault < TORTURE_KILL) { errno = fault; return -1; }
    if (number > fault_at) return 0;
    if (fault < 0) { errno = -fault; return -1; }
    if (fault == TORTURE_KILL) end();
    if (fault == TORTURE_INTERRUPT) { raise(SIGINT); return 0; }
    return 1;
}

static int on_disk(int file) {
    struct stat about;
    int before = errno, answer = fstat(file, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
    errno = before;
    return answer;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define WRITE(name, declared, size, halved, passed)              \
    ssize_t name declared {                                      \
        REAL(name);                                              \
        int what = on_disk(file) ? step() : 0;                   \
        if (what < 0) return -1;                                 \
        if (what > 0) { if (size / 2) real halved; end(); }      \
        return real passed;                                      \
    }
WRITE(write, (int file, const void *data, size_t size), size, (file, data, size / 2), (file, data, size))
WRITE(pwrite, (int file, const void *data, size_t size, off_t at), size, (file, data, size / 2, at), (file, data, size, at))
WRITE(pwrite64, (int file, const void *data, size_t size, off64_t at), size, (file, data, size / 2, at), (file, data, size, at))
WRITE(writev, (int file, const struct iovec *parts, int n), n, (file, parts, n / 2), (file, parts, n))

#define ON_FILE(name, declared, passed)                          \
    int name declared {                                          \
        REAL(name);                                              \
        int what = on_disk(file) ? step() : 0;                   \
        if (what < 0) return -1;                                 \
        if (what > 0) { real passed; end(); }                    \
        return real passed;                                      \
    }
ON_FILE(fsync, (int file), (file))
ON_FILE(fdatasync, (int file), (file))
ON_FILE(ftruncate, (int file, off_t size), (file, size))
ON_FILE(ftruncate64, (int file, off64_t size), (file, size))
ON_FILE(fchmod, (int file, mode_t mode), (file, mode))

#define ON_PATH(name, declared, passed)                          \
    int name declared {                                          \
        REAL(name);                                              \
        int what = step();                                       \
        if (what < 0) return -1;                                 \
        if (what > 0) { real passed; end(); }                    \
        return real passed;                                      \
    }
ON_PATH(rename, (const char *from, const char *to), (from, to))
ON_PATH(renameat, (int from_in, const char *from, int to_in, const char *to), (from_in, from, to_in, to))
ON_PATH(unlink, (const char *path), (path))
ON_PATH(unlinkat, (int in, const char *path, int flags), (in, path, flags))
ON_PATH(chmod, (const char *path, mode_t mode), (path, mode))
ON_PATH(fchmodat, (int in, const char *path, mode_t mode, int flags), (in, path, mode, flags))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
ON_PATH(link, (const char *from, const char *to), (from, to))

/* Opening changes the disk where it makes or cuts a file. */
#define CHANGES(flags) ((flags) & (O_CREAT | O_TRUNC))
#define OPEN(name, declared, passed)                             \
    int name declared {                                          \
        REAL(name);                                              \
        mode_t mode = 0;                                         \
        if (flags & O_CREAT) {                                   \
            va_list more;                                        \
            va_start(more, flags);                               \
            mode = va_arg(more, mode_t);                         \
            va_end(more);                                        \
        }                                                        \
        int what = CHANGES(flags) ? step() : 0;                  \
        if (what < 0) return -1;                                 \
        if (what > 0) { real passed; end(); }                    \
        return real passed;                                      \
    }
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int in, const char *path, int flags, ...), (in, path, flags, mode))
OPEN(openat64, (int in, const char *path, int flags, ...), (in, path, flags, mode))
