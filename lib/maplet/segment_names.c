/*
 * Segments of which some entries are left out, and in which others get names instead of values.
 * Which entries are kept follows from the values alone. Then the slots that are kept are copied one
 * after the other, and the runs without the 1s of the others: neither needs u or quotients.
 */
#include "maplet/segment_layout.h"

#include "common/attributes.h"
#include "kernel/kernel.h"

#include <string.h>

_Static_assert(BRY__SEGMENT_MAX <= BRY__KEPT_MOST, "a bit for each entry");

/* ---- selecting ----------------------------------------------------------------------------- */

/* Whether slots can be read and written in one access. */
static bool is_narrow(const bry__segment *segment)
{
    return bry__slot_bits(segment) < BRY__FIELD_MAX;
}

/* Where the slots end, in bits. */
static uint64_t slots_end(const bry__segment *segment)
{
    return 8 * (uint64_t)bry__segment_block(segment->steps);
}

static void select_kept(const bry__segment *segment, const bry__kept_values *names,
                        bry__kept *chosen)
{
    unsigned n = segment->n;
    if (is_narrow(segment)) {
        bry__kernels()->slots_select(segment->bytes, slots_end(segment), n, bry__slot_bits(segment),
                                     segment->value_bits, names, chosen);
        return;
    }
    memset(chosen->bits, 0, sizeof chosen->bits);
    for (unsigned i = 0; i < n; i++)
        chosen->bits[i / 64] |=
            (uint64_t)(names->name[bry__segment_value(segment, i)] != BRY__NOT_KEPT) << i % 64;
    bry__kept_count(chosen, n);
}

/* How many of the first n entries are kept. */
static unsigned count_kept(const bry__kept *chosen, unsigned n)
{
    return chosen->before[n / 64] +
           (unsigned)__builtin_popcountll(chosen->bits[n / 64] & bry__low_bits(n % 64));
}

enum { PART = 128 }; /* entries that are read at a time; at least 64 */

/* Reads the next entries that are kept, at most PART: how many; 0 at the end. */
static unsigned read_kept(const bry__segment *segment, uint64_t u_most, const bry__kept *chosen,
                          bry__segment_cursor *cursor, bry__entry *to)
{
    unsigned low = segment->remainder_bits, bits = bry__slot_bits(segment), n = 0;
    if (!is_narrow(segment)) {
        while (n < PART && bry__segment_next(segment, u_most, cursor, &to[n]))
            n += chosen->bits[(cursor->index - 1) / 64] >> (cursor->index - 1) % 64 & 1;
        return n;
    }
    if (segment->n == 0)
        return 0;
    bry__run_entry at[PART];
    unsigned quotients = bry__quotients_of(segment, u_most);
    uint64_t end = slots_end(segment), mask = bry__low_bits(low);
    bry__runs_place place = {cursor->bit, cursor->index};
    n = bry__kernels()->runs_list(bry__runs_of(segment, quotients),
                                  (uint64_t)quotients + segment->n, chosen->bits, &place, at, PART);
    *cursor = (bry__segment_cursor){place.index, place.bit};
    for (unsigned i = 0; i < n; i++) {
        uint64_t slot = bry__slot_before(segment->bytes, end - (uint64_t)at[i].index * bits, bits);
        to[i].u = (uint64_t)at[i].quotient << low | (slot & mask);
        to[i].value = (uint32_t)(slot >> low);
    }
    return n;
}

unsigned bry__segment_read_named(const bry__segment *segment, uint64_t u_most,
                                 const bry__kept_values *names, bry__entry *to)
{
    bry__kept chosen;
    bry__segment_cursor cursor = {0};
    select_kept(segment, names, &chosen);
    for (unsigned done = 0; done < chosen.n;)
        done += read_kept(segment, u_most, &chosen, &cursor, to + done);
    for (unsigned i = 0; i < chosen.n; i++)
        to[i].value = names->name[to[i].value];
    return chosen.n;
}

/* ---- copying ------------------------------------------------------------------------------- */

/* Samples and runs of what is kept: the front, which has `size` bytes. The slots may follow. */
static void copy_front(const bry__segment *segment, uint64_t u_most, const bry__kept *chosen,
                       unsigned char *front, size_t size)
{
    unsigned quotients = bry__quotients_of(segment, u_most);
    size_t samples = bry__samples_of(quotients);
    uint64_t behind = bry__load64(front + size);
    bry__kernels()->runs_copy(segment->bytes + 2 * samples, (uint64_t)quotients + segment->n,
                              chosen->bits, front + 2 * samples);
    bry__store64(front + size, behind);
    for (size_t i = 0; i < samples; i++)
        bry__store16(front + 2 * i,
                     (uint16_t)count_kept(chosen, bry__load16(segment->bytes + 2 * i)));
}

/* Writes the slots that are kept, which end at `to`. */
static void copy_slots(const bry__segment *segment, const bry__kept *chosen, unsigned char *to)
{
    bry__kernels()->slots_copy(segment->bytes, slots_end(segment), segment->n,
                               bry__slot_bits(segment), chosen->bits, to);
}

/* The same with names of value_bits bits instead of values. */
static void copy_slots_named(const bry__segment *segment, const bry__kept *chosen,
                             const uint32_t *name, unsigned value_bits, unsigned char *to)
{
    unsigned low = segment->remainder_bits, bits = bry__slot_bits(segment);
    uint64_t mask = bry__low_bits(low), end = slots_end(segment);
    bry__downwards out = {.end = to};
    for (unsigned i = 0; i < segment->n; i += 64, end -= 64 * (uint64_t)bits)
        for (uint64_t left = chosen->bits[i / 64]; left; left &= left - 1) {
            uint64_t at = end - (uint64_t)(unsigned)__builtin_ctzll(left) * bits;
            uint64_t slot = bry__slot_before(segment->bytes, at, bits);
            bry__put_bits(&out, (uint64_t)name[slot >> low] << low | (slot & mask),
                          low + value_bits);
        }
}

/* Whether the values of one u are in order by their names too. Goes by remainders alone, so it may
 * say no where they are. */
static bool keeps_order(const bry__segment *segment, const uint32_t *name)
{
    unsigned low = segment->remainder_bits, bits = bry__slot_bits(segment);
    uint64_t from = slots_end(segment), mask = bry__low_bits(low);
    uint64_t last = UINT64_MAX; /* the remainder before, and its name */
    uint32_t last_name = 0;
    for (unsigned i = 0; i < segment->n; i++, from -= bits) {
        uint64_t slot = bry__slot_before(segment->bytes, from, bits);
        uint32_t named = name[slot >> low];
        if ((slot & mask) == last && named < last_name)
            return false;
        last = slot & mask;
        last_name = named;
    }
    return true;
}

bool bry__segment_encode_named(const bry__segment *segment, uint64_t u_most,
                               const bry__names *names, unsigned value_bits, unsigned char *front,
                               unsigned *n, bry__segment_layout *layout)
{
    if (segment->n == 0 || !is_narrow(segment) ||
        segment->remainder_bits + value_bits >= BRY__FIELD_MAX ||
        (!names->rising && !keeps_order(segment, names->of.name)))
        return false;
    bry__kept chosen;
    select_kept(segment, &names->of, &chosen);
    *n = chosen.n;
    *layout = bry__segment_layout_of(chosen.n, u_most, value_bits);
    if (chosen.n == 0)
        return true;
    if (layout->remainder_bits != segment->remainder_bits)
        return false;
    unsigned char *end = front + layout->front + layout->slots;
    if (names->same && segment->value_bits == value_bits)
        copy_slots(segment, &chosen, end);
    else
        copy_slots_named(segment, &chosen, names->of.name, value_bits, end);
    copy_front(segment, u_most, &chosen, front, layout->front);
    return true;
}

/* ---- dropping ------------------------------------------------------------------------------ */

/* Writes what is kept of `before` into the segment, which has a block for it. */
static void write_kept(const bry__segment *before, uint64_t u_most, const bry__kept *chosen,
                       const bry__segment_change *change)
{
    bry__segment_encoder encoder;
    bry__segment_encode_into(change, &encoder);
    if (is_narrow(before) && change->value_bits == before->value_bits &&
        change->layout.remainder_bits == before->remainder_bits) {
        unsigned char *block = change->segment->bytes;
        copy_slots(before, chosen, block + bry__segment_bytes(change->segment));
        copy_front(before, u_most, chosen, block, change->layout.front);
        return;
    }
    bry__entry part[PART];
    bry__segment_cursor cursor = {0};
    for (unsigned n; (n = read_kept(before, u_most, chosen, &cursor, part)) > 0;)
        bry__segment_encode_some(&encoder, part, n);
    bry__segment_encode_end(&encoder);
}

/* Tells the values of the entries that are not chosen. */
static void tell_gone(const bry__segment *before, const bry__kept *chosen, bry__tell_value *gone,
                      void *context)
{
    unsigned low = before->remainder_bits, bits = bry__slot_bits(before);
    uint64_t end = slots_end(before);
    bool narrow = is_narrow(before);
    for (unsigned i = 0; i < before->n; i += 64) {
        uint64_t those = before->n - i < 64 ? bry__low_bits(before->n - i) : ~(uint64_t)0;
        for (uint64_t left = ~chosen->bits[i / 64] & those; left; left &= left - 1) {
            unsigned index = i + (unsigned)__builtin_ctzll(left);
            gone(context, narrow
                              ? (uint32_t)(bry__slot_before(before->bytes,
                                                            end - (uint64_t)index * bits, bits) >>
                                           low)
                              : bry__segment_value(before, index));
        }
    }
}

/* Drops entries one by one, for which no copy of the block is needed. */
static void drop_singly(bry__segment *segment, uint64_t u_most, const bry__kept_values *names,
                        bry__tell_value *gone, void *context, const bry__home *home)
{
    bry__segment_cursor cursor = {0};
    bry__entry entry;
    while (bry__segment_next(segment, u_most, &cursor, &entry)) {
        if (names->name[entry.value] != BRY__NOT_KEPT)
            continue;
        bry__place place = {.index = cursor.index - 1, .bit = (unsigned)cursor.bit - 1};
        bry__segment_remove(segment, u_most, place, entry.u, home);
        gone(context, entry.value);
        cursor = (bry__segment_cursor){0}; /* the layout may be another one */
    }
}

/* Drops the entries that are not chosen. The block is large enough for the others. False: there is
 * no memory for a copy of the block, and nothing has changed. */
static BRY__LARGE_FRAME bool drop_others(const bry__segment_change *change, const bry__kept *chosen,
                                         bry__tell_value *gone, void *context)
{
    const bry_allocator *allocator = change->home->allocator;
    bry__segment_copy before;
    if (!bry__segment_copy_make(&before, change->segment, change->u_most, allocator))
        return false;
    if (chosen->n > 0)
        write_kept(&before.segment, change->u_most, chosen, change);
    else
        bry__segment_free(change->segment, change->home);
    tell_gone(&before.segment, chosen, gone, context);
    bry__segment_copy_free(&before, allocator);
    return true;
}

bry_status bry__segment_drop_nameless(bry__segment *segment, uint64_t u_most,
                                      const bry__kept_values *names, unsigned value_bits,
                                      bry__tell_value *gone, void *context, const bry__home *home)
{
    bry__kept chosen = {0};
    select_kept(segment, names, &chosen);
    if (chosen.n == segment->n)
        return BRY_OK;
    bry__segment_change change =
        bry__segment_change_of(segment, home, chosen.n, u_most, value_bits);
    bry_status status = bry__segment_enlarge(&change, u_most);
    if (status == BRY_OK && !drop_others(&change, &chosen, gone, context))
        drop_singly(segment, u_most, names, gone, context, home); /* its frame comes in its place */
    return status;
}
