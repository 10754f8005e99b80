#include "common/random.h"

#include <errno.h>
#include <sys/random.h>

bry_status bry__random_seed(uint64_t *seed)
{
    uint64_t drawn = 0;
    while (drawn == 0) {
        ssize_t got = getrandom(&drawn, sizeof drawn, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)sizeof drawn)
            return BRY_E_IO;
    }
    *seed = drawn;
    return BRY_OK;
}
