/*
 * A repository: a directory, its configuration and its locks.
 *
 *   REPO/config              the configuration, written once
 *   REPO/lock                locked exclusively (flock) by the one process that writes
 *   REPO/readers             locked shared by readers; gc locks it exclusively to remove containers
 *   REPO/containers/         chunks, container.h
 *   REPO/archives/NAME       a record for each archive, archive.h: written last by `put`
 *   REPO/index/              the exact index (LMDB), exact.h
 *   REPO/units/              the index in memory, saved, units.h
 *   REPO/cache/files         files that `put` need not read again, file_cache.h
 *   REPO/damaged/            what `check --repair` has taken out
 *
 * Containers and archives are the repository. All else is derived from them, and can be rebuilt.
 */
#ifndef BLOOMERY_DEDUP_REPO_H
#define BLOOMERY_DEDUP_REPO_H

#include "apps/dedup/base/digest.h"
#include "apps/dedup/base/disk.h"

typedef struct dedup_config {
    uint32_t chunk; /* average size of a chunk */
    dedup_hash hash;
    int level; /* of zstd; 0: no compression */
    bry_engine engine; /* of the index in memory */
    char id[33]; /* random */
} dedup_config;

typedef struct dedup_repo {
    const char *path;
    int fd; /* of the directory */
    int lock; /* Descriptor that holds the lock of writers; -1: not held. */
    int readers; /* Descriptor that holds the lock of readers; -1: not held. */
    dedup_config config;
    uint64_t unit_chunks; /* tests: chunks of a unit; 0: 2^16 or more */
} dedup_repo;

typedef enum dedup_access {
    DEDUP_READ, /* Shares the repository with other readers and a writer. */
    DEDUP_WRITE, /* Is the only writer. */
} dedup_access;

/* Creates a repository in a directory that does not exist or is empty. */
dedup_status dedup_repo_create(const char *path, const dedup_config *config);

/* Opens and locks it. Waits for the lock; after a second it prints for whom. */
dedup_status dedup_repo_open(dedup_repo *repo, const char *path, dedup_access access);
void dedup_repo_close(dedup_repo *repo);

/* Waits until no reader is left, and keeps new ones out until they are admitted. */
dedup_status dedup_repo_exclude_readers(dedup_repo *repo);
void dedup_repo_admit_readers(dedup_repo *repo);

/* Keeps writers out until the repository is closed, instead of only the removal of containers. What
 * was read before may have changed: to be called before the indexes are opened. */
dedup_status dedup_repo_exclude_writers(dedup_repo *repo);

/* The path of something in the repository, for a library that wants one. */
typedef struct dedup_place {
    char text[4096];
} dedup_place;
dedup_place dedup_place_of(const dedup_repo *repo, const char *name);

#endif
