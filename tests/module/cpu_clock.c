/*
 * Loaded in front of a server, this makes the time of day go on only while the calling thread
 * works. The server measures its commands by that clock, so what it then says of a command is what
 * the command did, however many others want the processor.
 */
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

static int64_t microseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the header's are reserved */
__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict now,
                                                        void *restrict zone)
{
    static int64_t started; /* the server asks before it has threads */
    (void)zone;
    if (!started)
        started = microseconds(CLOCK_REALTIME);
    int64_t time = started + microseconds(CLOCK_THREAD_CPUTIME_ID);
    now->tv_sec = time / 1000000;
    now->tv_usec = time % 1000000;
    return 0;
}
