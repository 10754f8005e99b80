/* Removes a directory of a test with everything in it. */
#ifndef BLOOMERY_TESTS_REMOVE_DIR_H
#define BLOOMERY_TESTS_REMOVE_DIR_H

#include "support/cmocka_all.h"

#include <ftw.h>
#include <stdio.h>

static inline int remove_entry(const char *path, const struct stat *facts, int kind,
                               struct FTW *where)
{
    (void)facts;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline void remove_dir(const char *path)
{
    assert_int_equal(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

#endif
