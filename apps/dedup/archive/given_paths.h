/* The paths that a user gives to `put`. */
#ifndef BLOOMERY_DEDUP_GIVEN_PATHS_H
#define BLOOMERY_DEDUP_GIVEN_PATHS_H

#include "apps/dedup/base/disk.h"

/* The path as it is stored: without a leading slash, empty components and ".". `to` has room for two
 * bytes more than the given one. False: it contains "..". */
bool dedup_stored_path(const char *given, char *to);

/* Sets covered[i] for each path that is stored with another one: it is the same or below it.
 * DEDUP_FAILED: a path contains "..", or two different ones would get the same name. */
dedup_status dedup_find_covered(char *const *given, size_t count, bool *covered);

#endif
