/* Inside of areas, for the files that change them. table_arena.c draws them. */
#ifndef BRY_MAPLET_AREA_H
#define BRY_MAPLET_AREA_H

#include "common/endian.h"
#include "maplet/table_arena.h"

#include <string.h>

/* Numbers of what is not the block of a segment. The four bytes after them are the size of a dead
 * block, and the offset of the end in its area. */
#define BRY__DEAD (UINT32_MAX - 1)
#define BRY__END UINT32_MAX

enum {
    BRY__HEAD = 4, /* the number before a block */
    BRY__TAIL = 8, /* the end */
    BRY__RESERVE = 320, /* the part of an area that is free after it was arranged, at least */
    BRY__BLOCKS = 1024, /* in an area at most */
    /* glibc's malloc wastes nothing on 8 bytes more than a multiple of 16, and jemalloc nothing on
     * multiples of 64 up to 512, but much on 8 bytes more. */
    BRY__ALONE = 16 / BRY__SEGMENT_STEP,
    BRY__ALONE_CLASS = 64
};

typedef struct bry__area {
    struct bry__area *next, *before;
    uint32_t size; /* bytes, with this */
    uint32_t end; /* offset of the end */
    uint32_t blocks; /* appended since it was last arranged */
    uint32_t unused;
} bry__area;

/* A block of an area that is arranged. Small, since the list of all is on the stack. */
typedef struct bry__placed {
    uint32_t number;
    uint32_t from; /* offset of its head */
    uint16_t before; /* steps that it has now */
    uint16_t steps; /* that it has afterwards; what it needs, before that is decided */
    uint16_t front, slots; /* bytes that are kept */
} bry__placed;

typedef struct bry__placed_list {
    unsigned n;
    uint32_t used; /* bytes that they need, with heads */
    bry__placed block[BRY__BLOCKS];
} bry__placed_list;

/* The steps that a block by itself gets if it needs this many. */
static inline unsigned bry__alone_steps(unsigned steps)
{
    unsigned most = (steps + BRY__ALONE - 1) / BRY__ALONE * BRY__ALONE;
    unsigned less = most > steps ? most - BRY__ALONE / 2 : most;
    return less >= steps && bry__segment_block(less) % BRY__ALONE_CLASS == 0 ? less : most;
}

static inline void bry__clear_gap(unsigned char *bytes, size_t size, size_t front, size_t slots)
{
    if (size > front + slots)
        memset(bytes + front, 0, size - front - slots);
}

/* Copies the two ends of a block, and clears what is between. */
static inline void bry__copy_ends(unsigned char *to, size_t to_size, const unsigned char *from,
                                  size_t from_size, size_t front, size_t slots)
{
    /* NOLINTBEGIN(clang-analyzer-core.NonNullParamChecker): a block that is not empty has bytes */
    if (front)
        memcpy(to, from, front);
    bry__clear_gap(to, to_size, front, slots);
    if (slots)
        memcpy(to + to_size - slots, from + from_size - slots, slots);
    /* NOLINTEND(clang-analyzer-core.NonNullParamChecker) */
}

static inline unsigned char *bry__area_at(bry__area *area, size_t offset)
{
    return (unsigned char *)area + offset;
}

static inline void bry__area_set_end(bry__area *area, uint32_t end)
{
    area->end = end;
    bry__store32(bry__area_at(area, end), BRY__END);
    bry__store32(bry__area_at(area, end) + BRY__HEAD, end);
}

/* Bytes behind the last block. */
static inline uint32_t bry__area_tail(const bry__area *area)
{
    return area->size - BRY__TAIL - area->end;
}

/* Bytes that blocks and what is free have together. */
static inline uint32_t bry__area_room(uint32_t size)
{
    return size - (uint32_t)sizeof(bry__area) - BRY__TAIL;
}

static inline void bry__block_kill(unsigned char *at, uint32_t size)
{
    bry__store32(at, BRY__DEAD);
    bry__store32(at + BRY__HEAD, size);
}

/* Bytes of the block at this place with its head; *owner is NULL if it is dead. 0: the end. */
static inline size_t bry__block_at(const bry__table *table, const unsigned char *at,
                                   bry__segment **owner)
{
    uint32_t number = bry__load32(at);
    *owner = NULL;
    if (number == BRY__END)
        return 0;
    if (number == BRY__DEAD)
        return bry__load32(at + BRY__HEAD);
    *owner = bry__table_segment(table, number);
    return BRY__HEAD + bry__segment_bytes(*owner);
}

static inline bry__block_ends bry__ends_at(const bry__table *table, const bry__segment *segment,
                                           const unsigned char *head)
{
    return bry__segment_ends(segment, bry__table_u_most(table, bry__load32(head)));
}

/* The area that ends at this place. */
static inline bry__area *bry__area_before(unsigned char *end)
{
    return (bry__area *)(void *)(end - bry__load32(end + BRY__HEAD));
}

/* ---- area.c ---------------------------------------------------------------------------------- */

/* Frees an area without blocks. */
void bry__area_close(bry__table *table, bry__area *area, const bry_allocator *allocator);
/* Moves the last area into a new allocation. BRY_E_NOMEM: nothing has changed. */
bry_status bry__area_resize_last(bry__table *table, uint32_t size, const bry_allocator *allocator);
/* The size of the last area if it has to have at least `need` bytes. */
uint32_t bry__area_size(const bry__arena *arena, size_t need);
/* What bry__arena_append() allocates: the new size of the last area, or of a new one. 0: nothing. */
uint32_t bry__arena_needs(const bry__arena *arena, size_t need, const bry__area *avoid,
                          bool *fresh);
/* Puts a block with this number behind the others of the last area, or of a new one if that is
 * `avoid`. NULL: out of memory. */
unsigned char *bry__arena_append(bry__table *table, uint32_t number, size_t bytes,
                                 const bry__area *avoid, const bry_allocator *allocator);

/* Lists the blocks of an area; false: there are too many. */
bool bry__area_list(const bry__table *table, bry__area *area, bry__placed_list *list);
/* The area of a segment. */
bry__area *bry__area_of(const bry__table *table, const bry__segment *segment);

/* Where the room of the blocks from `lo` to `hi` - 1 begins and ends. */
uint32_t bry__room_begin(const bry__placed_list *list, unsigned lo);
uint32_t bry__room_end(const bry__area *area, const bry__placed_list *list, unsigned hi);
/* Lays out the blocks from `lo` to `hi` - 1 of the list one after the other, with `free` bytes more
 * than they need; these are all, unless the last block is among them. */
void bry__area_arrange(bry__table *table, bry__area *area, bry__placed_list *list, unsigned lo,
                       unsigned hi, uint32_t free);
/* Arranges all blocks. They do not get more than a fortieth of what they need, so that new blocks
 * find what the last area has left. */
void bry__area_arrange_all(bry__table *table, bry__area *area, bry__placed_list *list,
                           uint32_t free);

/* ---- segment_block.c ------------------------------------------------------------------------- */

/* bry__block_resize() for a block by itself. */
bry_status bry__alone_resize(const bry__home *home, bry__segment *segment, unsigned steps,
                             size_t front, size_t slots);
/* Whether the table has areas, for blocks of this size. */
bool bry__wants_area(const bry__table *table, uint64_t number, unsigned steps);

#endif
