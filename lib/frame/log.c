#include "frame/log.h"

#include <errno.h>
#include <fcntl.h>
#include <xxhash.h>

#include "common/endian.h"
#include "common/random.h"
#include "frame/frame.h"
#include "hash/derive.h"

/* ---- opening ------------------------------------------------------------------------------- */

bry_status bry__log_create(bry__log *log, const bry__io *io, const char *path,
                           const bry__log_options *options)
{
    *log = (bry__log){
        .io = io,
        .fd = -1,
        .header = {.format = BRY__FORMAT_REVISION,
                   .hash_scheme = BRY__HASH_SCHEME,
                   .kind = options->kind,
                   .kind_version = options->kind_version,
                   .seed = options->seed},
        .end = BRY__HEADER_BYTES,
        .durable = BRY__HEADER_BYTES, /* with the first record */
        .sealed = true,
    };
    unsigned char bytes[BRY__HEADER_BYTES];
    bry_status status = BRY_OK;
    if (log->header.seed == 0)
        status = bry__random_seed(&log->header.seed);
    if (status == BRY_OK)
        status = bry__io_open(io, path, O_RDWR | O_CREAT | O_EXCL, 0666, &log->fd);
    if (status != BRY_OK)
        return status;
    log->sum = bry__header_encode(&log->header, bytes);
    status = bry__io_write_at(io, log->fd, bytes, sizeof bytes, 0);
    if (status != BRY_OK)
        bry__io_drop(io, log->fd);
    return status;
}

static bry_status log_read_header(bry__log *log, const bry__log_options *options, uint64_t *size,
                                  bry_load *load)
{
    bry__file_facts facts;
    if (log->io->facts(log->io->opaque, log->fd, &facts) < 0)
        return bry__load_fail(load, BRY_E_IO, 0, "the log cannot be read");
    unsigned char bytes[BRY__HEADER_BYTES];
    size_t got;
    if (bry__io_read_at(log->io, log->fd, bytes, sizeof bytes, 0, &got) != BRY_OK)
        return bry__load_fail(load, BRY_E_IO, 0, "the log cannot be read");
    if (got < sizeof bytes)
        return bry__load_fail(load, BRY_E_BADDATA, got, bry__header_short(bytes, got));

    bry__header_wants wants = {options->kind, options->kind_version};
    const char *problem;
    uint64_t at;
    bry_status status = bry__header_decode(bytes, &wants, &log->header, &log->sum, &problem, &at);
    if (status != BRY_OK)
        return bry__load_fail(load, status, at, problem);
    *size = facts.size;
    return BRY_OK;
}

/*
 * What was read may be only in the system's cache (after a process crash): it is synced before the
 * first new record says that it is on disk. The same sync makes the truncation durable: if it were
 * undone after an append, old records could show up after the new ones.
 */
static bry_status log_settle(bry__log *log, uint64_t size, bry_load *load)
{
    if (log->end < size) {
        if (bry__io_truncate(log->io, log->fd, log->end) != BRY_OK)
            return bry__load_fail(load, BRY_E_IO, log->end, "the torn tail cannot be truncated");
        log->cut = size - log->end;
    }
    if (bry__io_sync(log->io, log->fd) != BRY_OK)
        return bry__load_fail(load, BRY_E_IO, log->end, "the log cannot be synced");
    log->durable = log->end;
    return BRY_OK;
}

bry_status bry__log_open(bry__log *log, const bry__io *io, const char *path,
                         const bry__log_options *options, bry__log_record *record, void *context,
                         bry_load *load)
{
    *log = (bry__log){.io = io, .fd = -1};
    bry_status status = bry__io_open(io, path, O_RDWR, 0, &log->fd);
    if (status != BRY_OK)
        return bry__load_fail(load, status, 0, "the log cannot be opened");
    uint64_t size = 0;
    status = log_read_header(log, options, &size, load);
    if (status == BRY_OK)
        status = bry__log_scan(log, size, record, context, load, &log->end, &log->sealed);
    if (status == BRY_OK)
        status = log_settle(log, size, load);
    if (status != BRY_OK) {
        bry__io_drop(io, log->fd);
        log->fd = -1;
    }
    return status;
}

/* ---- appending ----------------------------------------------------------------------------- */

/* Small records are written in one call, so that even when torn most are complete or absent. */
enum { SMALL = 4096 };

static bry_status log_write_record(bry__log *log, const void *payload, uint32_t len)
{
    unsigned char bytes[SMALL] = {0};
    uint64_t unsynced = (log->end - log->durable) / 8;
    size_t padded = (size_t)(bry__record_bytes(len) - BRY__RECORD_HEAD);
    bry__store32(bytes, len);
    bry__store32(bytes + 4, unsynced < UINT32_MAX ? (uint32_t)unsynced : UINT32_MAX);
    uint64_t check = XXH3_64bits_withSeed(bytes, 8, log->sum + log->end);
    bry__store64(bytes + 8, check);

    if (BRY__RECORD_HEAD + padded <= SMALL) {
        if (len)
            memcpy(bytes + BRY__RECORD_HEAD, payload, len);
        bry__store64(bytes + 16, XXH3_64bits_withSeed(bytes + BRY__RECORD_HEAD, padded, check));
        return bry__io_write_at(log->io, log->fd, bytes, BRY__RECORD_HEAD + padded, log->end);
    }

    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return BRY_E_NOMEM;
    static const unsigned char zeros[8];
    XXH3_64bits_reset_withSeed(state, check);
    XXH3_64bits_update(state, payload, len);
    XXH3_64bits_update(state, zeros, padded - len);
    bry__store64(bytes + 16, XXH3_64bits_digest(state));
    XXH3_freeState(state);
    uint64_t at = log->end;
    bry_status status = bry__io_write_at(log->io, log->fd, bytes, BRY__RECORD_HEAD, at);
    if (status == BRY_OK)
        status = bry__io_write_at(log->io, log->fd, payload, len, at + BRY__RECORD_HEAD);
    if (status == BRY_OK)
        status =
            bry__io_write_at(log->io, log->fd, zeros, padded - len, at + BRY__RECORD_HEAD + len);
    return status;
}

static bry_status log_refuse_broken(void)
{
    errno = EIO;
    return BRY_E_IO;
}

/* Removes what a failed write left, durably: see log_settle(). */
static void log_cut_back(bry__log *log)
{
    int kept = errno;
    if (bry__io_truncate(log->io, log->fd, log->end) != BRY_OK ||
        bry__io_sync(log->io, log->fd) != BRY_OK)
        log->broken = true;
    else
        log->durable = log->end;
    errno = kept;
}

bry_status bry__log_append(bry__log *log, const void *payload, size_t len)
{
    if (len == 0 || len > BRY__RECORD_MAX)
        return BRY_E_RANGE;
    if (log->broken)
        return log_refuse_broken();
    bry_status status = log_write_record(log, payload, (uint32_t)len);
    if (status == BRY_E_IO)
        log_cut_back(log);
    if (status != BRY_OK)
        return status;
    log->end += bry__record_bytes((uint32_t)len);
    log->sealed = false;
    return BRY_OK;
}

bry_status bry__log_sync(bry__log *log)
{
    if (log->broken)
        return log_refuse_broken();
    if (log->durable == log->end)
        return BRY_OK;
    if (bry__io_sync(log->io, log->fd) != BRY_OK) {
        log->broken = true;
        return BRY_E_IO;
    }
    log->durable = log->end;
    return BRY_OK;
}

bry_status bry__log_close(bry__log *log)
{
    bry_status status = bry__log_sync(log);
    /* The seal is only a hint for the next open(): without it nothing is lost, so its failure is
     * ignored. */
    if (status == BRY_OK && !log->sealed && log_write_record(log, NULL, 0) != BRY_OK)
        log_cut_back(log);
    int kept = errno;
    if (log->io->close(log->io->opaque, log->fd) < 0 && errno != EINTR && status == BRY_OK) {
        status = BRY_E_IO;
        kept = errno;
    }
    errno = kept;
    log->fd = -1;
    return status;
}
