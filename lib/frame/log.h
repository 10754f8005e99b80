/*
 * An append-only log: records survive a crash once they are synced.
 *
 *   log    = header (64 bytes, as in every stream), records
 *   record = length u32, unsynced u32, check u64, sum u64, payload, zeros up to a multiple of 8
 *
 * check is the checksum of length and unsynced, seeded with the header's checksum plus the record's
 * offset; sum is that of payload and zeros, seeded with check. So a record is valid only at its own
 * offset in its own log, and its head can be verified without the payload.
 *
 * A crash may leave a torn tail: records that were written but not synced may be there or not, or
 * in part, in any order. open() truncates the log at the first bad record. But a record that was
 * synced must not be lost silently, so each says how many bytes before it were *not* yet known to
 * be on disk (unsynced, in units of 8 bytes). If an intact head further on says that the bad record
 * was on disk, the log is not torn but damaged: BRY_E_BADDATA, and the file is not changed. For the
 * last records, the empty record (the seal) that a clean close appends says so.
 *
 * After a failed sync nobody knows what is on disk, and a second sync may wrongly succeed: the log
 * then accepts no more records. A failed append is truncated away and the log stays usable; if that
 * fails too, the log accepts no more records.
 */
#ifndef BRY_FRAME_LOG_H
#define BRY_FRAME_LOG_H

#include "frame/frame_header.h"
#include "frame/io.h"

#define BRY__RECORD_HEAD 24u
#define BRY__RECORD_MAX ((uint32_t)1 << 24) /* bytes of payload */

typedef struct bry__log {
    const bry__io *io;
    int fd;
    bry__header header;
    uint64_t sum; /* the header's checksum */
    uint64_t end; /* where the next record goes */
    uint64_t durable; /* known to be on disk: all before this */
    uint64_t cut; /* bytes of a torn tail that open() removed */
    bool sealed; /* the last record is a seal, or there is none at all */
    bool broken;
} bry__log;

typedef struct bry__log_options {
    uint32_t kind;
    uint16_t kind_version; /* the newest version to read; new logs are written in it */
    uint64_t seed; /* of a new log; 0: random */
} bry__log_options;

/*
 * Called for each record in order; the payload is valid during the call. open() fails with any
 * status other than BRY_OK, and the file is not changed.
 */
typedef bry_status bry__log_record(void *context, const void *payload, size_t len);

/*
 * Creates an empty log in a file that does not exist. A crash may leave any part of it until a
 * record was appended and synced: then give it the name by which others know it. BRY_E_IO.
 */
bry_status bry__log_create(bry__log *log, const bry__io *io, const char *path,
                           const bry__log_options *options);

/*
 * Opens the log at `path`, which no other process may have open. load supplies the allocator and
 * the limit (for one record) and receives the problem. BRY_E_BADDATA, BRY_E_VERSION, BRY_E_LIMIT,
 * BRY_E_NOMEM, BRY_E_IO, or what `record` returned; after a failure there is nothing to close.
 */
bry_status bry__log_open(bry__log *log, const bry__io *io, const char *path,
                         const bry__log_options *options, bry__log_record *record, void *context,
                         bry_load *load);

/* BRY_E_RANGE: no bytes, or more than BRY__RECORD_MAX. BRY_E_IO: the record is not in the log. */
bry_status bry__log_append(bry__log *log, const void *payload, size_t len);

/* All records are on disk when this returns BRY_OK. BRY_E_IO: not known; the log is broken. */
bry_status bry__log_sync(bry__log *log);

/* Syncs, seals and closes. The log is closed even if this fails. */
bry_status bry__log_close(bry__log *log);

/* ---- shared by log.c and log_scan.c --------------------------------------------------------- */

typedef struct bry__record_head {
    uint32_t length;
    uint64_t durable; /* the offset below which all was on disk when the record was written */
    uint64_t check, sum;
} bry__record_head;

/* Bytes of a record with a payload of `length`. */
uint64_t bry__record_bytes(uint32_t length);

/* False: there is no record head at that offset. */
bool bry__record_decode(const unsigned char bytes[BRY__RECORD_HEAD], uint64_t log_sum,
                        uint64_t offset, bry__record_head *head);

/*
 * Reads the log of `size` bytes from its first record: calls `record`, sets *end to the end of the
 * last good record, and *sealed. Takes time linear in size, whatever the bytes are; changes
 * nothing.
 */
bry_status bry__log_scan(const bry__log *log, uint64_t size, bry__log_record *record, void *context,
                         bry_load *load, uint64_t *end, bool *sealed);

#endif
