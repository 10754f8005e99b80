#include "common/pieces.h"

#include "common/checked.h"

#include <assert.h>
#include <string.h>

static uint64_t piece_count(uint64_t bytes, unsigned shift)
{
    return (bytes >> shift) + ((bytes & (((uint64_t)1 << shift) - 1)) != 0);
}

uint64_t bry__pieces_bytes_empty_of(uint64_t bytes, unsigned shift)
{
    return piece_count(bytes, shift) * sizeof(unsigned char *);
}

uint64_t bry__pieces_bytes_full_of(uint64_t bytes, unsigned shift)
{
    return bry__pieces_bytes_empty_of(bytes, shift) + bytes +
           piece_count(bytes, shift) * bry__lines_cost(0);
}

uint64_t bry__pieces_bytes_empty(uint64_t bytes)
{
    return bry__pieces_bytes_empty_of(bytes, BRY__PIECE_SHIFT);
}

uint64_t bry__pieces_bytes_full(uint64_t bytes)
{
    return bry__pieces_bytes_full_of(bytes, BRY__PIECE_SHIFT);
}

bry_status bry__pieces_init(bry__pieces *pieces, uint64_t bytes, const bry_allocator *allocator)
{
    return bry__pieces_init_of(pieces, bytes, BRY__PIECE_SHIFT, allocator);
}

bry_status bry__pieces_init_of(bry__pieces *pieces, uint64_t bytes, unsigned shift,
                               const bry_allocator *allocator)
{
    size_t directory;
    if (!bry__to_size(bry__pieces_bytes_empty_of(bytes, shift), &directory))
        return BRY_E_NOMEM;
    unsigned char **piece = bry__alloc(allocator, directory);
    if (!piece)
        return BRY_E_NOMEM;
    *pieces = (bry__pieces){
        .bytes = bytes, .shift = shift, .count = (size_t)piece_count(bytes, shift), .piece = piece};
    return BRY_OK;
}

size_t bry__pieces_clear_some(bry__pieces *pieces, size_t most, const bry_allocator *allocator)
{
    size_t freed = 0;
    for (size_t i = 0; freed < most && pieces->present > 0; i++) {
        if (!pieces->piece[i])
            continue;
        bry__free_lines(allocator, pieces->piece[i], bry__piece_size(pieces, i));
        pieces->piece[i] = NULL;
        pieces->present--;
        freed++;
    }
    return freed;
}

void bry__pieces_clear(bry__pieces *pieces, const bry_allocator *allocator)
{
    bry__pieces_clear_some(pieces, SIZE_MAX, allocator);
}

void bry__pieces_free(bry__pieces *pieces, const bry_allocator *allocator)
{
    bry__pieces_clear(pieces, allocator);
    bry__free(allocator, pieces->piece, pieces->count * sizeof *pieces->piece);
    *pieces = (bry__pieces){0};
}

size_t bry__piece_size(const bry__pieces *pieces, size_t index)
{
    uint64_t left = pieces->bytes - ((uint64_t)index << pieces->shift);
    size_t size = (size_t)1 << pieces->shift;
    return left < size ? (size_t)left : size;
}

bry_status bry__piece_reach(bry__pieces *pieces, size_t index, const bry_allocator *allocator)
{
    if (pieces->piece[index])
        return BRY_OK;
    pieces->piece[index] = bry__alloc_lines(allocator, bry__piece_size(pieces, index));
    if (!pieces->piece[index])
        return BRY_E_NOMEM;
    pieces->present++;
    return BRY_OK;
}

bry_status bry__piece_alloc_uninit(bry__pieces *pieces, size_t index,
                                   const bry_allocator *allocator)
{
    pieces->piece[index] = bry__take_lines(allocator, bry__piece_size(pieces, index));
    if (!pieces->piece[index])
        return BRY_E_NOMEM;
    pieces->present++;
    return BRY_OK;
}

bry_status bry__pieces_copy(bry__pieces *to, const bry__pieces *from,
                            const bry_allocator *allocator)
{
    assert(to->bytes == from->bytes && to->shift == from->shift && to->present == 0);
    for (size_t i = 0; i < from->count; i++) {
        if (!from->piece[i])
            continue;
        if (bry__piece_alloc_uninit(to, i, allocator) != BRY_OK)
            return BRY_E_NOMEM;
        memcpy(to->piece[i], from->piece[i], bry__piece_size(from, i));
    }
    return BRY_OK;
}

uint64_t bry__pieces_bytes_now(const bry__pieces *pieces)
{
    uint64_t bytes = pieces->count * sizeof *pieces->piece;
    size_t whole = pieces->present, last = pieces->count - 1;
    if (whole > 0 && pieces->piece[last]) { /* only the last one may be smaller */
        whole--;
        bytes += bry__lines_cost(bry__piece_size(pieces, last));
    }
    return bytes + whole * bry__lines_cost((size_t)1 << pieces->shift);
}
