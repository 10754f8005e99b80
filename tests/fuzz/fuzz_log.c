/*
 * Opens a log of arbitrary bytes. The first byte of an input says how to use the rest:
 *
 *   bit 0     correct the checksums first
 *   bit 1     make a header that the reader accepts
 *   bits 2–5  with bit 0: do not correct the record of this number minus one
 *   bit 6     a limit of 64 bytes per record
 *
 * A log that opens must accept another record and return all of them; one that does not open must
 * be unchanged.
 */
#include <xxhash.h>

#include "frame/log.h"
#include "support/fuzz_input.h"
#include "support/recording_io.h"
#include "support/repair.h"

#define KIND BRY__FOUR('G', 'L', 'O', 'G')

/* A digest of all records, in order. */
typedef struct digest {
    uint64_t count, sum;
} digest;

static bry_status take_record(void *context, const void *payload, size_t len)
{
    digest *d = context;
    MUST(len > 0 && len <= BRY__RECORD_MAX);
    d->count++;
    d->sum = XXH3_64bits_withSeed(payload, len, d->sum);
    return BRY_OK;
}

static void use_log(recording_io *fs, bry__log *log, const bry__log_options *options,
                    const digest *found)
{
    digest want = *found, again = {0};
    take_record(&want, "one more", 8);
    MUST(bry__log_append(log, "one more", 8) == BRY_OK);
    MUST(bry__log_close(log) == BRY_OK);
    MUST(bry__log_open(log, &fs->io, "log", options, take_record, &again, NULL) == BRY_OK);
    MUST(log->cut == 0);
    MUST(again.count == want.count && again.sum == want.sum);
    MUST(bry__log_close(log) == BRY_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    unsigned mode = data[0];
    size_t len = size - 1;
    unsigned char *bytes = fuzz_copy(data + 1, len);
    if (mode & 2)
        repair_header(bytes, len, KIND);
    if (mode & 1)
        repair_log(bytes, len, (size_t)(mode >> 2 & 15) - 1);

    static recording_io fs;
    recording_init(&fs);
    recording_put(&fs, "log", bytes, len);
    bry__log_options options = {.kind = KIND, .kind_version = 1};
    bry_load load = BRY_LOAD;
    load.max_bytes = mode & 64 ? 64 : 0;
    bry__log log;
    digest found = {0};
    bry_status status = bry__log_open(&log, &fs.io, "log", &options, take_record, &found, &load);
    if (status == BRY_OK) {
        MUST(!load.problem && log.end + log.cut == len && log.end % 8 == 0);
        use_log(&fs, &log, &options, &found);
    } else {
        MUST(load.problem && load.offset <= len);
        MUST(status == BRY_E_BADDATA || status == BRY_E_VERSION ||
             (status == BRY_E_LIMIT && load.max_bytes));
        const recorded_file *file = recording_get(&fs, "log");
        MUST(file->len == len && memcmp(file->bytes, bytes, len) == 0);
    }
    MUST(recording_open_files(&fs) == 0);
    recording_free(&fs);
    free(bytes);
    return 0;
}
