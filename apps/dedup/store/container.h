/*
 * A container: a file of about 4 MiB with chunks. It is written once, as a whole, and never
 * changed.
 *
 *      0  magic "BRYDEDC\n"
 *      8  format, 4 bytes        12  hash (0 SHA-256, 1 SHA-1), 4 bytes
 *     16  number, 8 bytes        24  chunks, 8 bytes
 *     32  bytes of data, 8 bytes 40  checksum of the directory, 8 bytes
 *     48  checksum of the data   56  checksum of the 56 bytes before
 *     64  directory: for each chunk its digest, its length word and its raw length, 4 bytes each
 *      …  data: for each chunk the length word, the raw length, and the stored bytes
 *      …  the 64 bytes of the header again
 *
 * Numbers are little-endian. A length word has the stored length in its low 24 bits, the codec (0
 * none, 1 zstd) in the next four and the kind of chunk in the highest four. A checksum is the low
 * half of bry_hash_key() with the container's number as its seed. If the directory or one of the
 * headers is damaged, the chunks can be found by the lengths before them; the digest of each
 * follows from its content.
 */
#ifndef BLOOMERY_DEDUP_CONTAINER_H
#define BLOOMERY_DEDUP_CONTAINER_H

#include "apps/dedup/base/digest.h"
#include "apps/dedup/base/disk.h"

enum {
    DEDUP_CONTAINER_BYTES = 4 << 20, /* a container is complete when its data reaches this */
    DEDUP_CONTAINER_CHUNKS = 8192, /* or when it has this many chunks */
    DEDUP_HEADER = 64,
    DEDUP_CHUNK_HEADER = 8,
    DEDUP_CHUNK_MAX = (1 << 24) - 1, /* bytes of a chunk */
};

typedef enum dedup_kind {
    DEDUP_DATA = 0, /* of a file */
    DEDUP_ITEMS = 1, /* of a manifest */
    DEDUP_TREE = 2, /* digests of chunks of a manifest */
} dedup_kind;

typedef enum dedup_codec {
    DEDUP_STORED = 0, /* As it is. */
    DEDUP_ZSTD = 1, /* Compressed with zstd. */
} dedup_codec;

typedef struct dedup_entry {
    uint32_t offset; /* Where its header is in the file. */
    uint32_t stored; /* Bytes as stored. */
    uint32_t raw; /* Bytes of the content. */
    uint8_t codec; /* A dedup_codec. */
    uint8_t kind; /* A dedup_kind. */
} dedup_entry;

/* The directory of a container, in memory. */
typedef struct dedup_directory {
    uint64_t number; /* The number of the container. */
    uint32_t count; /* How many chunks it has. */
    uint32_t room; /* For how many entries there is memory. */
    uint64_t data; /* bytes of data, with the headers of chunks */
    uint64_t data_sum; /* checksum of the data */
    dedup_entry *entry;
    dedup_digest *digest;
} dedup_directory;

void dedup_directory_free(dedup_directory *directory);

/* Adds an entry at the end of the data. */
dedup_status dedup_directory_add(dedup_directory *directory, const dedup_digest *digest,
                                 const dedup_entry *entry);

/* The first bytes of the file: header and directory. `hash` is that of the repository. */
dedup_status dedup_container_front(const dedup_directory *directory, dedup_hash hash,
                                   const unsigned char *data, bry_buffer *front);

/* The header of a chunk in the data. */
void dedup_chunk_header(const dedup_entry *entry, unsigned char out[DEDUP_CHUNK_HEADER]);

/* The entry of a chunk by that header, or by its lengths in the directory; false if there is no such
 * chunk. The offset is not set. */
bool dedup_chunk_entry(const unsigned char lengths[DEDUP_CHUNK_HEADER], dedup_entry *entry);

/* Where the data of a container begins. */
uint64_t dedup_data_offset(uint64_t chunks, dedup_hash hash);

/*
 * Reads and verifies header and directory of an open file: checksums, number, and that the lengths
 * fill the file exactly. The data is not read. DEDUP_DAMAGED, DEDUP_VERSION, DEDUP_FAILED.
 */
dedup_status dedup_directory_read(int fd, uint64_t number, dedup_hash hash,
                                  dedup_directory *directory);

/* Opens the container with this number, to read it; `repo`: the directory of the repository.
 * DEDUP_DAMAGED: there is none. */
dedup_status dedup_container_open(int repo, uint64_t number, int *fd);

/* Reads the header and directory of the container with this number. */
dedup_status dedup_directory_of(int repo, uint64_t number, dedup_hash hash,
                                dedup_directory *directory);

/* The names in the directory containers/. Free them: dedup_names_free(). */
dedup_status dedup_container_names(int repo, dedup_names *names);

/* Describes that the exact index and a container contradict each other; DEDUP_DAMAGED. */
dedup_status dedup_container_disagrees(uint64_t number);

/* The name of a container in the directory containers/. */
typedef struct dedup_container_name {
    char text[48];
} dedup_container_name;
dedup_container_name dedup_container_name_of(uint64_t number); /* "containers/0000000000000001" */

/* The name until it is complete: "containers/0000000000000001.new" */
dedup_container_name dedup_new_name_of(uint64_t number);

/* The number of a name in that directory; false if it is not the name of a container. */
bool dedup_container_number(const char *name, uint64_t *number);

#endif
