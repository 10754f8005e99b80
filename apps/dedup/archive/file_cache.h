/*
 * The file cache, REPO/cache/files: what `put` knows about files it has read, so that it need not
 * read them again while size, modification and change time and inode are the same.
 *
 *      0  magic "BRYDEDF\n"    8  format, 4 bytes      12  0, 4 bytes
 *     16  files, 8 bytes      24  epoch of the exact index
 *     32  offset of the table 40  checksum of the table   48  0   56  checksum of the 56 bytes before
 *     64  items ('C' and 'Z', manifest_items.h) of one file after another
 *      …  table: 96 bytes for each file, sorted by key
 *
 * It is a cache: if it is missing or damaged, files are read again. If chunks were removed since it
 * was written (another epoch), the chunks of each file are looked up first.
 */
#ifndef BLOOMERY_DEDUP_FILE_CACHE_H
#define BLOOMERY_DEDUP_FILE_CACHE_H

#include "apps/dedup/archive/manifest_items.h"
#include "apps/dedup/store/store.h"

#include <bloomery/hash.h>
#include <stdio.h>
#include <sys/stat.h>

typedef struct dedup_cached_file {
    bry_hash key; /* of the path */
    uint64_t size; /* Bytes of the file. */
    uint64_t inode; /* Its inode number. */
    int64_t modified; /* Modification time, in seconds. */
    int64_t changed; /* Time of the last change of the inode, in seconds. */
    uint32_t modified_ns; /* Nanoseconds of the modification time. */
    uint32_t changed_ns; /* Nanoseconds of the time of the last change. */
    uint64_t offset; /* Where its items begin. */
    uint64_t len; /* Bytes of its items. */
    uint64_t sum; /* checksum of the items */
    uint32_t age; /* puts that did not meet the file */
    uint32_t state; /* in memory: whether this put met it */
} dedup_cached_file;

typedef struct dedup_file_cache {
    dedup_store *store;
    uint64_t epoch;
    const unsigned char *map; /* the old cache */
    size_t map_len;
    dedup_cached_file *old;
    size_t old_count;
    FILE *out; /* the new one */
    dedup_cached_file *fresh;
    size_t fresh_count; /* How many there are. */
    size_t fresh_room; /* For how many there is room. */
    uint64_t written;
} dedup_file_cache;

/* `use` false: ignores the old cache, but writes a new one. */
dedup_status dedup_file_cache_open(dedup_file_cache *cache, dedup_store *store, bool use);
void dedup_file_cache_close(dedup_file_cache *cache);

/* The key of a path, and what must be the same for a file to count as unchanged. */
dedup_cached_file dedup_cached_of(dedup_text path, const struct stat *facts);

/* The items of an unchanged file, which stays in the cache; false if it must be read. */
bool dedup_file_cache_find(dedup_file_cache *cache, const dedup_cached_file *file,
                           dedup_text *items);

/* Remembers a file that was read. It may be called while another thread calls _find(). */
dedup_status dedup_file_cache_keep(dedup_file_cache *cache, const dedup_cached_file *file,
                                   dedup_text items);

/* Replaces the cache by the files that were kept, and others that were met lately. */
dedup_status dedup_file_cache_save(dedup_file_cache *cache);

/* Verifies all checksums of the saved cache; a missing one is right. DEDUP_DAMAGED. */
dedup_status dedup_file_cache_check(const dedup_repo *repo);

#endif
