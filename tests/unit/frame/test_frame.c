/* Streams of frames: what is written is read, and anything else is refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/endian.h"
#include "frame/frame.h"
#include "frame/frame_pieces.h"
#include "hash/derive.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#define KIND BRY__FOUR('T', 'E', 'S', 'T')
#define TYPE_A BRY__FOUR('A', 'A', 'A', 'A')
#define TYPE_B BRY__FOUR('B', 'B', 'B', 'B')

enum { FIRST = BRY__HEADER_BYTES }; /* where the first frame begins */

/* ---- a stream of three frames, and a reader that knows it ----------------------------------- */

static unsigned char payload[1000];

static void make_stream(bry_buffer *buffer)
{
    generator numbers = {1};
    generator_fill(&numbers, payload, sizeof payload);
    bry_sink sink = bry_buffer_sink(buffer);
    bry__frame_writer writer;
    assert_int_equal(bry__frame_writer_begin(&writer, &sink, NULL, KIND, 2, 77), BRY_OK);
    assert_int_equal(bry__frame_writer_write(&writer, TYPE_A, payload, 40), BRY_OK);
    assert_int_equal(bry__frame_writer_open(&writer, TYPE_B, 300), BRY_OK);
    for (size_t at = 0; at < 300; at += 50)
        assert_int_equal(bry__frame_writer_put(&writer, payload + at, 50), BRY_OK);
    assert_int_equal(bry__frame_writer_write(&writer, TYPE_A, NULL, 0), BRY_OK);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    assert_null(writer.state);
}

static bry_status read_stream(const bry_source *source, bry_load *load)
{
    unsigned char got[300];
    bry__frame_reader reader;
    bry__frame frame;
    bry__frame_reader_open(&reader, source, load, KIND, 2);
    if (bry__frame_reader_read_frame(&reader, TYPE_A, got, 40) == BRY_OK)
        assert_memory_equal(got, payload, 40);
    if (bry__frame_reader_next(&reader, &frame) == BRY_OK && frame.type == TYPE_B &&
        frame.length == 300) {
        bry__frame_reader_read(&reader, got, 7);
        if (bry__frame_reader_read(&reader, got + 7, 293) == BRY_OK)
            assert_memory_equal(got, payload, 300);
    }
    bry__frame_reader_read_frame(&reader, TYPE_A, got, 0);
    bry__frame_reader_end(&reader);
    if (reader.status == BRY_OK) {
        assert_int_equal(reader.header.seed, 77);
        assert_int_equal(reader.header.kind_version, 2);
        assert_int_equal(bry__frame_reader_end(&reader), BRY_OK);
    }
    bry__frame_reader_close(&reader);
    return reader.status;
}

static bry_status read_bytes(const void *bytes, size_t len, bry_load *load)
{
    bry_view view = {bytes, len, 0};
    bry_source source = bry_view_source(&view);
    *load = (bry_load)BRY_LOAD;
    bry_status status = read_stream(&source, load);
    if (status == BRY_OK)
        assert_null(load->problem);
    else
        assert_non_null(load->problem);
    assert_true(load->offset <= len);
    return status;
}

TEST(round_trip)
{
    bry_buffer buffer = BRY_BUFFER;
    make_stream(&buffer);
    assert_int_equal(buffer.len, FIRST + 4 * BRY__FRAME_OVERHEAD + 340 + 16);

    /* What follows the end is not touched. */
    bry_sink sink = bry_buffer_sink(&buffer);
    size_t len = buffer.len;
    sink.write(sink.opaque, "more", 4);
    bry_view view = {buffer.bytes, buffer.len, 0};
    bry_source source = bry_view_source(&view);
    assert_int_equal(read_stream(&source, NULL), BRY_OK);
    assert_int_equal(view.at, len);
    bry_buffer_free(&buffer);
}

TEST(largest_frame)
{
    unsigned char *block = calloc(1, BRY__FRAME_MAX);
    assert_non_null(block);
    block[BRY__FRAME_MAX - 1] = 1;
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, KIND, 1, 0);
    assert_int_equal(bry__frame_writer_write(&writer, TYPE_A, block, BRY__FRAME_MAX), BRY_OK);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);

    bry_view view = {buffer.bytes, buffer.len, 0};
    bry_source source = bry_view_source(&view);
    bry__frame_reader reader;
    bry__frame_reader_open(&reader, &source, NULL, KIND, 1);
    memset(block, 0, BRY__FRAME_MAX);
    assert_int_equal(bry__frame_reader_read_frame(&reader, TYPE_A, block, BRY__FRAME_MAX), BRY_OK);
    assert_int_equal(block[BRY__FRAME_MAX - 1], 1);
    assert_int_equal(bry__frame_reader_end(&reader), BRY_OK);
    bry__frame_reader_close(&reader);
    bry_buffer_free(&buffer);
    free(block);
}

TEST(writer_is_used_wrongly)
{
    for (int way = 0; way < 4; way++) {
        bry_buffer buffer = BRY_BUFFER;
        bry_sink sink = bry_buffer_sink(&buffer);
        bry__frame_writer writer;
        bry__frame_writer_begin(&writer, &sink, NULL, KIND, 1, 0);
        if (way == 0)
            bry__frame_writer_open(&writer, TYPE_A, BRY__FRAME_MAX + 1);
        if (way == 1 || way == 2)
            bry__frame_writer_open(&writer, TYPE_A, 10);
        if (way == 1)
            bry__frame_writer_put(&writer, payload, 11);
        if (way == 3)
            bry__frame_writer_put(&writer, payload, 1);
        /* Way 2 ends with a frame open. */
        assert_int_equal(bry__frame_writer_end(&writer), BRY_E_RANGE);
        bry_buffer_free(&buffer);
    }
}

/* ---- damage --------------------------------------------------------------------------------- */

TEST(every_truncation)
{
    bry_buffer buffer = BRY_BUFFER;
    make_stream(&buffer);
    bry_load load;
    for (size_t len = 0; len < buffer.len; len++) {
        assert_int_equal(read_bytes(buffer.bytes, len, &load), BRY_E_BADDATA);
        assert_int_equal(load.offset, len);
    }
    assert_int_equal(read_bytes(buffer.bytes, buffer.len, &load), BRY_OK);
    bry_buffer_free(&buffer);
}

TEST(every_bit_flip)
{
    bry_buffer buffer = BRY_BUFFER;
    make_stream(&buffer);
    bry_load load;
    for (size_t bit = 0; bit < buffer.len * 8; bit++) {
        buffer.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(read_bytes(buffer.bytes, buffer.len, &load), BRY_E_BADDATA);
        buffer.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    bry_buffer_free(&buffer);
}

/* Three equal frames: only their positions and predecessors differ. */
static void make_row(bry_buffer *buffer, unsigned char first)
{
    unsigned char bytes[8] = {first};
    bry_sink sink = bry_buffer_sink(buffer);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, KIND, 1, 5);
    bry__frame_writer_write(&writer, TYPE_A, bytes, 8);
    bytes[0] = 0;
    for (int i = 0; i < 3; i++)
        bry__frame_writer_write(&writer, TYPE_A, bytes, 8);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
}

static bry_status read_row(const bry_buffer *buffer)
{
    bry_view view = {buffer->bytes, buffer->len, 0};
    bry_source source = bry_view_source(&view);
    bry__frame_reader reader;
    bry__frame frame;
    unsigned char bytes[8];
    bry__frame_reader_open(&reader, &source, NULL, KIND, 1);
    while (bry__frame_reader_next(&reader, &frame) == BRY_OK && frame.type != BRY__FRAME_END)
        bry__frame_reader_read(&reader, bytes, sizeof bytes);
    bry__frame_reader_close(&reader);
    return reader.status;
}

TEST(frames_keep_their_places)
{
    enum { SIZE = BRY__FRAME_OVERHEAD + 8 };
    bry_buffer row = BRY_BUFFER, other = BRY_BUFFER;
    make_row(&row, 1);
    make_row(&other, 2);
    assert_int_equal(read_row(&row), BRY_OK);
    unsigned char *frame[5];
    for (int i = 0; i < 5; i++)
        frame[i] = row.bytes + FIRST + i * SIZE;

    /* A frame from a stream that differs in one earlier byte. */
    unsigned char kept[SIZE];
    for (int i = 0; i < 4; i++) {
        memcpy(kept, frame[i], SIZE);
        memcpy(frame[i], other.bytes + FIRST + i * SIZE, SIZE);
        assert_int_equal(read_row(&row), BRY_E_BADDATA);
        memcpy(frame[i], kept, SIZE);
    }
    /* Two that look alike change places. */
    memcpy(kept, frame[1], SIZE);
    memcpy(frame[1], frame[2], SIZE);
    memcpy(frame[2], kept, SIZE);
    assert_int_equal(read_row(&row), BRY_E_BADDATA);
    memcpy(frame[2], frame[1], SIZE);
    memcpy(frame[1], kept, SIZE);
    assert_int_equal(read_row(&row), BRY_OK);
    /* One is dropped. */
    memmove(frame[2], frame[3], (size_t)(row.bytes + row.len - frame[3]));
    row.len -= SIZE;
    assert_int_equal(read_row(&row), BRY_E_BADDATA);
    bry_buffer_free(&row);
    bry_buffer_free(&other);
}

/* ---- streams that are sealed right and say wrong things ------------------------------------- */

/* Appends a forged frame with correct checksums, and returns the next chain value. */
static uint64_t forge(bry_buffer *buffer, uint64_t chain, uint32_t type, uint32_t length,
                      const void *bytes, size_t given)
{
    bry_sink sink = bry_buffer_sink(buffer);
    unsigned char head[16], sum[8];
    bry__store32(head, type);
    bry__store32(head + 4, length);
    chain = XXH3_64bits_withSeed(head, 8, chain);
    bry__store64(head + 8, chain);
    sink.write(sink.opaque, head, sizeof head);
    sink.write(sink.opaque, bytes, given);
    chain = XXH3_64bits_withSeed(given ? bytes : "", given, chain);
    bry__store64(sum, chain);
    sink.write(sink.opaque, sum, sizeof sum);
    return chain;
}

static uint64_t forge_header(bry_buffer *buffer)
{
    bry__header header = {BRY__FORMAT_REVISION, BRY__HASH_SCHEME, KIND, 1, 0};
    unsigned char bytes[BRY__HEADER_BYTES];
    uint64_t sum = bry__header_encode(&header, bytes);
    bry_sink sink = bry_buffer_sink(buffer);
    sink.write(sink.opaque, bytes, sizeof bytes);
    return sum;
}

TEST(hostile_streams)
{
    unsigned char counts[24] = {0};
    const uint32_t lengths[] = {BRY__FRAME_MAX + 1, 0x80000000u, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        bry_buffer buffer = BRY_BUFFER;
        forge(&buffer, forge_header(&buffer), TYPE_A, lengths[i], counts, 8);
        bry_view view = {buffer.bytes, buffer.len, 0};
        bry_source source = bry_view_source(&view);
        bry__frame_reader reader;
        bry__frame frame;
        bry__frame_reader_open(&reader, &source, NULL, KIND, 1);
        assert_int_equal(bry__frame_reader_next(&reader, &frame), BRY_E_BADDATA);
        assert_int_equal(view.at, FIRST + 16); /* none of its bytes was read */
        bry__frame_reader_close(&reader);
        bry_buffer_free(&buffer);
    }
    /* An end that counts wrongly, or has another size. */
    for (int way = 0; way < 4; way++) {
        bry_buffer buffer = BRY_BUFFER;
        uint64_t chain = forge(&buffer, forge_header(&buffer), TYPE_A, 8, counts, 8);
        unsigned char end[24] = {0};
        end[0] = way == 1 ? 2 : 1;
        end[8] = way == 2 ? 9 : 8;
        uint32_t length = way == 3 ? 24 : 16;
        forge(&buffer, chain, BRY__FRAME_END, length, end, length);
        assert_int_equal(read_row(&buffer), way == 0 ? BRY_OK : BRY_E_BADDATA);
        bry_buffer_free(&buffer);
    }
}

TEST(unexpected_frames)
{
    bry_buffer buffer = BRY_BUFFER;
    make_row(&buffer, 1);
    for (int way = 0; way < 9; way++) {
        bry_view view = {buffer.bytes, buffer.len, 0};
        bry_source source = bry_view_source(&view);
        bry_load load = BRY_LOAD;
        bry__frame_reader reader;
        bry__frame frame;
        unsigned char bytes[16];
        bry__frame_reader_open(&reader, &source, &load, KIND, 1);
        if (way == 0)
            bry__frame_reader_read_frame(&reader, TYPE_B, bytes, 8);
        if (way == 1)
            bry__frame_reader_read_frame(&reader, TYPE_A, bytes, 9);
        if (way == 2)
            bry__frame_reader_end(&reader);
        if (way == 3) { /* more than there is */
            assert_int_equal(bry__frame_reader_next(&reader, &frame), BRY_OK);
            bry__frame_reader_read(&reader, bytes, 9);
        }
        if (way == 4) { /* less than there is */
            assert_int_equal(bry__frame_reader_next(&reader, &frame), BRY_OK);
            assert_int_equal(bry__frame_reader_read(&reader, bytes, 7), BRY_OK);
            bry__frame_reader_next(&reader, &frame);
        }
        if (way == 5) /* one more than there are */
            for (int i = 0; i < 5; i++)
                bry__frame_reader_read_frame(&reader, TYPE_A, bytes, 8);
        if (way == 7 || way == 8) { /* shorter or longer than it may be */
            size_t length;
            bry__frame_reader_expect(&reader, TYPE_A, "missing", way == 7 ? 9 : 1,
                                     way == 7 ? 16 : 7, &length);
        }
        if (way == 6) { /* past the end */
            for (int i = 0; i < 4; i++)
                assert_int_equal(bry__frame_reader_read_frame(&reader, TYPE_A, bytes, 8), BRY_OK);
            assert_int_equal(bry__frame_reader_end(&reader), BRY_OK);
            bry__frame_reader_next(&reader, &frame);
        }
        assert_int_equal(reader.status, BRY_E_BADDATA);
        assert_non_null(load.problem);
        /* The first failure stays. */
        const char *problem = load.problem;
        assert_int_equal(bry__frame_reader_fail(&reader, BRY_E_LIMIT, "later"), BRY_E_BADDATA);
        assert_ptr_equal(load.problem, problem);
        bry__frame_reader_close(&reader);
    }
    bry_buffer_free(&buffer);
}

/* Reads two pieces of a table of three. first, second: their numbers; size: of the second. */
static const char *read_pieces(uint64_t first, uint64_t second, size_t size, int byte)
{
    const bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__pieces table;
    assert_int_equal(bry__pieces_init_of(&table, 3 * 4096, 12, &allocator), BRY_OK);
    assert_int_equal(table.count, 3);
    unsigned char frame[8 + 4096 + 64];
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bry__frame_writer writer;
    assert_int_equal(bry__frame_writer_begin(&writer, &sink, NULL, KIND, 1, 1), BRY_OK);
    for (int i = 0; i < 2; i++) {
        memset(frame, i ? byte : 1, sizeof frame);
        bry__store64(frame, i ? second : first);
        bry__frame_writer_write(&writer, BRY__FOUR('P', 'I', 'E', 'C'), frame,
                                8 + (i ? size : 4096));
    }
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    bry_view view = {buffer.bytes, buffer.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    bry__frame_reader reader;
    bry__frame_reader_open(&reader, &source, &load, KIND, 1);
    bry_status status = bry__frame_read_pieces(&reader, &table, 1, 2, &allocator);
    assert_int_equal(status, load.problem ? BRY_E_BADDATA : BRY_OK);
    bry__frame_reader_close(&reader);
    bry__pieces_free(&table, &allocator);
    bry_buffer_free(&buffer);
    return load.problem;
}

TEST(pieces)
{
    assert_null(read_pieces(0, 2, 4096, 1));
    static const char place[] = "a piece is out of place", size[] = "a piece has the wrong size";
    assert_string_equal(read_pieces(0, 3, 4096, 1), place);
    assert_string_equal(read_pieces(1, 0, 4096, 1), place);
    assert_string_equal(read_pieces(1, 1, 4096, 1), place); /* twice */
    assert_string_equal(read_pieces(0, 1, 4096 - 64, 1), size);
    assert_string_equal(read_pieces(0, 1, 4096 + 64, 1), size);
    assert_string_equal(read_pieces(0, 1, 4096, 0), "a piece is empty");
}

TEST(limit)
{
    bry_buffer buffer = BRY_BUFFER;
    make_row(&buffer, 1);
    const struct {
        uint64_t limit, first, second;
        bry_status status;
    } cases[] = {
        {0, UINT64_MAX, 0, BRY_OK}, {0, UINT64_MAX, 1, BRY_E_LIMIT},   {100, 60, 40, BRY_OK},
        {100, 60, 41, BRY_E_LIMIT}, {100, 1, UINT64_MAX, BRY_E_LIMIT}, {1, 0, 0, BRY_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bry_view view = {buffer.bytes, buffer.len, 0};
        bry_source source = bry_view_source(&view);
        bry_load load = BRY_LOAD;
        load.max_bytes = cases[i].limit;
        bry__frame_reader reader;
        bry__frame_reader_open(&reader, &source, &load, KIND, 1);
        assert_int_equal(bry__frame_reader_claim(&reader, cases[i].first), BRY_OK);
        assert_int_equal(bry__frame_reader_claim(&reader, cases[i].second), cases[i].status);
        assert_int_equal(reader.status, cases[i].status);
        bry__frame_reader_close(&reader);
    }
    bry_buffer_free(&buffer);
}

/* ---- versions ------------------------------------------------------------------------------- */

static bry_status decode(const bry__header *header)
{
    unsigned char bytes[BRY__HEADER_BYTES];
    bry__header got;
    uint64_t sum, at;
    const char *problem = NULL;
    bry__header_wants wants = {KIND, 3};
    bry__header_encode(header, bytes);
    bry_status status = bry__header_decode(bytes, &wants, &got, &sum, &problem, &at);
    assert_true((status == BRY_OK) == (problem == NULL));
    if (status == BRY_OK)
        assert_int_equal(got.seed, header->seed);
    return status;
}

TEST(versions)
{
    const uint16_t scheme = BRY__HASH_SCHEME;
    for (uint32_t format = 0; format <= UINT16_MAX; format++) {
        bry__header other = {(uint16_t)format, scheme, KIND, 1, 9};
        assert_int_equal(decode(&other), format == BRY__FORMAT_REVISION ? BRY_OK : BRY_E_VERSION);
    }
    bry__header other_scheme = {BRY__FORMAT_REVISION, scheme + 1, KIND, 1, 9};
    assert_int_equal(decode(&other_scheme), BRY_E_VERSION);
    bry__header other_kind = {BRY__FORMAT_REVISION, scheme, TYPE_A, 1, 9};
    assert_int_equal(decode(&other_kind), BRY_E_BADDATA);
    for (uint16_t version = 0; version < 6; version++) {
        bry__header other = {BRY__FORMAT_REVISION, scheme, KIND, version, 9};
        bool known = version >= 1 && version <= 3;
        assert_int_equal(decode(&other), known ? BRY_OK : BRY_E_VERSION);
    }
}

TEST(reserved_bytes)
{
    bry__header header = {BRY__FORMAT_REVISION, BRY__HASH_SCHEME, KIND, 1, 9};
    for (size_t i = 18; i < 56; i++) {
        unsigned char bytes[BRY__HEADER_BYTES];
        bry__header_encode(&header, bytes);
        bytes[i] ^= 1;
        bry__store64(bytes + 56, XXH3_64bits(bytes, 56));
        bry__header got;
        uint64_t sum, at;
        const char *problem;
        bry__header_wants wants = {KIND, 1};
        bool is_seed = i >= 24 && i < 32;
        assert_int_equal(bry__header_decode(bytes, &wants, &got, &sum, &problem, &at),
                         is_seed ? BRY_OK : BRY_E_BADDATA);
    }
}

/* ---- sinks and sources that misbehave ------------------------------------------------------- */

typedef struct slow_source {
    bry_view view;
    size_t fail_at; /* offset */
    bry_status status;
} slow_source;

static bry_status drip(void *opaque, void *bytes, size_t len, size_t *got)
{
    slow_source *d = opaque;
    assert_true(len > 0);
    if (d->status != BRY_OK && d->view.at == d->fail_at)
        return d->status;
    *got = d->view.at < d->view.len;
    if (*got)
        *(unsigned char *)bytes = ((const unsigned char *)d->view.bytes)[d->view.at++];
    return BRY_OK;
}

TEST(byte_by_byte)
{
    bry_buffer buffer = BRY_BUFFER;
    make_stream(&buffer);
    slow_source d = {.view = {buffer.bytes, buffer.len, 0}};
    bry_source source = {drip, &d};
    assert_int_equal(read_stream(&source, NULL), BRY_OK);
    for (size_t at = 0; at < buffer.len; at++) {
        d = (slow_source){{buffer.bytes, buffer.len, 0}, at, BRY_E_STOPPED};
        bry_load load = BRY_LOAD;
        assert_int_equal(read_stream(&source, &load), BRY_E_STOPPED);
        assert_int_equal(load.offset, at);
        assert_non_null(load.problem);
    }
    bry_buffer_free(&buffer);
}

static bry_status overflowing(void *opaque, void *bytes, size_t len, size_t *got)
{
    (void)opaque;
    memset(bytes, 0, len);
    *got = len + 1;
    return BRY_OK;
}

TEST(source_that_lies)
{
    bry_source source = {overflowing, NULL};
    errno = 0;
    assert_int_equal(read_stream(&source, NULL), BRY_E_IO);
    assert_int_equal(errno, EIO);
}

static bry_status limited_write(void *opaque, const void *bytes, size_t len)
{
    (void)bytes;
    (void)len;
    size_t *left = opaque;
    if (*left == 0)
        return BRY_E_STOPPED;
    --*left;
    return BRY_OK;
}

TEST(sink_that_fails)
{
    /* 1 header, and 3 a frame: head, payload, sum; the empty frame has no payload. */
    for (size_t writes = 0; writes <= 9; writes++) {
        size_t left = writes;
        bry_sink sink = {limited_write, &left};
        bry__frame_writer writer;
        bry__frame_writer_begin(&writer, &sink, NULL, KIND, 1, 1);
        bry__frame_writer_write(&writer, TYPE_A, payload, 10);
        bry__frame_writer_write(&writer, TYPE_B, payload, 0);
        assert_int_equal(bry__frame_writer_end(&writer), writes < 9 ? BRY_E_STOPPED : BRY_OK);
        assert_int_equal(left, 0);
    }
}
