/*
 * Archives: what a `put` stored under a name. The record REPO/archives/NAME (record.h) names the
 * root of the manifest. It is written last, when everything that it needs is on disk; so an archive
 * exists completely or not at all.
 */
#ifndef BLOOMERY_DEDUP_ARCHIVE_H
#define BLOOMERY_DEDUP_ARCHIVE_H

#include "apps/dedup/base/repository.h"

enum { DEDUP_NAME_MAX = 200 };

typedef struct dedup_archive {
    char name[DEDUP_NAME_MAX + 1];
    uint64_t ms; /* when the put began, since 1970 */
    dedup_digest root;
    unsigned depth;
    uint64_t entries; /* files, directories and so on */
    uint64_t bytes; /* of all files */
    uint64_t new_bytes; /* chunks that were new, raw */
} dedup_archive;

/* NULL, or why this cannot be the name of an archive. */
const char *dedup_name_problem(const char *name);

/* DEDUP_MISSING: there is no such archive. DEDUP_DAMAGED: its record is damaged. */
dedup_status dedup_archive_read(const dedup_repo *repo, const char *name, dedup_archive *archive);
dedup_status dedup_archive_write(const dedup_repo *repo, const dedup_archive *archive);
dedup_status dedup_archive_remove(const dedup_repo *repo, const char *name);

/* All archives that can be read, by time. Damaged records are reported with `damaged`, or end it
 * with DEDUP_DAMAGED if that is NULL. free() the list. */
typedef void dedup_damaged_record(void *context, const char *name);
dedup_status dedup_archive_list(const dedup_repo *repo, dedup_archive **archives, size_t *count,
                                dedup_damaged_record *damaged, void *context);

/* A time as text, in the local time zone: "2026-11-16 12:30:00". */
typedef struct dedup_time_text {
    char text[32];
} dedup_time_text;
dedup_time_text dedup_time_of(int64_t seconds);

#endif
