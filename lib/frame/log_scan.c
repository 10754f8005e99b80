#include <xxhash.h>

#include "common/allocator.h"
#include "common/endian.h"
#include "frame/frame.h"
#include "frame/log.h"

uint64_t bry__record_bytes(uint32_t length)
{
    return BRY__RECORD_HEAD + (((uint64_t)length + 7) & ~(uint64_t)7);
}

bool bry__record_decode(const unsigned char bytes[BRY__RECORD_HEAD], uint64_t log_sum,
                        uint64_t offset, bry__record_head *head)
{
    uint32_t length = bry__load32(bytes);
    uint64_t unsynced = (uint64_t)bry__load32(bytes + 4) * 8;
    if (length > BRY__RECORD_MAX || unsynced > offset - BRY__HEADER_BYTES)
        return false;
    uint64_t check = XXH3_64bits_withSeed(bytes, 8, log_sum + offset);
    if (check != bry__load64(bytes + 8))
        return false;
    *head = (bry__record_head){length, offset - unsynced, check, bry__load64(bytes + 16)};
    return true;
}

/* ---- the records, in order ----------------------------------------------------------------- */

/*
 * Large enough that a scan of small records is not dominated by system calls. The window only moves
 * forward; a record that does not fit has a buffer of its own.
 */
enum { WINDOW = 65536 };

typedef struct scanner {
    const bry__log *log;
    uint64_t size;
    bry_allocator allocator;
    unsigned char *window;
    uint64_t window_at;
    size_t window_len;
    unsigned char *large;
    size_t large_size;
} scanner;

/* len bytes at offset, all of them within the file; len is at most WINDOW. */
static bry_status log_scan_look(scanner *s, uint64_t offset, size_t len,
                                const unsigned char **bytes)
{
    if (offset < s->window_at || offset + len > s->window_at + s->window_len) {
        size_t got;
        s->window_len = 0;
        bry_status status =
            bry__io_read_at(s->log->io, s->log->fd, s->window, WINDOW, offset, &got);
        if (status != BRY_OK)
            return status;
        s->window_at = offset;
        s->window_len = got;
        if (got < len)
            return BRY_E_BADDATA; /* the file shrank while it was read */
    }
    *bytes = s->window + (offset - s->window_at);
    return BRY_OK;
}

static bry_status log_scan_look_large(scanner *s, uint64_t offset, size_t len,
                                      const unsigned char **bytes)
{
    if (len > s->large_size) {
        bry__free(&s->allocator, s->large, s->large_size);
        s->large_size = 0;
        s->large = bry__alloc_buffer(&s->allocator, len);
        if (!s->large)
            return BRY_E_NOMEM;
        s->large_size = len;
    }
    size_t got;
    bry_status status = bry__io_read_at(s->log->io, s->log->fd, s->large, len, offset, &got);
    if (status != BRY_OK)
        return status;
    if (got < len)
        return BRY_E_BADDATA;
    *bytes = s->large;
    return BRY_OK;
}

static const char *log_scan_problem(bry_status status)
{
    switch (status) {
    case BRY_E_NOMEM:
        return "out of memory";
    case BRY_E_BADDATA:
        return "the log shrank while it was read";
    default:
        return "the log cannot be read";
    }
}

/* Reads the record at *at and advances; *good is false if there is none. */
static bry_status log_scan_record(scanner *s, uint64_t *at, bry__log_record *record, void *context,
                                  bry_load *load, bool *good, bool *sealed)
{
    *good = false;
    const unsigned char *bytes;
    bry__record_head head;
    if (s->size - *at < BRY__RECORD_HEAD)
        return BRY_OK;
    bry_status status = log_scan_look(s, *at, BRY__RECORD_HEAD, &bytes);
    if (status != BRY_OK)
        return bry__load_fail(load, status, *at, log_scan_problem(status));
    if (!bry__record_decode(bytes, s->log->sum, *at, &head) ||
        bry__record_bytes(head.length) > s->size - *at)
        return BRY_OK;
    if (load && load->max_bytes && head.length > load->max_bytes)
        return bry__load_fail(load, BRY_E_LIMIT, *at, "a record is larger than the limit");

    size_t padded = (size_t)(bry__record_bytes(head.length) - BRY__RECORD_HEAD);
    status = padded <= WINDOW ? log_scan_look(s, *at + BRY__RECORD_HEAD, padded, &bytes)
                              : log_scan_look_large(s, *at + BRY__RECORD_HEAD, padded, &bytes);
    if (status != BRY_OK)
        return bry__load_fail(load, status, *at, log_scan_problem(status));
    if (XXH3_64bits_withSeed(bytes, padded, head.check) != head.sum)
        return BRY_OK;
    if (head.length) {
        status = record(context, bytes, head.length);
        if (status != BRY_OK)
            return bry__load_fail(load, status, *at, "a record was rejected");
    }
    *good = true;
    *sealed = head.length == 0;
    *at += BRY__RECORD_HEAD + padded;
    return BRY_OK;
}

/* ---- after a bad record -------------------------------------------------------------------- */

/*
 * Looks for an intact head after `bad` that says that `bad` was on disk. Heads are at multiples
 * of 8 and are verified without their payload, so this is one pass.
 */
static bry_status log_find_voucher(scanner *s, uint64_t bad, bool *found)
{
    *found = false;
    for (uint64_t at = bad + 8; at < s->size && s->size - at >= BRY__RECORD_HEAD; at += 8) {
        const unsigned char *bytes;
        bry__record_head head;
        bry_status status = log_scan_look(s, at, BRY__RECORD_HEAD, &bytes);
        if (status != BRY_OK)
            return status;
        if (bry__record_decode(bytes, s->log->sum, at, &head) && head.durable > bad) {
            *found = true;
            return BRY_OK;
        }
    }
    return BRY_OK;
}

static bry_status log_scan_records(scanner *s, bry__log_record *record, void *context,
                                   bry_load *load, uint64_t *end, bool *sealed)
{
    uint64_t at = BRY__HEADER_BYTES;
    bool good = true;
    *sealed = true;
    while (good && at < s->size) {
        bry_status status = log_scan_record(s, &at, record, context, load, &good, sealed);
        if (status != BRY_OK)
            return status;
    }
    if (!good) {
        bool found;
        bry_status status = log_find_voucher(s, at, &found);
        if (status != BRY_OK)
            return bry__load_fail(load, status, at, log_scan_problem(status));
        if (found)
            return bry__load_fail(load, BRY_E_BADDATA, at, "a record that was on disk is damaged");
    }
    *end = at;
    return BRY_OK;
}

bry_status bry__log_scan(const bry__log *log, uint64_t size, bry__log_record *record, void *context,
                         bry_load *load, uint64_t *end, bool *sealed)
{
    scanner s = {.log = log, .size = size};
    s.allocator = bry__allocator_or_default(load ? load->allocator : NULL);
    s.window = bry__alloc_buffer(&s.allocator, WINDOW);
    if (!s.window)
        return bry__load_fail(load, BRY_E_NOMEM, 0, log_scan_problem(BRY_E_NOMEM));
    bry_status status = log_scan_records(&s, record, context, load, end, sealed);
    bry__free(&s.allocator, s.window, WINDOW);
    bry__free(&s.allocator, s.large, s.large_size);
    return status;
}
