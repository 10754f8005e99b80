#include "model/save/forge.h"

#include "common/endian.h"
#include "frame/frame.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 512 };

typedef struct part {
    uint32_t type;
    const unsigned char *payload;
    size_t len;
} part;

typedef struct parts {
    size_t count;
    part part[MOST_FRAMES];
} parts;

#define WINDOW_TYPE BRY__FOUR('W', 'I', 'N', 'D')

static bool read_parts(const unsigned char *bytes, size_t len, parts *these)
{
    these->count = 0;
    for (size_t at = BRY__HEADER_BYTES; at < len && len - at >= BRY__FRAME_OVERHEAD;) {
        size_t length = bry__load32(bytes + at + 4);
        uint32_t type = bry__load32(bytes + at);
        if (length > len - at - BRY__FRAME_OVERHEAD || these->count == MOST_FRAMES)
            return false;
        if (type == BRY__FRAME_END)
            return true;
        these->part[these->count++] = (part){type, bytes + at + 16, length};
        at += BRY__FRAME_OVERHEAD + length;
    }
    return false;
}

/* ---- one payload ---- */

static uint64_t odd_number(generator *numbers)
{
    static const double reals[] = {0, 1e-12, 1e-9, 0.5, 1, 2, 1e300, -1, 1e-300};
    uint64_t power = (uint64_t)1 << generator_below(numbers, 64), bits;
    switch (generator_below(numbers, 8)) {
    case 0:
        return 0;
    case 1:
        return generator_below(numbers, 20);
    case 2:
        return power - 1;
    case 3:
        return power + 1;
    case 4:
        return ~power;
    case 5:
        return generator_next(numbers);
    case 6:
        memcpy(&bits, &reals[generator_below(numbers, 9)], 8);
        return bits;
    default:
        return power;
    }
}

/* Changes a field of 1, 2, 4 or 8 bytes, aligned as such fields are, at the front of the payload or
 * anywhere. */
static void change_field(unsigned char *payload, size_t len, generator *numbers)
{
    size_t size = (size_t)1 << generator_below(numbers, 4);
    if (size > len)
        return;
    size_t reach = generator_below(numbers, 2) && len > 160 ? 160 : len;
    size_t at = (size_t)generator_below(numbers, reach) / 4 * 4;
    at = at > len - size ? len - size : at;
    unsigned char field[8] = {0};
    memcpy(field, payload + at, size);
    uint64_t value = bry__load64(field);
    switch (generator_below(numbers, 4)) {
    case 0:
        value += generator_below(numbers, 2) ? 1 : UINT64_MAX;
        break;
    case 1:
        value ^= (uint64_t)1 << generator_below(numbers, 8 * size);
        break;
    case 2:
        value = generator_below(numbers, 2) ? value << 1 : value >> 1;
        break;
    default:
        value = odd_number(numbers);
    }
    bry__store64(field, value);
    memcpy(payload + at, field, size);
}

/* A changed copy, sometimes longer or shorter. The caller frees it. */
static unsigned char *change_payload(const part *from, generator *numbers, size_t *len)
{
    size_t kind = (size_t)generator_below(numbers, 16);
    unsigned char *copy = malloc(from->len + 64);
    if (!copy)
        abort();
    *len = from->len;
    if (from->len)
        memcpy(copy, from->payload, from->len);
    if (kind == 0) {
        *len = from->len ? (size_t)generator_below(numbers, from->len) : 0;
    } else if (kind == 1) {
        size_t more = 1 + (size_t)generator_below(numbers, 64);
        generator_fill(numbers, copy + *len, more);
        *len += more;
    }
    for (uint64_t i = generator_below(numbers, 3) + (kind > 1); i > 0 && *len; i--)
        change_field(copy, *len, numbers);
    return copy;
}

/* ---- writing ---- */

static void put(bry_buffer *out, const void *bytes, size_t len)
{
    bry_sink sink = bry_buffer_sink(out);
    if (sink.write(sink.opaque, bytes, len) != BRY_OK)
        abort();
}

/* Writes a stream of `these` frames, with other bytes for frame `changed`. */
static void write_stream(const unsigned char *bytes, const parts *these, generator *numbers,
                         bry_buffer *out)
{
    uint16_t version = bry__load16(bytes + 16);
    uint64_t seed = bry__load64(bytes + 24);
    if (generator_below(numbers, 64) == 0)
        version = (uint16_t)(1 + generator_below(numbers, 2));
    bry_sink sink = bry_buffer_sink(out);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, bry__load32(bytes + 12), version, seed);
    for (size_t i = 0; i < these->count; i++)
        bry__frame_writer_write(&writer, these->part[i].type, these->part[i].payload,
                                these->part[i].len);
    if (bry__frame_writer_end(&writer) != BRY_OK)
        abort();
}

/* ---- the window inside a table of counters ---- */

/* Forges the window and splits it into frames again; false if there is none. */
static bool forge_window(parts *these, generator *numbers, bry_buffer *inner)
{
    bry_buffer whole = BRY_BUFFER;
    size_t first = 0;
    while (first < these->count && these->part[first].type != WINDOW_TYPE)
        first++;
    for (size_t i = first; i < these->count; i++)
        put(&whole, these->part[i].payload, these->part[i].len);
    bool good = first < these->count && forge_stream(whole.bytes, whole.len, numbers, inner);
    bry_buffer_free(&whole);
    if (!good)
        return false;
    these->count = first;
    for (size_t at = 0; at < inner->len && these->count < MOST_FRAMES; at += 16384) {
        size_t len = inner->len - at < 16384 ? inner->len - at : 16384;
        these->part[these->count++] = (part){WINDOW_TYPE, inner->bytes + at, len};
    }
    return true;
}

/* ---- whole streams ---- */

/* Removes or repeats a frame, or replaces one by another. */
static void move_frames(parts *these, generator *numbers)
{
    size_t at = (size_t)generator_below(numbers, these->count);
    size_t to = (size_t)generator_below(numbers, these->count);
    part moved = these->part[at];
    switch (generator_below(numbers, 3)) {
    case 0:
        these->count--;
        memmove(&these->part[at], &these->part[at + 1], (these->count - at) * sizeof moved);
        break;
    case 1:
        if (these->count == MOST_FRAMES)
            return;
        memmove(&these->part[to + 1], &these->part[to], (these->count - to) * sizeof moved);
        these->part[to] = moved;
        these->count++;
        break;
    default:
        these->part[at] = these->part[to];
        these->part[to] = moved;
    }
}

bool forge_stream(const unsigned char *bytes, size_t len, generator *numbers, bry_buffer *out)
{
    parts *these = malloc(sizeof *these);
    unsigned char *copies[3] = {NULL, NULL, NULL};
    bry_buffer inner = BRY_BUFFER;
    if (!these)
        abort();
    bool good = len >= BRY__HEADER_BYTES && read_parts(bytes, len, these) && these->count > 0;
    if (good && !(generator_below(numbers, 4) && forge_window(these, numbers, &inner))) {
        if (generator_below(numbers, 24) == 0)
            move_frames(these, numbers);
        for (uint64_t i = 1 + generator_below(numbers, 3); i > 0 && these->count; i--) {
            /* The first frames contain the numbers that define the shape. */
            uint64_t among = generator_below(numbers, 2) && these->count > 3 ? 3 : these->count;
            part *changed = &these->part[generator_below(numbers, among)];
            copies[i - 1] = change_payload(changed, numbers, &changed->len);
            changed->payload = copies[i - 1];
        }
    }
    if (good)
        write_stream(bytes, these, numbers, out);
    for (int i = 0; i < 3; i++)
        free(copies[i]);
    bry_buffer_free(&inner);
    free(these);
    return good;
}
