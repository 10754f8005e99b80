/*
 * A clock for the latency test, loaded in front of a server: the time of day advances only while
 * the calling thread runs. The server measures its commands with that clock, so that a busy machine
 * does not make a command look slow. SIGUSR2 moves the clock ten minutes ahead, as if the server had
 * been idle.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

static _Atomic int64_t idled; /* microseconds */

static int64_t microseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void idle(int signal)
{
    (void)signal;
    atomic_fetch_add(&idled, (int64_t)600 * 1000000);
}

__attribute__((constructor)) static void listen_for_signal(void)
{
    struct sigaction action = {.sa_handler = idle, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &action, NULL);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the header's are reserved */
__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict now,
                                                        void *restrict zone)
{
    static int64_t started; /* the server calls this before it has threads */
    (void)zone;
    if (!started)
        started = microseconds(CLOCK_REALTIME);
    int64_t time = started + atomic_load(&idled) + microseconds(CLOCK_THREAD_CPUTIME_ID);
    now->tv_sec = time / 1000000;
    now->tv_usec = time % 1000000;
    return 0;
}
