/* Areas, and how blocks are arranged in them. */
#include "maplet/arena/area.h"

enum { AHEAD = 4096 }; /* how far to prefetch */

/* ---- areas ---------------------------------------------------------------------------------- */

static bry__area *area_new(bry__table *table, uint32_t size, const bry_allocator *allocator)
{
    bry__area *area = bry__alloc_buffer(allocator, size);
    if (area) {
        *area = (bry__area){.size = size};
        table->block_bytes += size;
        table->arena->bytes += size;
        table->arena->free += bry__area_room(size);
    }
    return area;
}

static void area_free(bry__table *table, bry__area *area, const bry_allocator *allocator)
{
    table->block_bytes -= area->size;
    table->arena->bytes -= area->size;
    bry__free(allocator, area, area->size);
}

void bry__area_close(bry__table *table, bry__area *area, const bry_allocator *allocator)
{
    bry__arena *arena = table->arena;
    *(area->before ? &area->before->next : &arena->first) = area->next;
    *(area->next ? &area->next->before : &arena->last) = area->before;
    if (arena->next == area)
        arena->next = area->next;
    arena->free -= bry__area_room(area->size);
    area_free(table, area, allocator);
}

bry_status bry__area_resize_last(bry__table *table, uint32_t size, const bry_allocator *allocator)
{
    bry__arena *arena = table->arena;
    bry__area *area = arena->last, *made = area_new(table, size, allocator);
    if (!made)
        return BRY_E_NOMEM;
    memcpy(made, area, area->end + BRY__TAIL);
    made->size = size;
    *(made->before ? &made->before->next : &arena->first) = made;
    arena->last = made;
    if (arena->next == area)
        arena->next = made;
    bry__segment *owner;
    unsigned char *at = bry__area_at(made, sizeof *made);
    for (size_t bytes; (bytes = bry__block_at(table, at, &owner)) > 0; at += bytes)
        if (owner)
            owner->bytes = at + BRY__HEAD;
    arena->free -= bry__area_room(area->size);
    area_free(table, area, allocator);
    return BRY_OK;
}

/*
 * The size of the last area if it has to have at least `need` bytes. It grows in steps of about 1/256
 * to 1/1024 of all areas. The steps are powers of two, so that what one area leaves, when it is
 * moved to a larger place, is what the next one needs: else malloc would be left with holes.
 */
uint32_t bry__area_size(const bry__arena *arena, size_t need)
{
    uint64_t step = 1024;
    while (step * 1024 <= arena->bytes || (step * 256 <= arena->bytes && step * 8 <= need))
        step *= 2;
    uint64_t size = (need + BRY__AREA_EXTRA + step - 1) / step * step - BRY__AREA_EXTRA;
    return size < arena->most ? (uint32_t)size : arena->most;
}

uint32_t bry__arena_needs(const bry__arena *arena, size_t need, const bry__area *avoid, bool *fresh)
{
    const bry__area *last = arena->last;
    *fresh = !last || last == avoid || last->blocks >= BRY__BLOCKS ||
             last->end + need + BRY__TAIL > arena->most;
    if (!*fresh && bry__area_tail(last) >= need)
        return 0;
    return bry__area_size(arena, (*fresh ? sizeof *last : last->end) + need + BRY__TAIL);
}

/* Opens one more area. */
static bool arena_open(bry__table *table, uint32_t size, const bry_allocator *allocator)
{
    bry__arena *arena = table->arena;
    bry__area *made = area_new(table, size, allocator);
    if (!made)
        return false;
    made->before = arena->last;
    *(arena->last ? &arena->last->next : &arena->first) = made;
    arena->last = made;
    bry__area_set_end(made, sizeof *made);
    return true;
}

unsigned char *bry__arena_append(bry__table *table, uint32_t number, size_t bytes,
                                 const bry__area *avoid, const bry_allocator *allocator)
{
    bry__arena *arena = table->arena;
    size_t need = BRY__HEAD + bytes;
    bool fresh;
    uint32_t size = bry__arena_needs(arena, need, avoid, &fresh);
    if (size > 0 && (fresh || bry__area_resize_last(table, size, allocator) != BRY_OK)) {
        /* Without memory for a larger one, there may be enough for a small one beside it. */
        size = bry__area_size(arena, sizeof(bry__area) + need + BRY__TAIL);
        if (!arena_open(table, size, allocator))
            return NULL;
    }
    bry__area *area = arena->last;
    unsigned char *at = bry__area_at(area, area->end);
    bry__store32(at, number);
    bry__area_set_end(area, (uint32_t)(area->end + need));
    area->blocks++;
    arena->free -= need;
    return at + BRY__HEAD;
}

/* ---- arranging ------------------------------------------------------------------------------ */

bool bry__area_list(const bry__table *table, bry__area *area, bry__placed_list *list)
{
    unsigned char *at = bry__area_at(area, sizeof *area);
    uint32_t from = sizeof *area;
    list->n = list->used = 0;
    bry__segment *owner;
    size_t size;
    for (; (size = bry__block_at(table, at, &owner)) > 0; at += size, from += (uint32_t)size) {
        /* What lies some blocks ahead is read next, and moved afterwards. */
        for (size_t ahead = 0; ahead < size; ahead += BRY__LINE)
            __builtin_prefetch(at + AHEAD + ahead, 1);
        if (!owner)
            continue;
        if (list->n == BRY__BLOCKS)
            return false;
        uint32_t number = bry__load32(at);
        bry__block_ends ends = bry__segment_ends(owner, bry__table_u_most(table, number));
        list->block[list->n++] = (bry__placed){.number = number,
                                               .from = from,
                                               .before = owner->steps,
                                               .steps = (uint16_t)ends.steps,
                                               .front = (uint16_t)ends.front,
                                               .slots = (uint16_t)ends.slots};
        list->used += BRY__HEAD + (uint32_t)bry__segment_block(ends.steps);
    }
    return true;
}

bry__area *bry__area_of(const bry__table *table, const bry__segment *segment)
{
    unsigned char *at = segment->bytes - BRY__HEAD;
    bry__segment *owner;
    for (size_t size; (size = bry__block_at(table, at, &owner)) > 0;)
        at += size;
    return bry__area_before(at);
}

/* Where the slots of a block begin if its head is at this offset. */
static inline size_t slots_at(const bry__placed *block, uint32_t head, unsigned steps)
{
    return head + BRY__HEAD + bry__segment_block(steps) - block->slots;
}

/* Move the ends of blocks that go up, or of those that go down. What goes up is moved from above,
 * and what goes down, from below: so nothing is overwritten before it was moved. `to` is the new
 * offset of the head. */
static inline void move_up(bry__area *area, const bry__placed *block, uint32_t to)
{
    size_t from_end = slots_at(block, block->from, block->before);
    size_t to_end = slots_at(block, to, block->steps);
    if (to_end > from_end)
        memmove(bry__area_at(area, to_end), bry__area_at(area, from_end), block->slots);
    if (to > block->from)
        memmove(bry__area_at(area, to), bry__area_at(area, block->from),
                BRY__HEAD + (size_t)block->front);
}

static inline void move_down(bry__area *area, const bry__placed *block, uint32_t to)
{
    size_t from_end = slots_at(block, block->from, block->before);
    size_t to_end = slots_at(block, to, block->steps);
    if (to < block->from)
        memmove(bry__area_at(area, to), bry__area_at(area, block->from),
                BRY__HEAD + (size_t)block->front);
    if (to_end < from_end)
        memmove(bry__area_at(area, to_end), bry__area_at(area, from_end), block->slots);
}

uint32_t bry__room_begin(const bry__placed_list *list, unsigned lo)
{
    return lo > 0 ? list->block[lo].from : (uint32_t)sizeof(bry__area);
}

uint32_t bry__room_end(const bry__area *area, const bry__placed_list *list, unsigned hi)
{
    return hi < list->n ? list->block[hi].from : area->size - BRY__TAIL;
}

/* Bytes of a block with its head, as it is afterwards. */
static uint32_t placed_bytes(const bry__placed *block)
{
    return BRY__HEAD + (uint32_t)bry__segment_block(block->steps);
}

/* Decides how large blocks are: each gets a part of `free` that is proportional to its size.
 * Returns where they end. */
static uint32_t lay_out(bry__placed_list *list, unsigned lo, unsigned hi, uint32_t free)
{
    uint32_t to = bry__room_begin(list, lo);
    uint64_t all = 0, sum = 0, given = 0;
    for (unsigned i = lo; i < hi; i++)
        all += list->block[i].steps + 1;
    for (unsigned i = lo; i < hi; i++) {
        bry__placed *block = &list->block[i];
        sum += block->steps + 1;
        uint64_t give = sum * (free / BRY__SEGMENT_STEP) / all;
        block->steps += (uint16_t)(give - given);
        given = give;
        to += placed_bytes(block);
    }
    return to;
}

void bry__area_arrange(bry__table *table, bry__area *area, bry__placed_list *list, unsigned lo,
                       unsigned hi, uint32_t free)
{
    uint32_t begin = bry__room_begin(list, lo), before = begin, end = lay_out(list, lo, hi, free);
    uint32_t to = end;
    for (unsigned i = hi; i-- > lo;) {
        to -= placed_bytes(&list->block[i]);
        move_up(area, &list->block[i], to);
    }
    for (unsigned i = lo; i < hi; i++) {
        move_down(area, &list->block[i], to);
        to += placed_bytes(&list->block[i]);
    }
    to = begin;
    for (unsigned i = lo; i < hi; i++) {
        const bry__placed *block = &list->block[i];
        bry__segment *of = bry__table_segment(table, block->number);
        before += BRY__HEAD + (uint32_t)bry__segment_block(block->before);
        of->bytes = bry__area_at(area, to + BRY__HEAD);
        of->steps = block->steps;
        bry__clear_gap(of->bytes, bry__segment_bytes(of), block->front, block->slots);
        to += placed_bytes(block);
    }
    table->arena->free += before;
    table->arena->free -= end;
    if (hi == list->n)
        bry__area_set_end(area, end);
    if (hi - lo == list->n)
        area->blocks = list->n;
}

void bry__area_arrange_all(bry__table *table, bry__area *area, bry__placed_list *list,
                           uint32_t free)
{
    uint32_t most = list->used / 40;
    bry__area_arrange(table, area, list, 0, list->n, free < most ? free : most);
}
