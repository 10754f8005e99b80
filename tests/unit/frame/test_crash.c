/* After any crash, a file has its old or its new content, and a log a prefix of its records.
 */
#include <string.h>

#include "common/endian.h"
#include "frame/file.h"
#include "frame/frame.h"
#include "frame/log.h"
#include "support/cmocka_all.h"
#include "support/crash_states.h"

#define KIND BRY__FOUR('T', 'E', 'S', 'T')
#define TYPE BRY__FOUR('D', 'A', 'T', 'A')

/* ---- files --------------------------------------------------------------------------------- */

typedef struct content {
    unsigned char value;
    size_t len;
} content;

static bry_status write_content(void *context, const bry_sink *sink)
{
    static unsigned char block[50000];
    const content *c = context;
    memset(block, c->value, c->len);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, sink, NULL, KIND, 1, 3);
    bry__frame_writer_write(&writer, TYPE, block, c->len);
    bry__frame_writer_write(&writer, TYPE, &c->value, 1);
    return bry__frame_writer_end(&writer);
}

/* The value of the content, which must be complete. */
static bry_status read_content(void *context, const bry_source *source, bry_load *load)
{
    static unsigned char block[50000];
    unsigned char last = 0;
    bry__frame_reader reader;
    bry__frame frame;
    bry__frame_reader_open(&reader, source, load, KIND, 1);
    if (bry__frame_reader_next(&reader, &frame) == BRY_OK)
        bry__frame_reader_read(&reader, block, frame.length);
    bry__frame_reader_read_frame(&reader, TYPE, &last, 1);
    bry__frame_reader_end(&reader);
    bry__frame_reader_close(&reader);
    if (reader.status == BRY_OK)
        *(unsigned char *)context = last;
    return reader.status;
}

typedef struct tally {
    size_t old, new, absent;
    bool may_be_absent;
} tally;

/* A mark says that the save has returned: from then on it is the new content. */
static void check_file(void *context, const crash_state *state)
{
    tally *seen = context;
    unsigned char value = 0;
    if (seen->may_be_absent && !recording_get(state->fs, "file")) {
        assert_false(state->marked);
        seen->absent++;
        return;
    }
    assert_int_equal(bry__file_load(&state->fs->io, "file", read_content, &value, NULL), BRY_OK);
    if (state->marked)
        assert_int_equal(value, 2);
    seen->old += value == 1;
    seen->new += value == 2;
    assert_true(value == 1 || value == 2);
    /* And it can be saved to again. */
    content third = {3, 10};
    assert_int_equal(bry__file_save(&state->fs->io, "file", write_content, &third), BRY_OK);
    assert_int_equal(bry__file_load(&state->fs->io, "file", read_content, &value, NULL), BRY_OK);
    assert_int_equal(value, 3);
}

TEST(replace_file)
{
    content old = {1, 30000}, new = {2, 50000};
    for (int portions = 0; portions < 2; portions++) {
        recording_io fs;
        recording_init(&fs);
        assert_int_equal(bry__file_save(&fs.io, "file", write_content, &old), BRY_OK);
        recording_start(&fs);
        fs.at_most = portions ? 11000 : 0; /* more writes, so that more can go missing */
        assert_int_equal(bry__file_save(&fs.io, "file", write_content, &new), BRY_OK);
        recording_mark(&fs, 1, 0);
        tally seen = {0};
        size_t states = crash_states(&fs, check_file, &seen);
        assert_int_equal(states, seen.old + seen.new);
        assert_true(seen.old > 20);
        assert_true(seen.new >= 2); /* the rename made it to disk before its sync, and after */
        recording_free(&fs);
    }
}

TEST(first_file)
{
    content new = {2, 20000};
    recording_io fs;
    recording_init(&fs);
    recording_start(&fs);
    assert_int_equal(bry__file_save(&fs.io, "file", write_content, &new), BRY_OK);
    recording_mark(&fs, 1, 0);
    tally seen = {.may_be_absent = true};
    size_t states = crash_states(&fs, check_file, &seen);
    assert_int_equal(states, seen.absent + seen.new);
    assert_true(seen.absent > 10);
    assert_true(seen.new >= 2);
    recording_free(&fs);
}

/* A save that skips a step must be detected. */
static void count_bad(void *context, const crash_state *state)
{
    unsigned char value = 0;
    bry_status status = bry__file_load(&state->fs->io, "file", read_content, &value, NULL);
    bool third = status != BRY_OK || (value != 1 && value != 2);
    bool lost = state->marked && value != 2;
    *(size_t *)context += third || lost;
}

TEST(missing_syncs_are_caught)
{
    content old = {1, 30000}, new = {2, 50000};
    for (int way = 0; way < 3; way++) {
        recording_io fs;
        recording_init(&fs);
        assert_int_equal(bry__file_save(&fs.io, "file", write_content, &old), BRY_OK);
        recording_start(&fs);
        bry__io io = fs.io;
        if (way == 1)
            io.sync = skip_sync;
        if (way == 2)
            io.sync_dir = skip_dir_sync;
        assert_int_equal(bry__file_save(&io, "file", write_content, &new), BRY_OK);
        recording_mark(&fs, 1, 0);
        size_t bad = 0;
        crash_states(&fs, count_bad, &bad);
        assert_true((bad > 0) == (way > 0));
        recording_free(&fs);
    }
}

/* ---- logs ---------------------------------------------------------------------------------- */

static const bry__log_options options = {.kind = KIND, .kind_version = 1, .seed = 7};

static size_t record_len(uint32_t i)
{
    return i % 4 == 3 ? 4200 + i : 4 + i * 7 % 60; /* some take three writes */
}

static const unsigned char *make_record(uint32_t i)
{
    static unsigned char bytes[5000];
    memset(bytes, (int)i + 1, sizeof bytes);
    bry__store32(bytes, i);
    return bytes;
}

static bry_status count_record(void *context, const void *payload, size_t len)
{
    uint32_t *count = context;
    assert_int_equal(len, record_len(*count));
    assert_memory_equal(payload, make_record(*count), len);
    ++*count;
    return BRY_OK;
}

typedef struct log_tally {
    size_t states, cut, whole;
    uint32_t guaranteed, most; /* for states without marks */
    int depth; /* how many crashes in a row */
} log_tally;

static void append(bry__log *log, uint32_t i)
{
    assert_int_equal(bry__log_append(log, make_record(i), record_len(i)), BRY_OK);
}

/* A second crash follows one in this many states. Under a sanitizer all would take 4 seconds, and
 * take
   the same paths. */
#ifdef __SANITIZE_ADDRESS__
enum { SECOND_CRASHES = 7 };
#else
enum { SECOND_CRASHES = 1 };
#endif

/*
 * Marks say (first) how many records were synced and (second) how many appends have begun. Opening
 * must give a number of records between the two, and accept more afterwards. So must opening after
 * a crash during that.
 */
static void check_log(void *context, const crash_state *state)
{
    log_tally *seen = context;
    uint32_t least = state->marked ? (uint32_t)state->first : seen->guaranteed;
    uint32_t most = state->marked ? (uint32_t)state->second : seen->most;
    recording_io *fs = state->fs;
    bry__log log;
    uint32_t count = 0;
    size_t number = seen->states++;
    assert_int_equal(bry__log_open(&log, &fs->io, "log", &options, count_record, &count, NULL),
                     BRY_OK);
    assert_in_range(count, least, most);
    seen->cut += log.cut > 0;
    seen->whole += count == most;
    uint32_t first = count;
    recording_mark(fs, count, count + 1);
    append(&log, count);
    assert_int_equal(bry__log_sync(&log), BRY_OK);
    recording_mark(fs, count + 1, count + 1);
    assert_int_equal(bry__log_close(&log), BRY_OK);

    if (seen->depth > 1 && number % SECOND_CRASHES == 0) {
        log_tally next = {.guaranteed = first, .most = first, .depth = seen->depth - 1};
        next.guaranteed =
            least; /* until the open has returned it may find fewer than it did here */
        crash_states(fs, check_log, &next);
        seen->states += next.states;
    }
    count = 0;
    assert_int_equal(bry__log_open(&log, &fs->io, "log", &options, count_record, &count, NULL),
                     BRY_OK);
    assert_int_equal(count, first + 1);
    assert_int_equal(bry__log_close(&log), BRY_OK);
}

/* An empty log in fs. */
static void start_log(recording_io *fs)
{
    bry__log log;
    recording_init(fs);
    assert_int_equal(bry__log_create(&log, &fs->io, "log", &options), BRY_OK);
    assert_int_equal(bry__log_close(&log), BRY_OK);
}

/* Appends `n` records to the log in fs, a sync after every `batch`, marks around each step. */
static void record_appends(recording_io *fs, uint32_t from, uint32_t n, uint32_t batch, bool close)
{
    bry__log log;
    uint32_t count = 0, synced = from;
    assert_int_equal(bry__log_open(&log, &fs->io, "log", &options, count_record, &count, NULL),
                     BRY_OK);
    assert_int_equal(count, from);
    for (uint32_t i = from; i < from + n; i++) {
        recording_mark(fs, synced, i + 1);
        append(&log, i);
        if ((i + 1 - from) % batch == 0) {
            assert_int_equal(bry__log_sync(&log), BRY_OK);
            synced = i + 1;
            recording_mark(fs, synced, i + 1);
        }
    }
    if (close) {
        assert_int_equal(bry__log_close(&log), BRY_OK);
        recording_mark(fs, from + n, from + n);
    } else {
        bry__io_drop(&fs->io, log.fd);
    }
}

TEST(append_to_log)
{
    for (uint32_t batch = 1; batch <= 5; batch++) {
        recording_io fs;
        start_log(&fs);
        recording_start(&fs);
        record_appends(&fs, 0, 11, batch, batch % 2);
        log_tally seen = {.depth = 1};
        crash_states(&fs, check_log, &seen);
        assert_true(seen.states > 100);
        assert_true(seen.cut > 10);
        assert_true(seen.whole > 10);
        recording_free(&fs);
    }
}

/*
 * The process dies without a sync, another opens the log, and then the machine stops: the records
 * that the second one has seen must be on disk.
 */
TEST(death_then_crash)
{
    recording_io fs;
    start_log(&fs);
    record_appends(&fs, 0, 1, 1, true);
    recording_start(&fs);
    record_appends(&fs, 1, 3, 9, false);
    record_appends(&fs, 4, 3, 2, true);
    log_tally seen = {.guaranteed = 1, .most = 1, .depth = 1};
    crash_states(&fs, check_log, &seen);
    assert_true(seen.cut > 10);
    recording_free(&fs);
}

/* A second crash during the repair after the first. */
TEST(crash_upon_crash)
{
    recording_io fs;
    start_log(&fs);
    record_appends(&fs, 0, 2, 1, true);
    recording_start(&fs);
    record_appends(&fs, 2, 2, 2, false); /* the second of them in three writes */
    log_tally seen = {.guaranteed = 2, .most = 2, .depth = 2};
    crash_states(&fs, check_log, &seen);
    assert_true(seen.states > 1000 / SECOND_CRASHES);
    recording_free(&fs);
}

/*
 * A failed append is cut off and does not reappear after a crash, even if all its bytes had been
 * written; until the call returns it may be there or not.
 */
TEST(crash_after_failed_append)
{
    for (int late = 0; late < 2; late++) {
        recording_io fs;
        start_log(&fs);
        record_appends(&fs, 0, 3, 1, true);
        recording_start(&fs);
        bry__log log;
        uint32_t count = 0;
        assert_int_equal(bry__log_open(&log, &fs.io, "log", &options, count_record, &count, NULL),
                         BRY_OK);
        for (uint64_t write = 1; write <= 3; write++) {
            recording_mark(&fs, 3, 4);
            fs.calls = 0;
            fs.fail_at = write;
            fs.fail_late = late;
            assert_int_equal(bry__log_append(&log, make_record(3), record_len(3)), BRY_E_IO);
            fs.fail_at = 0;
            recording_mark(&fs, 3, 3);
        }
        for (uint32_t i = 3; i < 5; i++) {
            recording_mark(&fs, 3, i + 1);
            append(&log, i);
        }
        assert_int_equal(bry__log_close(&log), BRY_OK);
        recording_mark(&fs, 5, 5);
        log_tally seen = {.guaranteed = 3, .most = 3, .depth = 1};
        crash_states(&fs, check_log, &seen);
        assert_true(seen.cut > 10);
        recording_free(&fs);
    }
}

/* A log whose syncs do nothing loses synced records: the states must show it. */
static void count_losses(void *context, const crash_state *state)
{
    bry__log log;
    uint32_t count = 0;
    bry_status status =
        bry__log_open(&log, &state->fs->io, "log", &options, count_record, &count, NULL);
    if (status == BRY_OK)
        bry__log_close(&log);
    *(size_t *)context += status != BRY_OK || (state->marked && count < state->first);
}

TEST(missing_log_syncs_are_caught)
{
    for (int way = 0; way < 2; way++) {
        recording_io fs;
        start_log(&fs);
        record_appends(&fs, 0, 1, 1, true);
        recording_start(&fs);
        if (way)
            fs.io.sync = skip_sync;
        record_appends(&fs, 1, 5, 2, false);
        size_t losses = 0;
        crash_states(&fs, count_losses, &losses);
        assert_true((losses > 0) == (way > 0));
        recording_free(&fs);
    }
}
