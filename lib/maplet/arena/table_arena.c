/*
 * The blocks of a table's segments.
 *
 * A table of a few segments allocates each block by itself. A larger one has areas, and the blocks
 * lie in them one after the other, each behind the number of its segment:
 *
 *   ┌──────┬───┬──────────┬───┬──────────────┬──────┬─────────┬───┬───── … ─┬─────┬───────────┐
 *   │ area │ 7 │ block 7  │ 2 │ block 2      │ dead │         │ 9 │ block 9 │ end │ free      │
 *   └──────┴───┴──────────┴───┴──────────────┴──────┴─────────┴───┴───── … ─┴─────┴───────────┘
 *
 * Only the record of a segment points to its block, and the number leads to the record: so blocks
 * can be moved at any time, and no memory is lost between them. What blocks do not need at the
 * moment, a few bytes in the gap of each, is lent to neighbours:
 *
 *   A block that grows takes what it needs from the nearest block behind it that has as much to
 *   spare; those between move by a few bytes. If there is none near, the blocks around it are
 *   rearranged, so that all have about the same to spare. If the area has too little for that,
 *   one of its blocks first moves to the last area, which grows for it. An area has a hundred
 *   blocks or so; so about half a block of each area is free, and what an insertion moves is
 *   little.
 *
 *   A block that shrinks leaves a dead one behind it, which the others use in the same way. If more
 *   than 1/32 is free, each removal moves a few blocks of the last area to where they fit, until
 *   the last area is empty and can be returned (bry__arena_compact).
 *
 * The last area is allocated in steps of 1/256 to 1/1024 of the table, so that little of it is
 * unused. No call moves more than two areas. Removals need no memory.
 */
#include "common/attributes.h"
#include "maplet/arena/area.h"

/* ---- compacting ----------------------------------------------------------------------------- */

/* Puts a copy of the block behind the others of the area, which has room for it. */
static void copy_into(bry__table *table, bry__area *area, const bry__placed *block)
{
    bry__segment *segment = bry__table_segment(table, block->number);
    size_t size = bry__segment_block(block->steps), before = bry__segment_bytes(segment);
    unsigned char *at = bry__area_at(area, area->end);
    bry__store32(at, block->number);
    bry__copy_ends(at + BRY__HEAD, size, segment->bytes, before, block->front, block->slots);
    bry__area_set_end(area, (uint32_t)(area->end + BRY__HEAD + size));
    area->blocks++;
    table->arena->free += before;
    table->arena->free -= size;
    segment->bytes = at + BRY__HEAD;
    segment->steps = block->steps;
}

/* Moves some blocks from the end of the last area, whose blocks are listed, to one of the next few
 * areas that has room for them. The list is overwritten. */
static bool compact_into_others(bry__table *table, bry__placed_list *list)
{
    enum { TRIES = 4, TOGETHER = 4 };
    bry__arena *arena = table->arena;
    bry__placed last[TOGETHER]; /* the last one first */
    unsigned most = list->n < TOGETHER ? list->n : TOGETHER;
    for (unsigned i = 0; i < most; i++)
        last[i] = list->block[list->n - 1 - i];
    for (unsigned tries = 0; tries < TRIES; tries++) {
        bry__area *area = arena->next && arena->next != arena->last ? arena->next : arena->first;
        arena->next = area->next;
        bool listed = bry__area_list(table, area, list);
        uint32_t room = bry__area_room(area->size), used = list->used;
        unsigned n = 0;
        while (listed && n < most && list->n + n < BRY__BLOCKS) {
            used += BRY__HEAD + (uint32_t)bry__segment_block(last[n].steps);
            if (used > room)
                break;
            n++;
        }
        if (n == 0)
            continue;
        bry__area_arrange_all(table, area, list, used < room ? (room - used) / 2 : 0);
        for (unsigned i = 0; i < n; i++)
            copy_into(table, area, &last[i]);
        bry__area_set_end(arena->last, last[n - 1].from);
        return true;
    }
    return false;
}

/* Makes the last area, whose blocks are listed, smaller. */
static bool compact_last(bry__table *table, bry__placed_list *list, const bry_allocator *allocator)
{
    bry__area *area = table->arena->last;
    uint32_t size =
        bry__area_size(table->arena, sizeof *area + list->used + list->used / 40 + BRY__TAIL);
    if (size + area->size / 32 > area->size)
        return false;
    bry__area_arrange_all(table, area, list, list->used / 40);
    if (bry__area_resize_last(table, size, allocator) == BRY_OK)
        return true;
    (void)bry__area_list(table, area, list); /* the blocks have moved */
    return false;
}

/* Moves the last block of the last area out of the areas. */
static bool compact_out(bry__table *table, const bry__placed *block, const bry_allocator *allocator)
{
    bry__segment made = {0}, *segment = bry__table_segment(table, block->number);
    bry__home home = {allocator, table, block->number};
    if (bry__alone_resize(&home, &made, block->steps, 0, 0) != BRY_OK)
        return false;
    bry__copy_ends(made.bytes, bry__segment_bytes(&made), segment->bytes,
                   bry__segment_bytes(segment), block->front, block->slots);
    table->arena->free += BRY__HEAD + bry__segment_bytes(segment);
    bry__area_set_end(table->arena->last, block->from);
    segment->bytes = made.bytes;
    segment->steps = made.steps;
    segment->in_area = 0;
    return true;
}

/* Moves some blocks, or out of the areas if `out`. Not inlined: the list takes 16 KB of stack,
 * which the compiler touches page by page at the beginning of the function. */
static BRY__COLD bool compact_some(bry__table *table, bool out, const bry_allocator *allocator)
{
    bry__arena *arena = table->arena;
    bry__placed_list list;
    if (!bry__area_list(table, arena->last, &list))
        return false;
    if (list.n == 0) {
        bry__area_close(table, arena->last, allocator);
        return true;
    }
    bry__placed last = list.block[list.n - 1];
    if (out)
        return compact_out(table, &last, allocator);
    return compact_last(table, &list, allocator) ||
           (arena->first != arena->last && compact_into_others(table, &list));
}

bool bry__arena_compact(bry__table *table, const bry_allocator *allocator)
{
    bry__arena *arena = table->arena;
    if (!arena || (!arena->first && table->segments >= arena->least / 2))
        return false;
    if (!arena->first || table->n == bry__overflow_count(&table->overflow)) {
        bry__arena_free_some(table, SIZE_MAX, allocator);
        return false;
    }
    bool out = table->segments < arena->least / 2;
    if (!out && arena->free <= arena->bytes / 32 + arena->most / 128)
        return false;
    return compact_some(table, out, allocator);
}

/* ---- whole arenas --------------------------------------------------------------------------- */

bry_status bry__arena_begin(bry__table *table, uint32_t most, uint32_t least,
                            const bry_allocator *allocator)
{
    bry__arena *arena = bry__alloc(allocator, sizeof *arena);
    if (!arena)
        return BRY_E_NOMEM;
    arena->most = most;
    arena->least = least;
    table->arena = arena;
    table->block_bytes += sizeof *arena;
    return BRY_OK;
}

bry_status bry__arena_begin_like(bry__table *table, const bry__table *like,
                                 const bry_allocator *allocator)
{
    const bry__arena *arena = like->arena;
    if (!arena || (arena->most == BRY__AREA_MOST && arena->least == BRY__AREA_SEGMENTS))
        return BRY_OK;
    return bry__arena_begin(table, arena->most, arena->least, allocator);
}

bool bry__arena_free_some(bry__table *table, size_t n, const bry_allocator *allocator)
{
    bry__arena *arena = table->arena;
    if (!arena)
        return true;
    for (; arena->last && n > 0; n--)
        bry__area_close(table, arena->last, allocator);
    if (arena->last)
        return false;
    table->block_bytes -= sizeof *arena;
    bry__free(allocator, arena, sizeof *arena);
    table->arena = NULL;
    return true;
}

uint64_t bry__arena_cost(const bry__table *table, unsigned steps)
{
    if (!bry__wants_area(table, 0, steps))
        return bry__segment_block(bry__alone_steps(steps));
    bry__arena none = {.most = BRY__AREA_MOST};
    const bry__arena *arena = table->arena ? table->arena : &none;
    bool fresh;
    uint32_t size = bry__arena_needs(arena, BRY__HEAD + bry__segment_block(steps), NULL, &fresh);
    uint64_t cost =
        size == 0 || fresh
            ? size
            : size - arena->last->size; /* NOLINT(clang-analyzer-core.NullDereference) */
    return cost + (table->arena ? 0 : sizeof *arena);
}

uint64_t bry__arena_plan(double bytes, uint64_t blocks)
{
    /* On average half of the last step is unused. */
    if (blocks < BRY__AREA_SEGMENTS)
        return (uint64_t)(bytes + 8.0 * (double)blocks);
    bytes += (BRY__HEAD + BRY__SEGMENT_STEP / 2.0) * (double)blocks;
    double block = bytes / (double)blocks;
    double unused = bytes / BRY__AREA_MOST * 0.6 * block + bytes / 1024 + block / 2;
    return sizeof(bry__arena) + (uint64_t)(bytes + unused);
}

/* Checks the blocks of an area, and counts them. */
static const char *check_area(const bry__table *table, bry__area *area, uint64_t *blocks,
                              uint64_t *free)
{
    unsigned char *at = bry__area_at(area, sizeof *area);
    bry__segment *owner;
    for (size_t size; (size = bry__block_at(table, at, &owner)) > 0; at += size) {
        if (!owner && (size < 2UL * BRY__HEAD || size > area->size))
            return "a dead block has a wrong size";
        if (owner && (bry__load32(at) >= table->segments || owner->bytes != at + BRY__HEAD ||
                      !owner->in_area))
            return "a block does not belong to its segment";
        if (at + size > bry__area_at(area, area->end))
            return "a block is beyond the end of its area";
        *blocks += owner != NULL;
        *free += owner ? 0 : size;
    }
    if (at != bry__area_at(area, area->end) || bry__load32(at + BRY__HEAD) != area->end ||
        area->end + BRY__TAIL > area->size)
        return "the end of an area is wrong";
    *free += bry__area_tail(area);
    return NULL;
}

const char *bry__arena_check(const bry__table *table)
{
    uint64_t blocks = 0, free = 0, bytes = 0, alone = 0;
    const bry__arena *arena = table->arena;
    for (bry__area *area = arena ? arena->first : NULL; area; area = area->next) {
        const char *problem = check_area(table, area, &blocks, &free);
        if (problem)
            return problem;
        if ((area->next ? area->next->before : arena->last) != (area->next ? area : arena->last) ||
            area->size > arena->most)
            return "the areas are not linked";
        bytes += area->size;
    }
    for (uint64_t i = 0; i < table->segments; i++) {
        const bry__segment *segment = bry__table_segment(table, i);
        blocks -= segment->in_area;
        alone += segment->in_area ? 0 : bry__segment_bytes(segment);
    }
    if (blocks != 0 || (arena && (arena->bytes != bytes || arena->free != free)))
        return "the areas are not as counted";
    if (table->block_bytes != alone + bytes + (arena ? sizeof *arena : 0))
        return "the blocks have other bytes than counted";
    return NULL;
}
