/*
 * An append-only log: records that survive a crash once they are synced.
 *
 *   log    = header (64 bytes, as every stream's), records
 *   record = length u32, unsynced u32, check u64, sum u64, payload, zeros up to a multiple of 8
 *
 * check is the checksum of length and unsynced, seeded with the header's checksum plus the record's
 * offset; sum is that of payload and zeros, seeded with check. So a record is good in its own place
 * of its own log alone, and its head can be told for good without the payload.
 *
 * A crash may leave a torn tail: records that were written but not synced may be there, or not, or
 * in part, in any order. open() cuts the log at the first bad record. But a record that was synced
 * must not be lost without a word, so each says how much before it was *not* yet known to be on
 * disk (unsynced, in units of 8 bytes). Where an intact head further on vouches for the bad place,
 * the log is not torn but damaged: BRY_E_BADDATA, and the file stays as it is. The last records get
 * their voucher from the empty record, the seal, that a clean close appends.
 *
 * A failed sync leaves open what is on disk, and asking again may wrongly say "done": the log then
 * takes nothing more. A failed append is cut off again and the log stays in use, or, where even
 * that fails, takes nothing more either.
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
    uint16_t kind_version; /* the newest to read, and the one that a new log gets */
    uint64_t seed; /* of a new log; 0: a random one is drawn */
    bool must_exist; /* BRY_E_IO with ENOENT instead of a new log */
    const char *temporary; /* a new log is made by way of a file of this name
                              (bry__file_save_via()); NULL: of any */
} bry__log_options;

/*
 * Called for each record in order, its payload valid during the call. A status other than BRY_OK
 * ends open() with it, and the file is left as it was.
 */
typedef bry_status bry__log_record(void *context, const void *payload, size_t len);

/*
 * Opens the log at `path`, or creates it: whole or not at all, as bry__file_save() does. Holds a
 * lock on it until the close. load gives allocator and ceiling (for one record) and takes the
 * problem. BRY_E_BADDATA, BRY_E_VERSION, BRY_E_LIMIT, BRY_E_NOMEM, BRY_E_IO, or what `record`
 * returned; after a failure there is nothing to close.
 */
bry_status bry__log_open(bry__log *log, const bry__io *io, const char *path,
                         const bry__log_options *options, bry__log_record *record, void *context,
                         bry_load *load);

/* BRY_E_RANGE: no bytes, or more than BRY__RECORD_MAX. BRY_E_IO: it is not in the log. */
bry_status bry__log_append(bry__log *log, const void *payload, size_t len);

/* What was appended is on disk when this returns BRY_OK. BRY_E_IO: no telling; the log is broken.
 */
bry_status bry__log_sync(bry__log *log);

/* Syncs, seals and closes. The log is closed whatever this returns. */
bry_status bry__log_close(bry__log *log);

/* ---- shared by log.c and log_scan.c -------------------------------------------------------- */

typedef struct bry__record_head {
    uint32_t length;
    uint64_t durable; /* the offset below which all was on disk when the record was written */
    uint64_t check, sum;
} bry__record_head;

/* Bytes that a record with that payload takes. */
uint64_t bry__record_bytes(uint32_t length);

/* False: there is no record's head at that offset. */
bool bry__record_decode(const unsigned char bytes[BRY__RECORD_HEAD], uint64_t log_sum,
                        uint64_t offset, bry__record_head *head);

/*
 * Reads the log of `size` bytes from its first record on: hands out records, sets *end to the end
 * of the last good one and *sealed. The time is linear in size, whatever the bytes are; nothing is
 * changed.
 */
bry_status bry__log_scan(const bry__log *log, uint64_t size, bry__log_record *record, void *context,
                         bry_load *load, uint64_t *end, bool *sealed);

#endif
