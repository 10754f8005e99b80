/* Preloaded: a monotonic clock that advances by a second with each call, so that a program shows
 * its progress every time, however fast the machine is. */
#include <stdatomic.h>
#include <time.h>

__attribute__((visibility("default"))) int
fast_clock(clockid_t which, struct timespec *now) __asm__("clock_gettime");

int fast_clock(clockid_t which, struct timespec *now)
{
    static atomic_long asked;
    *now = (struct timespec){.tv_sec = (which == CLOCK_REALTIME ? 1700000000 : 1000) +
                                       atomic_fetch_add(&asked, 1)};
    return 0;
}
