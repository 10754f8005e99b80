/* The log: synced records are read or damage is reported; a torn tail is cut off. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/endian.h"
#include "frame/log.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/recording_io.h"

#define KIND BRY__FOUR('T', 'L', 'O', 'G')

static const bry__log_options options = {.kind = KIND, .kind_version = 1, .seed = 42};

/* Record number i is its number, and then some bytes of that value: 4 to 4 + 11 of them. */
static size_t record_len(uint32_t i)
{
    return 4 + i * 5 % 12;
}

static void make_record(uint32_t i, unsigned char bytes[16])
{
    memset(bytes, (int)(i & 0xff), 16);
    bry__store32(bytes, i);
}

/* Expects the records 0, 1, 2 … and counts them. */
static bry_status count_record(void *context, const void *payload, size_t len)
{
    uint32_t *count = context;
    unsigned char want[16];
    make_record(*count, want);
    assert_int_equal(len, record_len(*count));
    assert_memory_equal(payload, want, len);
    ++*count;
    return BRY_OK;
}

static void append(bry__log *log, uint32_t i)
{
    unsigned char bytes[16];
    make_record(i, bytes);
    assert_int_equal(bry__log_append(log, bytes, record_len(i)), BRY_OK);
}

/* An empty log. */
static void start_log(recording_io *fs)
{
    bry__log log;
    recording_init(fs);
    assert_int_equal(bry__log_create(&log, &fs->io, "log", &options), BRY_OK);
    assert_int_equal(log.header.seed, 42);
    assert_int_equal(bry__log_close(&log), BRY_OK);
    assert_int_equal(recording_get(fs, "log")->len, BRY__HEADER_BYTES);
}

/* Opens, counts, closes. */
static bry_status count_log(recording_io *fs, uint32_t *count, bry_load *load)
{
    bry__log log;
    *count = 0;
    bry_status status = bry__log_open(&log, &fs->io, "log", &options, count_record, count, load);
    if (status == BRY_OK)
        assert_int_equal(bry__log_close(&log), BRY_OK);
    assert_int_equal(recording_open_files(fs), 0);
    return status;
}

/* A closed log of n records, synced after every third. */
static void make_log(recording_io *fs, uint32_t n)
{
    bry__log log;
    recording_init(fs);
    assert_int_equal(bry__log_create(&log, &fs->io, "log", &options), BRY_OK);
    for (uint32_t i = 0; i < n; i++) {
        append(&log, i);
        if (i % 3 == 2)
            assert_int_equal(bry__log_sync(&log), BRY_OK);
    }
    assert_int_equal(bry__log_close(&log), BRY_OK);
}

/* ---- use ----------------------------------------------------------------------------------- */

TEST(round_trip)
{
    recording_io fs;
    make_log(&fs, 10);
    uint32_t count;
    assert_int_equal(count_log(&fs, &count, NULL), BRY_OK);
    assert_int_equal(count, 10);

    /* Opening and closing without an append changes nothing, since it is sealed already. */
    size_t len = recording_get(&fs, "log")->len;
    assert_int_equal(count_log(&fs, &count, NULL), BRY_OK);
    assert_int_equal(recording_get(&fs, "log")->len, len);
    assert_int_equal(len % 8, 0);

    bry__log log;
    count = 0;
    assert_int_equal(bry__log_open(&log, &fs.io, "log", &options, count_record, &count, NULL),
                     BRY_OK);
    assert_int_equal(log.header.seed, 42);
    assert_int_equal(log.cut, 0);
    for (uint32_t i = 10; i < 20; i++)
        append(&log, i);
    assert_int_equal(bry__log_append(&log, "", 0), BRY_E_RANGE);
    assert_int_equal(bry__log_append(&log, "", BRY__RECORD_MAX + 1), BRY_E_RANGE);
    assert_int_equal(bry__log_close(&log), BRY_OK);
    assert_int_equal(count_log(&fs, &count, NULL), BRY_OK);
    assert_int_equal(count, 20);
    assert_int_equal(recording_names(&fs), 1);
    recording_free(&fs);
}

TEST(on_disk)
{
    char path[] = "/tmp/bloomery-log-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    const bry__io *io = bry__io_posix();
    bry__log log;
    assert_int_equal(bry__log_create(&log, io, path, &options), BRY_OK);
    assert_int_equal(bry__log_close(&log), BRY_OK);
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t count = 0;
        assert_int_equal(bry__log_open(&log, io, path, &options, count_record, &count, NULL),
                         BRY_OK);
        assert_int_equal(count, round * 5);
        for (uint32_t i = 0; i < 5; i++)
            append(&log, round * 5 + i);
        assert_int_equal(bry__log_close(&log), BRY_OK);
    }
    /* A log is created once. */
    errno = 0;
    assert_int_equal(bry__log_create(&log, io, path, &options), BRY_E_IO);
    assert_int_equal(errno, EEXIST);
    unlink(path);
}

/* Opening creates nothing. */
TEST(must_exist)
{
    recording_io fs;
    recording_init(&fs);
    bry__log log;
    bry_load load = BRY_LOAD;
    errno = 0;
    assert_int_equal(bry__log_open(&log, &fs.io, "log", &options, count_record, NULL, &load),
                     BRY_E_IO);
    assert_int_equal(errno, ENOENT);
    assert_non_null(load.problem);
    assert_int_equal(recording_names(&fs), 0);
    recording_free(&fs);
}

TEST(random_seed)
{
    recording_io fs;
    recording_init(&fs);
    bry__log log;
    bry__log_options no_seed = options;
    no_seed.seed = 0;
    assert_int_equal(bry__log_create(&log, &fs.io, "log", &no_seed), BRY_OK);
    assert_int_not_equal(log.header.seed, 0);
    assert_int_equal(bry__log_close(&log), BRY_OK);
    recording_free(&fs);
}

/* Records on both sides of what goes out in one write, of what the scan's window holds, and the
 * longest. */
typedef struct sized {
    size_t next, count;
} sized;

static const size_t sizes[] = {1,     4071,  4072,  4073,  65511, 65512,
                               65513, 65535, 65536, 65537, 1,     BRY__RECORD_MAX};

static bry_status check_size(void *context, const void *payload, size_t len)
{
    sized *s = context;
    assert_int_equal(len, sizes[s->next]);
    const unsigned char *bytes = payload;
    assert_int_equal(bytes[0], s->next + 1);
    assert_int_equal(bytes[len - 1], s->next + 1);
    s->next++;
    return BRY_OK;
}

TEST(sizes_of_records)
{
    recording_io fs;
    start_log(&fs);
    bry__log log;
    sized s = {0};
    unsigned char *block = malloc(BRY__RECORD_MAX);
    assert_non_null(block);
    assert_int_equal(bry__log_open(&log, &fs.io, "log", &options, check_size, &s, NULL), BRY_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(block, (int)i + 1, sizes[i]);
        assert_int_equal(bry__log_append(&log, block, sizes[i]), BRY_OK);
    }
    assert_int_equal(bry__log_close(&log), BRY_OK);
    free(block);

    failing_allocator memory;
    failing_allocator_init(&memory);
    for (uint64_t n = 1;; n++) {
        failing_allocator_restart(&memory);
        memory.fail_at = n;
        bry_load load = BRY_LOAD;
        load.allocator = &memory.allocator;
        s.next = 0;
        bry_status status = bry__log_open(&log, &fs.io, "log", &options, check_size, &s, &load);
        assert_int_equal(memory.now, 0);
        if (status == BRY_OK)
            break;
        assert_int_equal(status, BRY_E_NOMEM);
        assert_non_null(load.problem);
        assert_int_equal(recording_open_files(&fs), 0);
    }
    assert_true(memory.calls >= 2);
    assert_int_equal(s.next, sizeof sizes / sizeof *sizes);
    assert_int_equal(bry__log_close(&log), BRY_OK);

    bry_load load = BRY_LOAD;
    load.max_bytes = BRY__RECORD_MAX - 1;
    s.next = 0;
    assert_int_equal(bry__log_open(&log, &fs.io, "log", &options, check_size, &s, &load),
                     BRY_E_LIMIT);
    assert_non_null(load.problem);
    assert_int_equal(s.next, sizeof sizes / sizeof *sizes - 1);
    recording_free(&fs);
}

static bry_status stop_at_third(void *context, const void *payload, size_t len)
{
    (void)payload;
    (void)len;
    return ++*(int *)context == 3 ? BRY_E_STOPPED : BRY_OK;
}

/* The caller refuses a record of a log with a torn tail: nothing is cut. */
TEST(owner_refuses)
{
    recording_io fs;
    make_log(&fs, 5);
    const recorded_file *file = recording_get(&fs, "log");
    size_t len = file->len - 1;
    unsigned char *kept = malloc(len);
    assert_non_null(kept);
    memcpy(kept, file->bytes, len);
    recording_put(&fs, "log", kept, len);
    bry__log log;
    int seen = 0;
    bry_load load = BRY_LOAD;
    assert_int_equal(bry__log_open(&log, &fs.io, "log", &options, stop_at_third, &seen, &load),
                     BRY_E_STOPPED);
    assert_non_null(load.problem);
    assert_int_equal(recording_get(&fs, "log")->len, len);
    assert_memory_equal(recording_get(&fs, "log")->bytes, kept, len);
    assert_int_equal(recording_open_files(&fs), 0);
    free(kept);
    recording_free(&fs);
}

/* ---- damage -------------------------------------------------------------------------------- */

enum { RECORDS = 8 };

/* Ends of the records of make_log(RECORDS), the seal's last. */
static void find_ends(uint64_t ends[RECORDS + 1])
{
    uint64_t at = BRY__HEADER_BYTES;
    for (uint32_t i = 0; i <= RECORDS; i++)
        ends[i] = at += i < RECORDS ? bry__record_bytes((uint32_t)record_len(i)) : BRY__RECORD_HEAD;
}

/* A cut is what a crash may leave: the records before it are read, and the log can be used
 * again. */
TEST(every_truncation)
{
    recording_io fs;
    make_log(&fs, RECORDS);
    uint64_t ends[RECORDS + 1];
    find_ends(ends);
    size_t full = recording_get(&fs, "log")->len;
    assert_int_equal(full, ends[RECORDS]);
    unsigned char *bytes = malloc(full);
    assert_non_null(bytes);
    memcpy(bytes, recording_get(&fs, "log")->bytes, full);

    for (size_t len = 0; len <= full; len++) {
        recording_put(&fs, "log", bytes, len);
        uint32_t count = 0, want = 0;
        bry_load load = BRY_LOAD;
        if (len < BRY__HEADER_BYTES) {
            assert_int_equal(count_log(&fs, &count, &load), BRY_E_BADDATA);
            assert_int_equal(load.offset, len);
            assert_int_equal(recording_get(&fs, "log")->len, len);
            continue;
        }
        while (want < RECORDS && ends[want] <= len)
            want++;
        bry__log log;
        assert_int_equal(bry__log_open(&log, &fs.io, "log", &options, count_record, &count, &load),
                         BRY_OK);
        assert_int_equal(count, want);
        assert_int_equal(log.cut, len - log.end);
        append(&log, count);
        assert_int_equal(bry__log_close(&log), BRY_OK);
        assert_int_equal(count_log(&fs, &count, &load), BRY_OK);
        assert_int_equal(count, want + 1);
    }
    free(bytes);
    recording_free(&fs);
}

/* Every bit of a closed log was on disk: a flip is refused, except in the seal, which has no
 * content.
 */
TEST(every_bit_flip)
{
    recording_io fs;
    make_log(&fs, RECORDS);
    uint64_t ends[RECORDS + 1];
    find_ends(ends);
    size_t len = recording_get(&fs, "log")->len;
    unsigned char *bytes = malloc(len);
    assert_non_null(bytes);
    memcpy(bytes, recording_get(&fs, "log")->bytes, len);
    for (size_t bit = 0; bit < len * 8; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        recording_put(&fs, "log", bytes, len);
        uint32_t count;
        bry_load load = BRY_LOAD;
        bry_status status = count_log(&fs, &count, &load);
        if (bit / 8 >= ends[RECORDS - 1]) {
            assert_int_equal(status, BRY_OK);
            assert_int_equal(count, RECORDS);
        } else {
            assert_int_equal(status, BRY_E_BADDATA);
            assert_non_null(load.problem);
            if (bit / 8 >= BRY__HEADER_BYTES)
                assert_true(load.offset <= bit / 8);
            /* The file is unchanged. */
            assert_int_equal(recording_get(&fs, "log")->len, len);
            assert_memory_equal(recording_get(&fs, "log")->bytes, bytes, len);
        }
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(bytes);
    recording_free(&fs);
}

/* The same without a close: everything after the last sync may be torn. */
TEST(flips_after_the_last_sync)
{
    recording_io fs;
    start_log(&fs);
    bry__log log;
    uint32_t count = 0;
    bry__log_open(&log, &fs.io, "log", &options, count_record, &count, NULL);
    for (uint32_t i = 0; i < RECORDS; i++) {
        append(&log, i);
        if (i == 2)
            assert_int_equal(bry__log_sync(&log), BRY_OK);
    }
    bry__io_drop(&fs.io, log.fd);
    uint64_t ends[RECORDS + 1];
    find_ends(ends);
    size_t len = recording_get(&fs, "log")->len;
    unsigned char *bytes = malloc(len);
    assert_non_null(bytes);
    memcpy(bytes, recording_get(&fs, "log")->bytes, len);
    for (size_t bit = BRY__HEADER_BYTES * 8; bit < len * 8; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        recording_put(&fs, "log", bytes, len);
        bry_status status = count_log(&fs, &count, NULL);
        uint32_t hit = 0;
        while (ends[hit] <= bit / 8)
            hit++;
        assert_int_equal(status, hit < 3 ? BRY_E_BADDATA : BRY_OK);
        assert_int_equal(count, hit);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(bytes);
    recording_free(&fs);
}

/* A record in another place or from another log is refused. */
TEST(records_keep_their_places)
{
    recording_io fs;
    make_log(&fs, 0);
    bry__log log;
    uint32_t count = 0;
    assert_int_equal(bry__log_open(&log, &fs.io, "log", &options, count_record, &count, NULL),
                     BRY_OK);
    append(&log, 0);
    uint64_t size = log.end - BRY__HEADER_BYTES;
    bry__io_drop(&fs.io, log.fd);
    unsigned char bytes[256];
    const recorded_file *file = recording_get(&fs, "log");
    memcpy(bytes, file->bytes, file->len);
    memcpy(bytes + file->len, bytes + BRY__HEADER_BYTES, size);
    recording_put(&fs, "log", bytes, file->len + size);
    assert_int_equal(count_log(&fs, &count, NULL), BRY_OK);
    assert_int_equal(count, 1);
    recording_free(&fs);
}

/*
 * A file designed to be slow: valid record headers at every possible place, each announcing all the
 * rest as its payload. The number of bytes read stays proportional to the file.
 */
typedef struct counting_io {
    bry__io io;
    recording_io *under;
    uint64_t bytes;
} counting_io;

static ssize_t counting_read_at(void *opaque, int fd, void *bytes, size_t len, uint64_t offset)
{
    counting_io *counting = opaque;
    ssize_t got = counting->under->io.read_at(counting->under, fd, bytes, len, offset);
    counting->bytes += got > 0 ? (uint64_t)got : 0;
    return got;
}

static int counting_facts(void *opaque, int fd, bry__file_facts *facts)
{
    counting_io *counting = opaque;
    return counting->under->io.facts(counting->under, fd, facts);
}

TEST(hostile_heads)
{
    enum { SIZE = 1 << 20 };
    recording_io fs;
    make_log(&fs, 0);
    unsigned char *bytes = calloc(1, SIZE);
    assert_non_null(bytes);
    memcpy(bytes, recording_get(&fs, "log")->bytes, BRY__HEADER_BYTES);
    uint64_t sum = bry__load64(bytes + 56);
    for (uint64_t at = BRY__HEADER_BYTES; at + 64 <= SIZE; at += BRY__RECORD_HEAD) {
        bry__store32(bytes + at, (uint32_t)(SIZE - at - BRY__RECORD_HEAD));
        bry__store32(bytes + at + 4, (uint32_t)(at - BRY__HEADER_BYTES) / 8);
        bry__store64(bytes + at + 8, XXH3_64bits_withSeed(bytes + at, 8, sum + at));
    }
    recording_put(&fs, "log", bytes, SIZE);

    counting_io counting = {.under = &fs};
    counting.io.opaque = &counting;
    counting.io.read_at = counting_read_at;
    counting.io.facts = counting_facts;
    bry__log log = {.io = &counting.io, .sum = sum};
    log.fd = fs.io.open(&fs, "log", 0, 0);
    uint64_t end;
    bool sealed;
    uint32_t count = 0;
    assert_int_equal(bry__log_scan(&log, SIZE, count_record, &count, NULL, &end, &sealed), BRY_OK);
    assert_int_equal(end, BRY__HEADER_BYTES);
    assert_int_equal(count, 0);
    assert_in_range(counting.bytes, 1, 4 * SIZE);
    free(bytes);
    recording_free(&fs);
}

/* Lengths beyond the limit and beyond the file, in valid headers. */
TEST(hostile_lengths)
{
    const uint32_t lengths[] = {BRY__RECORD_MAX, BRY__RECORD_MAX + 1, UINT32_MAX, 9};
    for (size_t i = 0; i < 4; i++) {
        recording_io fs;
        make_log(&fs, 0);
        unsigned char bytes[BRY__HEADER_BYTES + 32] = {0};
        unsigned char *head = bytes + BRY__HEADER_BYTES;
        memcpy(bytes, recording_get(&fs, "log")->bytes, BRY__HEADER_BYTES);
        bry__store32(head, lengths[i]);
        bry__store64(head + 8,
                     XXH3_64bits_withSeed(head, 8, bry__load64(bytes + 56) + BRY__HEADER_BYTES));
        recording_put(&fs, "log", bytes, sizeof bytes);
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_load load = BRY_LOAD;
        load.allocator = &memory.allocator;
        uint32_t count;
        assert_int_equal(count_log(&fs, &count, &load), BRY_OK);
        assert_int_equal(count, 0);
        assert_true(memory.peak < 1 << 20);
        assert_int_equal(recording_get(&fs, "log")->len, BRY__HEADER_BYTES);
        recording_free(&fs);
    }
}

/* ---- operations that fail ------------------------------------------------------------------ */

/* What is left of the file is removed by the caller. */
TEST(every_create_operation_fails)
{
    for (uint64_t n = 1;; n++) {
        recording_io fs;
        recording_init(&fs);
        fs.fail_at = n;
        bry__log log;
        errno = 0;
        bry_status status = bry__log_create(&log, &fs.io, "log", &options);
        fs.fail_at = 0;
        if (status == BRY_OK) {
            assert_true(n > 2);
            assert_int_equal(bry__log_close(&log), BRY_OK);
        } else {
            assert_int_equal(status, BRY_E_IO);
            assert_int_equal(errno, EIO);
        }
        assert_int_equal(recording_open_files(&fs), 0);
        recording_free(&fs);
        if (status == BRY_OK)
            break;
    }
}

TEST(every_open_operation_fails)
{
    for (int torn = 0; torn < 2; torn++) {
        for (uint64_t n = 1;; n++) {
            recording_io fs;
            make_log(&fs, 4);
            if (torn) {
                const recorded_file *file = recording_get(&fs, "log");
                recording_put(&fs, "log", file->bytes, file->len - BRY__RECORD_HEAD - 1);
            }
            fs.calls = 0;
            fs.fail_at = n;
            bry__log log;
            uint32_t count = 0;
            bry_load load = BRY_LOAD;
            errno = 0;
            bry_status status =
                bry__log_open(&log, &fs.io, "log", &options, count_record, &count, &load);
            bool done = fs.calls < n;
            fs.fail_at = 0;
            if (status == BRY_OK) {
                assert_int_equal(bry__log_close(&log), BRY_OK);
            } else {
                assert_int_equal(status, BRY_E_IO);
                assert_int_equal(errno, EIO);
                assert_non_null(load.problem);
            }
            assert_int_equal(recording_open_files(&fs), 0);
            assert_int_equal(count_log(&fs, &count, NULL), BRY_OK);
            assert_int_equal(count, torn ? 3 : 4);
            recording_free(&fs);
            if (done)
                break;
        }
    }
}

/* A write that fails half-way: the record is missing, and the log can be used. */
TEST(append_fails)
{
    unsigned char large[5000] = {0};
    for (int size = 0; size < 2; size++) {
        for (uint64_t write = 1; write <= (size ? 3 : 1); write++) {
            recording_io fs;
            make_log(&fs, 3);
            bry__log log;
            uint32_t count = 0;
            bry__log_open(&log, &fs.io, "log", &options, count_record, &count, NULL);
            fs.calls = 0;
            fs.fail_at = write;
            fs.fail_errno = ENOSPC;
            errno = 0;
            assert_int_equal(bry__log_append(&log, large, size ? sizeof large - 1 : 10), BRY_E_IO);
            assert_int_equal(errno, ENOSPC);
            assert_int_equal(recording_get(&fs, "log")->len, log.end);
            append(&log, 3);
            assert_int_equal(bry__log_close(&log), BRY_OK);
            assert_int_equal(count_log(&fs, &count, NULL), BRY_OK);
            assert_int_equal(count, 4);
            recording_free(&fs);
        }
    }
}

/* If the record cannot be cut off, or a sync fails, the log refuses further records. */
TEST(broken)
{
    for (int way = 0; way < 3; way++) {
        recording_io fs;
        make_log(&fs, 3);
        bry__log log;
        uint32_t count = 0;
        unsigned char bytes[16];
        bry__log_open(&log, &fs.io, "log", &options, count_record, &count, NULL);
        append(&log, 3);
        fs.calls = 0;
        fs.fail_at = 1;
        fs.keep_failing = way == 1;
        make_record(4, bytes);
        if (way < 2)
            assert_int_equal(bry__log_sync(&log), BRY_E_IO);
        if (way == 2) {
            fs.keep_failing = true;
            assert_int_equal(bry__log_append(&log, bytes, record_len(4)), BRY_E_IO);
        }
        fs.fail_at = 0; /* writes would work again, but the state of the disk is unknown */
        size_t ops = fs.op_count;
        errno = 0;
        assert_int_equal(bry__log_append(&log, bytes, record_len(4)), BRY_E_IO);
        assert_int_equal(errno, EIO);
        assert_int_equal(bry__log_sync(&log), BRY_E_IO);
        assert_int_equal(bry__log_close(&log), BRY_E_IO);
        assert_int_equal(fs.op_count, ops);
        assert_int_equal(recording_open_files(&fs), 0);
        assert_int_equal(count_log(&fs, &count, NULL), BRY_OK);
        assert_int_equal(count, 4);
        recording_free(&fs);
    }
}

TEST(short_and_interrupted)
{
    recording_io fs;
    recording_init(&fs);
    fs.at_most = 5;
    fs.interrupt = true;
    bry__log log;
    uint32_t count;
    assert_int_equal(bry__log_create(&log, &fs.io, "log", &options), BRY_OK);
    for (uint32_t i = 0; i < 20; i++)
        append(&log, i);
    assert_int_equal(bry__log_close(&log), BRY_OK);
    assert_int_equal(count_log(&fs, &count, NULL), BRY_OK);
    assert_int_equal(count, 20);
    recording_free(&fs);
}
