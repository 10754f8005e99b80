/*
 * A small text file of the repository, the configuration and the record of each archive:
 *
 *   bloomery dedup WHAT FORMAT
 *   name value
 *   ...
 *   checksum 0123456789abcdef
 *
 * The checksum is XXH3 of everything before its line, so that any changed byte is noticed.
 */
#ifndef BLOOMERY_DEDUP_RECORD_H
#define BLOOMERY_DEDUP_RECORD_H

#include "apps/dedup/base/problem.h"

#include <bloomery/base.h>

/* The format of everything in a repository: doc/dedup-format.md. */
enum { DEDUP_FORMAT = 1 };

enum { DEDUP_RECORD_MAX = 8192 }; /* bytes of the file */

typedef struct dedup_record {
    bry_buffer bytes; /* after reading, NUL-terminated values */
} dedup_record;

/* Writing: the first line, then members, then the checksum. Memory is checked at the end. */
void dedup_record_begin(dedup_record *record, const char *what);
__attribute__((format(printf, 3, 4))) void dedup_record_add(dedup_record *record, const char *name,
                                                            const char *format, ...);
dedup_status dedup_record_end(dedup_record *record);

/* Reading: DEDUP_MISSING: no such file; DEDUP_DAMAGED, DEDUP_VERSION. */
dedup_status dedup_record_read(dedup_record *record, int dir, const char *path, const char *what);
const char *dedup_record_get(const dedup_record *record, const char *name); /* NULL: missing */
bool dedup_record_number(const dedup_record *record, const char *name, uint64_t *number);
void dedup_record_free(dedup_record *record);

#endif
