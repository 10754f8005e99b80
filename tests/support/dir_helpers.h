/* Temporary directories. */
#ifndef BLOOMERY_TESTS_DIR_HELPERS_H
#define BLOOMERY_TESTS_DIR_HELPERS_H

#include "frame/io.h"
#include "support/cmocka_all.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static void remove_file(void *context, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", (const char *)context, name);
    unlink(path); /* "." and ".." stay */
}

/* Removes a directory and its files; it must not contain directories. */
static void remove_dir(char *path)
{
    const bry__io *io = bry__io_posix();
    assert_int_equal(io->list(io->opaque, path, remove_file, path), 0);
    assert_int_equal(rmdir(path), 0);
}

#endif
