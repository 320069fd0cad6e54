/* A team: threads that take the items of a piece of work, one after another, until none is left.

   One of them leads, and never waits for others to arrive: items that nobody else has taken it
   does itself. Which member takes which item is left to chance, so an item must write nowhere but
   to its own place, and to room that is the member's. Without threads of POSIX the leader works
   alone. */
#ifndef DECIBAN_TEAM_H
#define DECIBAN_TEAM_H

#include <stddef.h>

typedef void (*deciban_task)(void *of, ptrdiff_t item, ptrdiff_t member);

#if __has_include(<pthread.h>)
#include <pthread.h>
#include <stdatomic.h>

/* Pieces of work follow each other closely: so many looks before a thread goes to sleep. */
enum { DECIBAN_LOOKS = 1000 };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t begun, ended;
    deciban_task task;
    void *of;
    ptrdiff_t items;
    atomic_ptrdiff_t next;      /* the item that nobody has taken yet */
    ptrdiff_t room, members;    /* the most members, and how many have come, the leader among them */
    ptrdiff_t asleep;
    atomic_ptrdiff_t working;   /* members other than the leader that are at it */
    atomic_ulong piece;         /* which piece of work it is: odd while members may begin */
    atomic_int dismissed;
} deciban_team;

static inline void deciban_team_start(deciban_team *team, ptrdiff_t room)
{
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->begun, NULL);
    pthread_cond_init(&team->ended, NULL);
    team->room = room;
    team->members = 1;
    team->asleep = 0;
    atomic_init(&team->working, 0);
    atomic_init(&team->piece, 0);
    atomic_init(&team->dismissed, 0);
}

static inline void deciban_team_end(deciban_team *team)
{
    pthread_mutex_destroy(&team->lock);
    pthread_cond_destroy(&team->begun);
    pthread_cond_destroy(&team->ended);
}

static inline void deciban_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static inline void deciban_team_take(deciban_team *team, ptrdiff_t member)
{
    ptrdiff_t item;
    while ((item = atomic_fetch_add(&team->next, 1)) < team->items)
        team->task(team->of, item, member);
}

/* The leader: all items are done when this returns. */
static inline void deciban_team_share(
    deciban_team *team, deciban_task task, void *of, ptrdiff_t items)
{
    pthread_mutex_lock(&team->lock);
    team->task = task;
    team->of = of;
    team->items = items;
    atomic_store(&team->next, 0);
    atomic_fetch_add(&team->piece, 1);
    if (team->asleep)
        pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->lock);
    deciban_team_take(team, 0);
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->piece, 1);
    pthread_mutex_unlock(&team->lock);
    for (int i = 0; i < DECIBAN_LOOKS && atomic_load(&team->working); i++)
        deciban_pause();
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->working))
        pthread_cond_wait(&team->ended, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

/* Whether there is nothing to begin for one who has seen a piece of work. */
static inline int deciban_team_idle(deciban_team *team, unsigned long seen)
{
    const unsigned long piece = atomic_load(&team->piece);
    return !atomic_load(&team->dismissed) && (piece % 2 == 0 || piece == seen);
}

/* Every other member: takes part until the team is dismissed. */
static inline void deciban_team_help(deciban_team *team)
{
    unsigned long seen = 0;
    pthread_mutex_lock(&team->lock);
    const ptrdiff_t member = team->members;
    team->members += member < team->room;
    while (member < team->room) {
        pthread_mutex_unlock(&team->lock);
        for (int i = 0; i < DECIBAN_LOOKS && deciban_team_idle(team, seen); i++)
            deciban_pause();
        pthread_mutex_lock(&team->lock);
        team->asleep++;
        while (deciban_team_idle(team, seen))
            pthread_cond_wait(&team->begun, &team->lock);
        team->asleep--;
        if (atomic_load(&team->dismissed))
            break;
        seen = atomic_load(&team->piece);
        atomic_fetch_add(&team->working, 1);
        pthread_mutex_unlock(&team->lock);
        deciban_team_take(team, member);
        pthread_mutex_lock(&team->lock);
        if (atomic_fetch_sub(&team->working, 1) == 1)
            pthread_cond_signal(&team->ended);
    }
    pthread_mutex_unlock(&team->lock);
}

static inline void deciban_team_dismiss(deciban_team *team)
{
    pthread_mutex_lock(&team->lock);
    atomic_store(&team->dismissed, 1);
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->lock);
}

#else
typedef struct { ptrdiff_t room; } deciban_team;
static inline void deciban_team_start(deciban_team *team, ptrdiff_t room) { team->room = room; }
static inline void deciban_team_end(deciban_team *team) { (void)team; }
static inline void deciban_team_help(deciban_team *team) { (void)team; }
static inline void deciban_team_dismiss(deciban_team *team) { (void)team; }
static inline void deciban_team_share(
    deciban_team *team, deciban_task task, void *of, ptrdiff_t items)
{
    (void)team;
    for (ptrdiff_t item = 0; item < items; item++)
        task(of, item, 0);
}
#endif
#endif
