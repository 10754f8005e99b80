#include "bench/harness/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int bench_temporary_file(void)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];
    int len = snprintf(path, sizeof path, "%s/bloomery-bench-XXXXXX", dir && *dir ? dir : "/tmp");
    if (len < 0 || (size_t)len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}
