/* Temporary folders. */
#ifndef BLOOMERY_TESTS_FOLDER_HELPERS_H
#define BLOOMERY_TESTS_FOLDER_HELPERS_H

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

/* Removes a folder and its files; it must not contain folders. */
static void remove_folder(char *path)
{
    const bry__io *io = bry__io_posix();
    assert_int_equal(io->list(io->opaque, path, remove_file, path), 0);
    assert_int_equal(rmdir(path), 0);
}

#endif
