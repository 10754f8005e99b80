/*
 * Encodes entries as the bytes of a segment; and changes all entries of a segment at once: another
 * layout, one segment from two, two from one.
 *
 * For such a change the entries are read from a copy of the block, a few at a time, and encoded
 * into the block again. So it does not need much stack, whatever the number of entries: the copy is
 * on the stack if it is small, as nearly all are, else allocated. Blocks are enlarged before that,
 * because this needs stack, too (arena/area.h).
 */
#include "maplet/segment_layout.h"

#include "common/attributes.h"
#include "kernel/kernel.h"

#include <string.h>

enum { PART = 192 }; /* entries that are read at a time; at least 64 */

/* ---- slots --------------------------------------------------------------------------------- */

static inline uint64_t slot_of(const bry__entry *entry, unsigned low)
{
    return (uint64_t)entry->value << low | (entry->u & bry__low_bits(low));
}

static bry__downwards encode_slots(bry__downwards to, const bry__entry *entries, unsigned n,
                                   unsigned low, unsigned value_bits)
{
    unsigned bits = low + value_bits, i = 0;
    if (bits < BRY__FIELD_MAX) {
        for (; 2 * bits < BRY__FIELD_MAX && i + 1 < n; i += 2) /* two at once: twice as fast */
            bry__put_bits(&to, slot_of(&entries[i], low) << bits | slot_of(&entries[i + 1], low),
                          2 * bits);
        for (; i < n; i++)
            bry__put_bits(&to, slot_of(&entries[i], low), bits);
        return to;
    }
    for (; i < n; i++) {
        bry__put_bits(&to, entries[i].value, value_bits);
        bry__put_bits(&to, entries[i].u & bry__low_bits(low), low);
    }
    return to;
}

/* ---- entries ------------------------------------------------------------------------------- */

/* Samples and runs. */
static void encode_front(bry__segment_encoder *encoder, const bry__entry *entries, unsigned n)
{
    unsigned char *front = encoder->front;
    unsigned low = encoder->low, first = encoder->n;
    size_t sampled = encoder->sampled, at = encoder->at;
    uint64_t word = encoder->word, from = encoder->from;
    for (unsigned i = 0; i < n; i++) {
        uint64_t quotient = entries[i].u >> low, one = quotient + first + i;
        for (; sampled < quotient >> BRY__SAMPLED; sampled++)
            bry__store16(front + 2 * sampled, (uint16_t)(first + i));
        for (; one - from >= 64; from += 64, at += 8, word = 0)
            bry__store64(front + at, word);
        word |= (uint64_t)1 << (one - from);
    }
    encoder->sampled = sampled;
    encoder->at = at;
    encoder->word = word;
    encoder->from = from;
}

void bry__segment_encode_begin(bry__segment_encoder *encoder, uint64_t u_most, unsigned value_bits,
                               const bry__segment_layout *layout, unsigned char *front,
                               unsigned char *slots)
{
    unsigned low = layout->remainder_bits;
    size_t samples = bry__samples_of((unsigned)(u_most >> low) + 1);
    *encoder = (bry__segment_encoder){.to = {.end = slots + layout->slots},
                                      .front = front,
                                      .slots = slots,
                                      .front_size = layout->front,
                                      .samples = samples,
                                      .at = 2 * samples,
                                      .low = low,
                                      .value_bits = value_bits};
}

void bry__segment_encode_some(bry__segment_encoder *encoder, const bry__entry *entries, unsigned n)
{
    /* Overwritten, and may belong to the front. */
    unsigned char *before = encoder->slots - 8; /* NOLINT(clang-analyzer-core.*) */
    uint64_t kept = encoder->n > 0 ? bry__load64(before) : 0;
    encoder->to = encode_slots(encoder->to, entries, n, encoder->low, encoder->value_bits);
    bry__store64(before, kept);
    encode_front(encoder, entries, n);
    encoder->n += n;
}

void bry__segment_encode_end(bry__segment_encoder *encoder)
{
    for (; encoder->sampled < encoder->samples; encoder->sampled++)
        bry__store16(encoder->front + 2 * encoder->sampled, (uint16_t)encoder->n);
    for (; encoder->at < encoder->front_size; encoder->at++, encoder->word >>= 8)
        encoder->front[encoder->at] = (unsigned char)encoder->word;
}

void bry__segment_encode(const bry__entry *entries, unsigned n, uint64_t u_most,
                         unsigned value_bits, const bry__segment_layout *layout,
                         unsigned char *front, unsigned char *slots)
{
    bry__segment_encoder encoder;
    bry__segment_encode_begin(&encoder, u_most, value_bits, layout, front, slots);
    bry__segment_encode_some(&encoder, entries, n);
    bry__segment_encode_end(&encoder);
}

/* ---- copies --------------------------------------------------------------------------------- */

bool bry__segment_copy_make(bry__segment_copy *copy, const bry__segment *segment, uint64_t u_most,
                            const bry_allocator *allocator)
{
    copy->segment = *segment;
    copy->allocated = 0;
    if (segment->n == 0)
        return true;
    bry__block_ends ends = bry__segment_ends(segment, u_most);
    size_t size = bry__segment_block(ends.steps);
    unsigned char *to = copy->bytes;
    if (size > sizeof copy->bytes) {
        to = bry__alloc_buffer(allocator, size);
        if (!to)
            return false;
        copy->allocated = size;
    }
    memcpy(to, segment->bytes, ends.front);
    memset(to + ends.front, 0, size - ends.front - ends.slots);
    memcpy(to + size - ends.slots, segment->bytes + bry__segment_bytes(segment) - ends.slots,
           ends.slots);
    copy->segment.bytes = to;
    copy->segment.steps = (uint16_t)ends.steps;
    return true;
}

void bry__segment_copy_free(const bry__segment_copy *copy, const bry_allocator *allocator)
{
    if (copy->allocated)
        bry__free(allocator, copy->segment.bytes, copy->allocated);
}

/* ---- blocks --------------------------------------------------------------------------------- */

bry__segment_change bry__segment_change_of(bry__segment *segment, const bry__home *home, unsigned n,
                                           uint64_t u_most, unsigned value_bits)
{
    return (bry__segment_change){.segment = segment,
                                 .home = home,
                                 .n = n,
                                 .value_bits = value_bits,
                                 .u_most = u_most,
                                 .layout = bry__segment_layout_of(n, u_most, value_bits)};
}

bry_status bry__segment_enlarge(bry__segment_change *change, uint64_t u_most)
{
    bry__segment *segment = change->segment;
    if (change->layout.steps <= segment->steps)
        return BRY_OK;
    bry__block_ends ends = {0};
    if (segment->n > 0)
        ends = bry__segment_ends(segment, u_most);
    change->enlarged = true;
    return bry__block_resize(change->home, segment, change->layout.steps, ends.front, ends.slots);
}

void bry__segment_encode_into(const bry__segment_change *change, bry__segment_encoder *encoder)
{
    bry__segment *segment = change->segment;
    const bry__segment_layout *layout = &change->layout;
    if (change->enlarged)
        memset(segment->bytes, 0, bry__segment_bytes(segment));
    else
        (void)bry__block_resize(change->home, segment, layout->steps, 0, 0); /* does not fail */
    segment->n = (uint16_t)change->n;
    segment->remainder_bits = (uint8_t)layout->remainder_bits;
    segment->value_bits = (uint8_t)change->value_bits;
    bry__segment_encode_begin(encoder, change->u_most, change->value_bits, layout, segment->bytes,
                              segment->bytes + bry__segment_bytes(segment) - layout->slots);
}

/* ---- another layout ------------------------------------------------------------------------- */

/* Encodes the entries, and `more` unless it is NULL, into the segment's block, which is large
 * enough. BRY_E_NOMEM. */
static BRY__LARGE_FRAME bry_status recode(const bry__segment_change *change, const bry__entry *more)
{
    const bry_allocator *allocator = change->home->allocator;
    uint64_t u_most = change->u_most;
    bry__segment_copy copy;
    if (!bry__segment_copy_make(&copy, change->segment, u_most, allocator))
        return BRY_E_NOMEM;
    bry__segment_encoder encoder;
    bry__entry part[PART + 1];
    bry__segment_cursor cursor = {0};
    bry__segment_encode_into(change, &encoder);
    for (unsigned n;
         (n = bry__segment_read_some(&copy.segment, u_most, &cursor, part, PART)) > 0;) {
        if (more && bry__entry_before(*more, part[n - 1])) {
            unsigned at = n++;
            for (; at > 0 && bry__entry_before(*more, part[at - 1]); at--)
                part[at] = part[at - 1];
            part[at] = *more;
            more = NULL;
        }
        bry__segment_encode_some(&encoder, part, n);
    }
    if (more)
        bry__segment_encode_some(&encoder, more, 1);
    bry__segment_encode_end(&encoder);
    bry__segment_copy_free(&copy, allocator);
    return BRY_OK;
}

bry_status bry__segment_rewrite(bry__segment *segment, uint64_t u_most, const bry__entry *more,
                                unsigned value_bits, const bry__home *home)
{
    unsigned n = segment->n + (more != NULL);
    if (n == 0)
        return BRY_OK;
    bry__segment_change change = bry__segment_change_of(segment, home, n, u_most, value_bits);
    bry_status status = bry__segment_enlarge(&change, u_most);
    return status == BRY_OK ? recode(&change, more) : status;
}

/* ---- two from one --------------------------------------------------------------------------- */

/* Encodes the entries of the first segment into both blocks, which are large enough, or into the
 * first one, which is divided. BRY_E_NOMEM. */
static BRY__LARGE_FRAME bry_status split_entries(const bry__segment_change to[2], uint64_t u_most,
                                                 bool divide)
{
    const bry_allocator *allocator = to[0].home->allocator;
    bry__segment_copy copy;
    if (!bry__segment_copy_make(&copy, to[0].segment, u_most, allocator))
        return BRY_E_NOMEM;
    if (divide)
        bry__block_divide(to[1].home, to[0].segment, to[0].layout.steps, to[1].segment,
                          to[1].layout.steps);
    bry__segment_encoder encoder[2];
    for (unsigned i = 0; i < 2; i++)
        if (to[i].n > 0)
            bry__segment_encode_into(&to[i], &encoder[i]);
        else
            bry__segment_free(to[i].segment, to[i].home);
    bry__entry part[PART], odd[PART];
    bry__segment_cursor cursor = {0};
    for (unsigned all;
         (all = bry__segment_read_some(&copy.segment, u_most, &cursor, part, PART)) > 0;) {
        unsigned n[2] = {0};
        for (unsigned i = 0; i < all; i++) { /* without a branch: it would be unpredictable */
            uint64_t u = part[i].u;
            uint32_t value = part[i].value;
            part[n[0]].u = odd[n[1]].u = u >> 1; /* a whole entry would be read back */
            part[n[0]].value = odd[n[1]].value = value;
            n[0] += !(u & 1);
            n[1] += u & 1;
        }
        if (n[0] > 0)
            bry__segment_encode_some(&encoder[0], part, n[0]);
        if (n[1] > 0)
            bry__segment_encode_some(&encoder[1], odd, n[1]);
    }
    for (unsigned i = 0; i < 2; i++)
        if (to[i].n > 0)
            bry__segment_encode_end(&encoder[i]);
    bry__segment_copy_free(&copy, allocator);
    return BRY_OK;
}

/* Number of entries with an odd u: the lowest bits of the slots. Those of a few slots are counted
 * at once, in fields of a word as wide as a slot, which must be wide enough for that. */
static unsigned count_odd(const bry__segment *segment)
{
    enum { WIDE = 9 };
    unsigned bits = bry__slot_bits(segment), odd = 0, i = 0;
    uint64_t end = 8 * (uint64_t)bry__segment_block(segment->steps), lowest = 0, counts = 0;
    unsigned few = bits < WIDE ? 0 : BRY__FIELD_MAX / bits;
    _Static_assert(BRY__SEGMENT_MAX / (BRY__FIELD_MAX / WIDE) < 1u << WIDE, "counts fit");
    for (unsigned j = 0; j < few; j++)
        lowest |= (uint64_t)1 << (j * bits);
    for (; few > 1 && i + few <= segment->n; i += few, end -= (uint64_t)few * bits)
        counts += bry__slot_before(segment->bytes, end, few * bits) & lowest;
    for (unsigned j = 0; j < few; j++)
        odd += (unsigned)(counts >> (j * bits) & bry__low_bits(bits));
    for (; i < segment->n; i++) {
        end -= bits;
        odd += segment->bytes[end >> 3] >> (end & 7) & 1;
    }
    return odd;
}

bry_status bry__segment_split(bry__segment *segment, uint64_t u_most, bry__segment *odd,
                              unsigned value_bits, const bry__home home[2])
{
    if (segment->n == 0)
        return BRY_OK;
    unsigned n = count_odd(segment);
    bry__segment_change to[2] = {
        bry__segment_change_of(segment, &home[0], segment->n - n, u_most >> 1, value_bits),
        bry__segment_change_of(odd, &home[1], n, u_most >> 1, value_bits)};
    bool divide = to[0].n > 0 && to[1].n > 0 &&
                  bry__block_divides(segment, to[0].layout.steps, odd, to[1].layout.steps);
    bry_status status = BRY_OK;
    /* The odd one last: while it has a block but no entries, no area may be arranged. */
    if (!divide)
        status = bry__segment_enlarge(&to[0], u_most);
    if (!divide && status == BRY_OK)
        status = bry__segment_enlarge(&to[1], u_most);
    if (status == BRY_OK)
        status = split_entries(to, u_most, divide);
    if (status != BRY_OK)
        bry__segment_free(odd, &home[1]);
    return status;
}

/* ---- one from two --------------------------------------------------------------------------- */

/* The entries of a half that are read next. */
typedef struct half_reader {
    const bry__segment *segment;
    bry__segment_cursor cursor;
    unsigned at, n;
    bry__entry part[PART];
} half_reader;

/* False: there are no more. */
static inline bool read_half(half_reader *from, uint64_t u_most)
{
    if (from->at < from->n)
        return true;
    from->at = 0;
    from->n = bry__segment_read_some(from->segment, u_most, &from->cursor, from->part, PART);
    return from->n > 0;
}

/* Merges at most `room` entries, and only as many as each half has at least; how many. */
static unsigned merge_some(half_reader *even, half_reader *odd, bry__entry *to, unsigned room)
{
    unsigned n = even->n - even->at < odd->n - odd->at ? even->n - even->at : odd->n - odd->at;
    const bry__entry *a = even->part + even->at, *b = odd->part + odd->at;
    if (n > room)
        n = room;
    for (unsigned i = 0; i < n; i++) { /* without a branch: it would be unpredictable */
        size_t second = b->u < a->u;
        const bry__entry *from = second ? b : a;
        to[i].u = from->u << 1 | second;
        to[i].value = from->value;
        a += 1 - second;
        b += second;
    }
    even->at = (unsigned)(a - even->part);
    odd->at = (unsigned)(b - odd->part);
    return n;
}

/* Encodes the entries of both into the block of the first, which is large enough. BRY_E_NOMEM. */
static BRY__LARGE_FRAME bry_status join_entries(const bry__segment_change *even,
                                                const bry__segment *odd)
{
    const bry_allocator *allocator = even->home->allocator;
    uint64_t u_most = even->u_most >> 1; /* of each */
    bry__segment_copy copy;
    if (!bry__segment_copy_make(&copy, even->segment, u_most, allocator))
        return BRY_E_NOMEM;
    bry__segment_encoder encoder;
    bry__segment_encode_into(even, &encoder);
    half_reader a = {.segment = &copy.segment}, b = {.segment = odd};
    bry__entry merged[PART];
    bool more = true;
    while (more) {
        unsigned n = 0;
        while (n < PART && more) {
            n += merge_some(&a, &b, merged + n, PART - n);
            more = read_half(&a, u_most) && read_half(&b, u_most);
        }
        bry__segment_encode_some(&encoder, merged, n);
    }
    half_reader *rest = read_half(&a, u_most) ? &a : &b;
    while (read_half(rest, u_most)) {
        for (unsigned i = rest->at; i < rest->n; i++)
            rest->part[i].u = rest->part[i].u << 1 | (rest == &b);
        bry__segment_encode_some(&encoder, rest->part + rest->at, rest->n - rest->at);
        rest->at = rest->n;
    }
    bry__segment_encode_end(&encoder);
    bry__segment_copy_free(&copy, allocator);
    return BRY_OK;
}

bry_status bry__segment_join(bry__segment *even, const bry__segment *odd, uint64_t u_most,
                             unsigned value_bits, const bry__home *home)
{
    unsigned n = (unsigned)even->n + odd->n;
    if (n == 0)
        return BRY_OK;
    bry__segment_change change = bry__segment_change_of(even, home, n, u_most, value_bits);
    bry_status status = bry__segment_enlarge(&change, u_most >> 1);
    return status == BRY_OK ? join_entries(&change, odd) : status;
}
