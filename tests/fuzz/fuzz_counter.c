/*
 * Loads a table of counters, or opens a directory, from arbitrary bytes. The first byte of an input
 * says how to use the rest:
 *
 *   bits 0–1  0: a stream
 *             1: a log
 *             2: a snapshot and a log; the first two bytes give the snapshot's length
 *             3: as 2, and the log's header is made to match the snapshot
 *   bit 2     correct the checksums first, including those of the window in a stream
 *   bit 3     make the header one that the reader accepts
 *
 * An accepted input is used, saved and loaded again.
 */
#include "common/endian.h"
#include "counter/counter_object.h"
#include "frame/frame.h"
#include "support/fuzz_input.h"
#include "support/like.h"
#include "support/recording_io.h"
#include "support/repair.h"

#define STREAM_KIND BRY__FOUR('C', 'N', 'T', 'R')
#define LOG_KIND BRY__FOUR('C', 'L', 'O', 'G')

enum { LIMIT = 1 << 22 };

/* ---- making it look right ------------------------------------------------------------------- */

/* The payload of the first frame of this type, or NULL. */
static unsigned char *frame_of(unsigned char *bytes, size_t len, uint32_t type, size_t *length)
{
    size_t at = BRY__HEADER_BYTES;
    while (at < len && len - at >= BRY__FRAME_OVERHEAD) {
        *length = bry__load32(bytes + at + 4);
        if (*length > len - at - BRY__FRAME_OVERHEAD)
            return NULL;
        if (bry__load32(bytes + at) == type)
            return bytes + at + 16;
        at += BRY__FRAME_OVERHEAD + *length;
    }
    return NULL;
}

static void mend_stream(unsigned char *bytes, size_t len, unsigned mode)
{
    size_t length;
    if (mode & 8)
        repair_header(bytes, len, STREAM_KIND);
    if (!(mode & 4))
        return;
    unsigned char *window = frame_of(bytes, len, BRY__FOUR('W', 'I', 'N', 'D'), &length);
    if (window)
        repair_stream(window, length);
    repair_stream(bytes, len);
}

static void mend_log(unsigned char *bytes, size_t len, unsigned mode)
{
    if (mode & 8)
        repair_header(bytes, len, LOG_KIND);
    if (mode & 4)
        repair_log(bytes, len, SIZE_MAX);
}

/* Number and options of the snapshot's table in the log's first record. */
static void marry(unsigned char *snapshot, size_t snapshot_len, unsigned char *log, size_t log_len)
{
    size_t length;
    const unsigned char *numbers =
        frame_of(snapshot, snapshot_len, BRY__FOUR('N', 'U', 'M', 'S'), &length);
    if (!numbers || length != 144 || log_len < 64 + 24 + 80)
        return;
    unsigned char *base = log + 64 + 24;
    memcpy(base + 24, numbers + 120, 8);
    base[40] = numbers[0];
    memcpy(base + 48, numbers + 8, 24);
    memcpy(base + 72, snapshot + 24, 8);
}

/* ---- using it ------------------------------------------------------------------------------- */

static bool is_of_data(bry_status status)
{
    return status == BRY_E_BADDATA || status == BRY_E_VERSION || status == BRY_E_LIMIT;
}

/* Any status except out of memory: values near the limits may be refused. */
static void use(bry_counters *counters)
{
    uint64_t now = bry_counters_time(counters);
    bry_counters_options options = counters_like(counters);
    bry_counters_shape shape = {0};
    options.max_bytes = 0;
    MUST(bry_counters_plan(&options, &shape) == BRY_OK);
    /* A table planned for billions takes that memory with the first addition. */
    for (uint64_t i = 0; i < 4 && shape.bytes <= LIMIT; i++) {
        bry_status status = bry_counters_apply(counters, bry_hash_key(1, &i, sizeof i), "name", 4,
                                               1, now + i, NULL, NULL);
        MUST(status == BRY_OK || status == BRY_E_OVERFLOW || status == BRY_E_SKEW ||
             status == BRY_E_FULL);
    }
    bry_counters_entry entries[7];
    uint64_t cursor = 0, listed = 0;
    do
        listed += bry_counters_scan(counters, &cursor, entries, 7);
    while (cursor != 0);
    bry_counters_stats stats = {0};
    bry_counters_get_stats(counters, &stats);
    MUST(stats.counters == listed);
}

static bry_buffer image(const bry_counters *counters)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    MUST(bry_counters_save(counters, &sink, NULL) == BRY_OK);
    return buffer;
}

static void run_stream(unsigned char *bytes, size_t len, unsigned mode)
{
    mend_stream(bytes, len, mode);
    bry_view view = {bytes, len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    load.max_bytes = LIMIT;
    bry_counters *counters, *again;
    bry_status status = bry_counters_load(&source, &load, &counters);
    if (status != BRY_OK) {
        MUST(is_of_data(status) && load.problem);
        return;
    }
    use(counters);
    bry_buffer first = image(counters);
    bry_view saved = {first.bytes, first.len, 0};
    source = bry_view_source(&saved);
    MUST(bry_counters_load(&source, NULL, &again) == BRY_OK);
    bry_buffer second = image(again);
    MUST(first.len == second.len && memcmp(first.bytes, second.bytes, first.len) == 0);
    bry_buffer_free(&first);
    bry_buffer_free(&second);
    bry_counters_destroy(counters);
    bry_counters_destroy(again);
}

static void run_dir(recording_io *fs)
{
    bry_load load = BRY_LOAD;
    load.max_bytes = LIMIT;
    bry_counters *counters;
    bry_status status = bry__counter_open(&fs->io, "t", NULL, &load, &counters);
    if (status != BRY_OK) {
        MUST(is_of_data(status) && load.problem);
        return;
    }
    use(counters);
    MUST(bry_counters_snapshot(counters) == BRY_OK);
    use(counters);
    bry_counters_stats before = {0}, after = {0};
    bry_counters_get_stats(counters, &before);
    bry_counters_destroy(counters);
    MUST(bry__counter_open(&fs->io, "t", NULL, NULL, &counters) == BRY_OK);
    bry_counters_get_stats(counters, &after);
    MUST(after.applied == before.applied && after.repeats == before.repeats &&
         after.counters == before.counters && after.ids == before.ids && after.time == before.time);
    bry_counters_destroy(counters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    unsigned mode = data[0];
    size_t len = size - 1;
    unsigned char *bytes = fuzz_copy(data + 1, len);
    if ((mode & 3) == 0) {
        run_stream(bytes, len, mode);
    } else {
        static recording_io fs;
        recording_init(&fs);
        unsigned char *log = bytes;
        if (mode & 2) {
            size_t split = bry__load16(bytes) % (len - 1);
            unsigned char *snapshot = bytes + 2;
            log = snapshot + split;
            len -= 2 + split;
            if ((mode & 3) == 3)
                marry(snapshot, split, log, len);
            mend_stream(snapshot, split, mode);
            recording_put(&fs, "t/snapshot", snapshot, split);
        }
        mend_log(log, len, mode);
        recording_put(&fs, "t/log", log, len);
        run_dir(&fs);
        MUST(recording_open_files(&fs) == 0);
        recording_free(&fs);
    }
    free(bytes);
    return 0;
}
