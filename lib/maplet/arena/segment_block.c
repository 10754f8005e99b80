/* The blocks of segments: larger and smaller, in areas or by themselves. table_arena.c explains
 * it. */
#include "maplet/arena/area.h"

#include "common/attributes.h"

enum {
    REACH = 8, /* how many blocks may move for one that grows, unless all do */
    FEW = 16 /* of how many blocks the smallest leaves an area */
};

/* ---- blocks by themselves ------------------------------------------------------------------- */

static void count_bytes(const bry__home *home, uint64_t more, uint64_t less)
{
    if (home->table)
        home->table->block_bytes += more - less;
}

bry_status bry__alone_resize(const bry__home *home, bry__segment *segment, unsigned steps,
                             size_t front, size_t slots)
{
    steps = bry__alone_steps(steps);
    size_t size = bry__segment_block(steps), before = bry__segment_bytes(segment);
    if (steps == segment->steps && segment->bytes) {
        bry__clear_gap(segment->bytes, size, front, slots);
        return BRY_OK;
    }
    unsigned char *bytes = bry__alloc_buffer(home->allocator, size);
    if (!bytes && steps > segment->steps)
        return BRY_E_NOMEM;
    if (!bytes) {
        bry__clear_gap(segment->bytes, before, front, slots);
        return BRY_OK;
    }
    bry__copy_ends(bytes, size, segment->bytes, before, front, slots);
    bry__free(home->allocator, segment->bytes, before);
    count_bytes(home, size, before);
    segment->bytes = bytes;
    segment->steps = (uint16_t)steps;
    return BRY_OK;
}

/* ---- growing -------------------------------------------------------------------------------- */

/* Moves what is between two places up by some bytes, and makes the records follow. */
static void shift_up(const bry__table *table, unsigned char *from, unsigned char *to, size_t by)
{
    memmove(from + by, from, (size_t)(to - from));
    bry__segment *owner;
    for (unsigned char *at = from + by; at < to + by;) {
        size_t size = bry__block_at(table, at, &owner);
        if (owner)
            owner->bytes = at + BRY__HEAD;
        at += size;
    }
}

/* Takes at least `need` bytes from the block at this place, or from the end of the area, for one
 * before it; those that begin at `from` move up. Returns how many were taken; 0: there are not as
 * many. */
static size_t take_from(bry__table *table, unsigned char *at, unsigned char *from, size_t need)
{
    bry__segment *owner;
    size_t size = bry__block_at(table, at, &owner), most;
    if (size == 0) {
        bry__area *area = bry__area_before(at);
        most = bry__area_tail(area);
        if (most < need)
            return 0;
        size_t take = most - need > 16 ? need + 16 : most;
        shift_up(table, from, at, take);
        bry__area_set_end(area, (uint32_t)(area->end + take));
        table->arena->free -= take;
        return take;
    }
    if (!owner) {
        if (size < need)
            return 0;
        size_t take = size - need > 64 ? need + 32 : size;
        shift_up(table, from, at, take);
        if (take < size)
            bry__block_kill(at + take, (uint32_t)(size - take));
        table->arena->free -= take;
        return take;
    }
    bry__block_ends ends = bry__ends_at(table, owner, at);
    most = (size_t)(owner->steps - ends.steps) * BRY__SEGMENT_STEP;
    if (most < need)
        return 0;
    size_t take = need + (most - need) / 2 / BRY__SEGMENT_STEP * BRY__SEGMENT_STEP;
    memmove(at + take, at, BRY__HEAD + ends.front);
    shift_up(table, from, at, take);
    owner->bytes += take;
    owner->steps -= (uint16_t)(take / BRY__SEGMENT_STEP);
    return take;
}

/* Makes the block larger by what others near it can spare. */
static bool grow_nearby(bry__table *table, bry__segment *segment, unsigned steps, size_t front,
                        size_t slots)
{
    size_t before = bry__segment_bytes(segment), took = 0;
    size_t need = (size_t)(steps - segment->steps) * BRY__SEGMENT_STEP, size = 1;
    unsigned char *from = segment->bytes + before, *at = from;
    bry__segment *owner;
    for (unsigned i = 0; i < REACH && took == 0 && size > 0; i++, at += size) {
        size = bry__block_at(table, at, &owner);
        took = take_from(table, at, from, need);
    }
    if (took == 0)
        return false;
    memmove(from - slots + took, from - slots, slots);
    bry__clear_gap(segment->bytes, before + took, front, slots);
    segment->steps += (uint16_t)(took / BRY__SEGMENT_STEP);
    return true;
}

/* Moves a block to the end of the last area, or of a new one if that is `avoid`. */
static bry_status move_out(bry__table *table, const bry__placed *block, const bry__area *avoid,
                           const bry_allocator *allocator)
{
    bry__segment *segment = bry__table_segment(table, block->number);
    size_t size = bry__segment_block(block->steps), before = bry__segment_bytes(segment);
    unsigned char *to = bry__arena_append(table, block->number, size, avoid, allocator);
    if (!to)
        return BRY_E_NOMEM;
    bry__copy_ends(to, size, segment->bytes, before, block->front, block->slots);
    bry__block_kill(segment->bytes - BRY__HEAD, (uint32_t)(BRY__HEAD + before));
    table->arena->free += BRY__HEAD + before;
    segment->bytes = to;
    segment->steps = block->steps;
    return BRY_OK;
}

/* Makes room in the area, whose blocks are listed: the last area grows, from others a block moves
 * out. */
static bry_status make_room(bry__table *table, bry__area **area, bry__placed_list *list,
                            const bry_allocator *allocator)
{
    bry__arena *arena = table->arena;
    /* One of the last, since the others behind it move; a small one, since that is how much more
     * than necessary becomes free. */
    unsigned which = list->n - 1;
    for (unsigned i = list->n > FEW ? list->n - FEW : 0; i < list->n; i++)
        if (list->block[i].steps < list->block[which].steps)
            which = i;
    const bry__placed *last = &list->block[which];
    uint32_t most = (*area)->size;
    if (*area == arena->last)
        most = bry__area_size(arena,
                              sizeof **area + list->used + list->used / BRY__RESERVE + BRY__TAIL);
    if (most > (*area)->size && bry__area_room(most) >= list->used &&
        bry__area_resize_last(table, most, allocator) == BRY_OK) {
        *area = arena->last;
        return BRY_OK;
    }
    bry_status status = move_out(table, last, *area, allocator);
    if (status == BRY_OK) {
        list->used -= BRY__HEAD + (uint32_t)bry__segment_block(last->steps);
        list->n--;
        memmove(&list->block[which], &list->block[which + 1],
                (list->n - which) * sizeof *list->block);
    }
    return status;
}

/* Arranges the block and those around it. As many as have together about as much to spare as the
 * average of the area. */
static void arrange_around(bry__table *table, bry__area *area, bry__placed_list *list,
                           uint32_t number)
{
    unsigned lo = 0, hi, n = list->n;
    while (list->block[lo].number != number)
        lo++;
    hi = lo + 1;
    uint64_t average = (bry__area_room(area->size) - list->used) / n * 3 / 4;
    uint64_t used = BRY__HEAD + bry__segment_block(list->block[lo].steps);
    for (;;) {
        uint64_t room = bry__room_end(area, list, hi) - bry__room_begin(list, lo);
        if (room >= used + (hi - lo) * average || hi - lo == n) {
            uint64_t free = room - used, most = used / 40;
            bry__area_arrange(table, area, list, lo, hi,
                              (uint32_t)(hi < n || free < most ? free : most));
            return;
        }
        if (lo > 0)
            used += BRY__HEAD + bry__segment_block(list->block[--lo].steps);
        if (hi < n)
            used += BRY__HEAD + bry__segment_block(list->block[hi++].steps);
    }
}

/* Makes a block larger by rearranging its area. */
static BRY__LARGE_FRAME bry_status grow_in_area(bry__table *table, bry__segment *segment,
                                                unsigned steps, size_t front, size_t slots,
                                                const bry_allocator *allocator)
{
    bry__placed_list list;
    bry__area *area = bry__area_of(table, segment);
    bry__placed block = {.number = bry__load32(segment->bytes - BRY__HEAD),
                         .before = segment->steps,
                         .steps = (uint16_t)steps,
                         .front = (uint16_t)front,
                         .slots = (uint16_t)slots};
    if (!bry__area_list(table, area, &list))
        return move_out(table, &block, NULL, allocator);
    for (unsigned i = 0; i < list.n; i++)
        if (list.block[i].number == block.number) {
            list.used += (steps - list.block[i].steps) * BRY__SEGMENT_STEP;
            block.from = list.block[i].from;
            list.block[i] = block;
        }
    unsigned all = list.n;
    while (list.n > 0 && list.used + area->size / BRY__RESERVE > bry__area_room(area->size)) {
        bry_status status = make_room(table, &area, &list, allocator);
        if (status != BRY_OK && list.used > bry__area_room(area->size))
            return status;
        if (status != BRY_OK)
            break;
    }
    if (list.n == 0) /* the block was the only one */
        bry__area_close(table, area, allocator);
    else if (list.n < all)
        bry__area_arrange_all(table, area, &list, bry__area_room(area->size) - list.used);
    else
        arrange_around(table, area, &list, block.number);
    return BRY_OK;
}

/* ---- segments ------------------------------------------------------------------------------- */

bool bry__wants_area(const bry__table *table, uint64_t number, unsigned steps)
{
    const bry__arena *arena = table->arena;
    uint32_t least = arena ? arena->least : BRY__AREA_SEGMENTS;
    uint32_t most = arena ? arena->most : BRY__AREA_MOST;
    if (arena && arena->first) /* a table that shrinks keeps them for a while */
        least /= 2;
    return table->segments >= least && number < BRY__DEAD && bry__segment_block(steps) <= most / 8;
}

/* A new block in an area; the segment's own one, if it has one, is freed. */
static bry_status enter_area(const bry__home *home, bry__segment *segment, unsigned steps,
                             size_t front, size_t slots)
{
    bry__table *table = home->table;
    if (!table->arena) {
        bry_status status =
            bry__arena_begin(table, BRY__AREA_MOST, BRY__AREA_SEGMENTS, home->allocator);
        if (status != BRY_OK)
            return status;
    }
    size_t size = bry__segment_block(steps), before = bry__segment_bytes(segment);
    unsigned char *to =
        bry__arena_append(table, (uint32_t)home->number, size, NULL, home->allocator);
    if (!to)
        return BRY_E_NOMEM;
    bry__copy_ends(to, size, segment->bytes, before, front, slots);
    bry__free(home->allocator, segment->bytes, before);
    table->block_bytes -= before;
    segment->bytes = to;
    segment->steps = (uint16_t)steps;
    segment->in_area = 1;
    return BRY_OK;
}

static void shrink_in_area(bry__table *table, bry__segment *segment, unsigned steps, size_t front,
                           size_t slots)
{
    size_t before = bry__segment_bytes(segment), size = bry__segment_block(steps);
    if (before - size < 2UL * BRY__HEAD) { /* a dead block needs as much */
        bry__clear_gap(segment->bytes, before, front, slots);
        return;
    }
    memmove(segment->bytes + size - slots, segment->bytes + before - slots, slots);
    bry__clear_gap(segment->bytes, size, front, slots);
    bry__block_kill(segment->bytes + size, (uint32_t)(before - size));
    table->arena->free += before - size;
    segment->steps = (uint16_t)steps;
}

bry_status bry__block_resize(const bry__home *home, bry__segment *segment, unsigned steps,
                             size_t front, size_t slots)
{
    if (!segment->in_area)
        return home->table && (!segment->bytes || steps > segment->steps) &&
                       bry__wants_area(home->table, home->number, steps)
                   ? enter_area(home, segment, steps, front, slots)
                   : bry__alone_resize(home, segment, steps, front, slots);
    if (steps <= segment->steps) {
        shrink_in_area(home->table, segment, steps, front, slots);
        return BRY_OK;
    }
    if (bry__segment_block(steps) > home->table->arena->most / 8) { /* leaves the areas */
        bry__segment made = {0};
        bry_status status = bry__alone_resize(home, &made, steps, 0, 0);
        if (status != BRY_OK)
            return status;
        bry__copy_ends(made.bytes, bry__segment_bytes(&made), segment->bytes,
                       bry__segment_bytes(segment), front, slots);
        bry__block_free(home, segment);
        segment->bytes = made.bytes;
        segment->steps = made.steps;
        return BRY_OK;
    }
    if (grow_nearby(home->table, segment, steps, front, slots))
        return BRY_OK;
    return grow_in_area(home->table, segment, steps, front, slots, home->allocator);
}

/* Bytes of a block that is divided into two of these sizes. */
static size_t divided_bytes(unsigned steps, unsigned other_steps)
{
    return bry__segment_block(steps) + BRY__HEAD + bry__segment_block(other_steps);
}

bool bry__block_divides(const bry__segment *segment, unsigned steps, const bry__segment *other,
                        unsigned other_steps)
{
    return segment->in_area && !other->bytes &&
           bry__segment_bytes(segment) >= divided_bytes(steps, other_steps);
}

void bry__block_divide(const bry__home *home, bry__segment *segment, unsigned steps,
                       bry__segment *other, unsigned other_steps)
{
    size_t before = bry__segment_bytes(segment), need = divided_bytes(steps, other_steps);
    unsigned spare = (unsigned)(before - need) / BRY__SEGMENT_STEP;
    segment->steps = (uint16_t)(steps + spare / 2);
    unsigned char *head = segment->bytes + bry__segment_bytes(segment);
    bry__store32(head, (uint32_t)home->number);
    other->bytes = head + BRY__HEAD;
    other->steps = (uint16_t)(other_steps + spare - spare / 2);
    other->in_area = 1;
    memset(segment->bytes, 0, bry__segment_bytes(segment));
    memset(other->bytes, 0, bry__segment_bytes(other));
}

void bry__block_free(const bry__home *home, bry__segment *segment)
{
    size_t size = bry__segment_bytes(segment);
    if (segment->in_area) {
        bry__block_kill(segment->bytes - BRY__HEAD, (uint32_t)(BRY__HEAD + size));
        home->table->arena->free += BRY__HEAD + size;
    } else {
        bry__free(home->allocator, segment->bytes, size);
        count_bytes(home, 0, size);
    }
    segment->bytes = NULL;
    segment->steps = 0;
    segment->in_area = 0;
}
