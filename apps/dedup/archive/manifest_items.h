/*
 * The items of a manifest, one after another:
 *
 *   'E' len payload    an entry: a file, directory, link or device, with everything but its content
 *   'C' digest len     a chunk of the content of the entry before
 *   'Z' len            a hole of that many zeros
 *
 * Lengths and numbers are varints: 7 bits per byte, low bits first. The payload of an entry: type,
 * path, mode, user, group, modification time (seconds as zigzag, nanoseconds), size, device, target
 * of a link, number of extended attributes, and name and value of each. Texts are preceded by their
 * lengths and may contain any bytes but NUL; paths are relative and have no "." and "..";
 * the directory itself is ".".
 */
#ifndef BLOOMERY_DEDUP_ITEMS_H
#define BLOOMERY_DEDUP_ITEMS_H

#include "apps/dedup/base/digest.h"

#include <bloomery/base.h>

typedef struct dedup_text {
    const char *bytes;
    size_t len;
} dedup_text;

typedef enum dedup_type {
    DEDUP_FILE = 'f',
    DEDUP_DIR = 'd',
    DEDUP_SYMLINK = 'l',
    DEDUP_HARDLINK = 'h', /* `target` is the path of an earlier entry */
    DEDUP_FIFO = 'p',
    DEDUP_CHARDEV = 'c',
    DEDUP_BLOCKDEV = 'b',
} dedup_type;

typedef struct dedup_file_entry {
    dedup_type type;
    dedup_text path; /* The stored path. */
    dedup_text target; /* What a link points to. */
    uint32_t mode; /* permission bits */
    uint32_t user; /* The owner. */
    uint32_t group; /* The group. */
    int64_t seconds; /* Modification time. */
    uint32_t nanoseconds; /* Nanoseconds of the modification time. */
    uint64_t size; /* Bytes of a file. */
    uint64_t device; /* Number of a device file. */
    uint64_t attributes; /* their number */
    dedup_text attribute_bytes; /* as in the item */
} dedup_file_entry;

typedef struct dedup_item {
    char tag; /* E, C or Z */
    dedup_file_entry entry;
    dedup_digest digest;
    uint64_t len; /* of a chunk or hole */
} dedup_item;

/* Append an item to a buffer. */
dedup_status dedup_put_entry(bry_buffer *to, const dedup_file_entry *entry);
dedup_status dedup_put_chunk(bry_buffer *to, const dedup_digest *digest, size_t digest_len,
                             uint64_t len);
dedup_status dedup_put_hole(bry_buffer *to, uint64_t len);

/* Append an extended attribute to attribute_bytes. */
dedup_status dedup_put_attribute(bry_buffer *to, dedup_text name, dedup_text value);

/* Reads the next item and advances *rest; texts point into it. False if it is malformed. */
bool dedup_next_item(dedup_text *rest, size_t digest_len, dedup_item *item);
bool dedup_next_attribute(dedup_text *rest, dedup_text *name, dedup_text *value);

/* Whether a path is safe to restore: relative, without empty components, "." and "..". */
bool dedup_path_is_safe(dedup_text path);

/* Whether it is ".", the directory that everything is restored into. */
bool dedup_path_is_root(dedup_text path);

/* Whether it is this path or below it. */
bool dedup_path_is_under(dedup_text path, const char *dir);

#endif
