/*
 * The exact index: digest → container and place in it, in LMDB (REPO/index/data.mdb).
 *
 *   database "chunks"      digest → 8 bytes, little-endian: container number << 16 | place
 *   database "containers"  number (8 bytes, big-endian) → 8 bytes: chunks
 *   database "meta"        name → 8 bytes: "epoch", a random number that changes whenever chunks
 *                          are removed; counters of the puts, for `stats`
 *
 * Transactions are synced (no MDB_NOSYNC, no MDB_WRITEMAP). A row in "containers" is written after
 * all chunks of the container, so a container without a row is added again when the repository is
 * next opened for writing.
 */
#ifndef BLOOMERY_DEDUP_EXACT_H
#define BLOOMERY_DEDUP_EXACT_H

#include "apps/dedup/base/digest.h"
#include "apps/dedup/base/disk.h"

typedef struct dedup_exact dedup_exact;

typedef struct dedup_location {
    uint64_t container;
    uint32_t place; /* in its directory */
} dedup_location;

typedef struct dedup_row {
    uint64_t number;
    uint64_t chunks;
} dedup_row;

/* The containers of the repository, sorted by number. */
typedef struct dedup_rows {
    dedup_row *row;
    size_t count; /* How many there are. */
    size_t room; /* For how many there is room. */
} dedup_rows;

dedup_status dedup_rows_add(dedup_rows *rows, dedup_row row); /* with the highest number */
/* The place of the first row with this number or a higher one. */
size_t dedup_rows_first(const dedup_rows *rows, uint64_t number);
const dedup_row *dedup_rows_find(const dedup_rows *rows, uint64_t number);
/* The row with this number or the next higher one; NULL if there is none. */
const dedup_row *dedup_rows_from(const dedup_rows *rows, uint64_t number);

/* How the index is opened. */
typedef enum dedup_exact_mode {
    DEDUP_EXACT_READ,
    DEDUP_EXACT_ALONE, /* to read, without LMDB's lock file: the caller keeps writers out */
    DEDUP_EXACT_WRITE, /* creates the databases */
} dedup_exact_mode;

/* Opens the directory. DEDUP_FAILED with errno EACCES: the lock file may not be written. */
dedup_status dedup_exact_open(const char *path, size_t digest_len, dedup_exact_mode mode,
                              dedup_exact **exact);
void dedup_exact_close(dedup_exact *exact);

/* Takes a new snapshot for what follows. */
dedup_status dedup_exact_refresh(dedup_exact *exact);

/* Looks up in a snapshot, which is renewed after each change of this process. DEDUP_MISSING: not
 * there, without a description. */
dedup_status dedup_exact_get(dedup_exact *exact, const dedup_digest *digest, dedup_location *where);

/* A change of one chunk. */
typedef struct dedup_change {
    dedup_digest digest;
    dedup_location where;
    bool remove;
    bool keep; /* an existing entry stays */
} dedup_change;

/* Applies changes in the order of digests, which it sorts, in several transactions. */
dedup_status dedup_exact_apply(dedup_exact *exact, dedup_change *changes, size_t count);

/* Adds and removes rows of containers and sets numbers of "meta", all in one transaction. */
typedef struct dedup_setting {
    const char *name;
    uint64_t value;
} dedup_setting;
dedup_status dedup_exact_finish(dedup_exact *exact, const dedup_row *add, size_t added,
                                const uint64_t *remove, size_t removed,
                                const dedup_setting *settings, size_t set);

/* Removes rows, and sets another epoch, which no file cache knows. */
dedup_status dedup_exact_change_epoch(dedup_exact *exact, const uint64_t *remove, size_t removed);

/* Reads a number of "meta"; 0 if it is missing. */
dedup_status dedup_exact_number(dedup_exact *exact, const char *name, uint64_t *number);

/* Adds all rows to an empty list; free() its array in any case. */
dedup_status dedup_exact_rows(dedup_exact *exact, dedup_rows *rows);

/* Calls visit for every chunk in the order of digests, until it returns another status. */
typedef dedup_status dedup_visit_chunk(void *context, const dedup_digest *digest,
                                       dedup_location where);
dedup_status dedup_exact_walk(dedup_exact *exact, dedup_visit_chunk *visit, void *context);

/* The number of chunks, and bytes of the file. */
dedup_status dedup_exact_count(dedup_exact *exact, uint64_t *chunks, uint64_t *bytes);

#endif
