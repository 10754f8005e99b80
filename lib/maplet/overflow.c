#include "maplet/overflow.h"

#include <assert.h>
#include <string.h>

static bool overflow_below(const bry__chunk *chunk, unsigned i, uint64_t fingerprint,
                           uint32_t value)
{
    return chunk->fingerprint[i] < fingerprint ||
           (chunk->fingerprint[i] == fingerprint && chunk->value[i] < value);
}

static void overflow_move_entries(bry__chunk *to, unsigned at, const bry__chunk *from,
                                  unsigned first, unsigned n)
{
    memmove(to->fingerprint + at, from->fingerprint + first, n * sizeof *to->fingerprint);
    memmove(to->value + at, from->value + first, n * sizeof *to->value);
}

void bry__overflow_free(bry__overflow *overflow, const bry_allocator *allocator)
{
    for (size_t i = 0; i < overflow->chunks; i++)
        bry__free(allocator, overflow->chunk[i], sizeof(bry__chunk));
    bry__free(allocator, overflow->chunk, overflow->room * sizeof *overflow->chunk);
    *overflow = (bry__overflow){0};
}

uint64_t bry__overflow_bytes(const bry__overflow *overflow)
{
    return overflow->chunks * sizeof(bry__chunk) + overflow->room * sizeof *overflow->chunk;
}

bry_status bry__overflow_clone(const bry__overflow *overflow, bry__overflow *copy,
                               const bry_allocator *allocator)
{
    bry__overflow made = {.room = overflow->room, .n = overflow->n};
    if (overflow->room > 0) {
        made.chunk = bry__alloc(allocator, made.room * sizeof *made.chunk);
        if (!made.chunk)
            return BRY_E_NOMEM;
    }
    assert(overflow->chunks <= made.room);
    for (; made.chunks < overflow->chunks; made.chunks++) {
        bry__chunk *chunk = bry__alloc(allocator, sizeof *chunk);
        if (!chunk) {
            bry__overflow_free(&made, allocator);
            return BRY_E_NOMEM;
        }
        *chunk = *overflow->chunk[made.chunks];
        made.chunk[made.chunks] = chunk;
    }
    *copy = made;
    return BRY_OK;
}

bry__overflow_place bry__overflow_find(const bry__overflow *overflow, uint64_t fingerprint,
                                       uint32_t value)
{
    size_t low = 0, high = overflow->chunks;
    while (low < high) { /* the first chunk whose last entry is not below */
        size_t middle = low + (high - low) / 2;
        const bry__chunk *chunk = overflow->chunk[middle];
        if (overflow_below(chunk, chunk->n - 1, fingerprint, value))
            low = middle + 1;
        else
            high = middle;
    }
    bry__overflow_place place = {.chunk = low};
    if (low < overflow->chunks) {
        const bry__chunk *chunk = overflow->chunk[low];
        unsigned first = 0, last = chunk->n;
        while (first < last) {
            unsigned middle = first + (last - first) / 2;
            if (overflow_below(chunk, middle, fingerprint, value))
                first = middle + 1;
            else
                last = middle;
        }
        place.at = first;
    }
    return place;
}

bool bry__overflow_next(const bry__overflow *overflow, bry__overflow_place *place,
                        uint64_t *fingerprint, uint32_t *value)
{
    if (place->chunk >= overflow->chunks)
        return false;
    const bry__chunk *chunk = overflow->chunk[place->chunk];
    *fingerprint = chunk->fingerprint[place->at];
    *value = chunk->value[place->at];
    if (++place->at == chunk->n)
        *place = (bry__overflow_place){.chunk = place->chunk + 1};
    return true;
}

/* Inserts an empty chunk at index i of the list. NULL: out of memory, nothing changed. */
static bry__chunk *overflow_open_chunk(bry__overflow *overflow, size_t i,
                                       const bry_allocator *allocator)
{
    bry__chunk *chunk = bry__alloc(allocator, sizeof *chunk);
    if (!chunk)
        return NULL;
    if (overflow->chunks == overflow->room) {
        size_t room = overflow->room ? overflow->room * 2 : 4;
        bry__chunk **list = bry__alloc(allocator, room * sizeof *list);
        if (!list) {
            bry__free(allocator, chunk, sizeof *chunk);
            return NULL;
        }
        if (overflow->chunks)
            memcpy(list, overflow->chunk, overflow->chunks * sizeof *list);
        bry__free(allocator, overflow->chunk, overflow->room * sizeof *list);
        overflow->chunk = list;
        overflow->room = room;
    }
    memmove(overflow->chunk + i + 1, overflow->chunk + i,
            (overflow->chunks - i) * sizeof *overflow->chunk);
    overflow->chunk[i] = chunk;
    overflow->chunks++;
    return chunk;
}

static void overflow_close_chunk(bry__overflow *overflow, size_t i, const bry_allocator *allocator)
{
    bry__free(allocator, overflow->chunk[i], sizeof(bry__chunk));
    overflow->chunks--;
    memmove(overflow->chunk + i, overflow->chunk + i + 1,
            (overflow->chunks - i) * sizeof *overflow->chunk);
    if (overflow->chunks == 0)
        bry__overflow_free(overflow, allocator);
}

bry_status bry__overflow_insert(bry__overflow *overflow, uint64_t fingerprint, uint32_t value,
                                const bry_allocator *allocator)
{
    bry__overflow_place place = bry__overflow_find(overflow, fingerprint, value);
    if (place.chunk == overflow->chunks &&
        place.chunk > 0) { /* after all others: into the last chunk */
        place.chunk--;
        place.at = overflow->chunk[place.chunk]->n;
    }
    if (overflow->chunks == 0) {
        if (!overflow_open_chunk(overflow, 0, allocator))
            return BRY_E_NOMEM;
    } else if (overflow->chunk[place.chunk]->n == BRY__CHUNK_MAX) {
        bry__chunk *upper = overflow_open_chunk(overflow, place.chunk + 1, allocator);
        if (!upper)
            return BRY_E_NOMEM;
        bry__chunk *lower = overflow->chunk[place.chunk];
        lower->n = BRY__CHUNK_MAX / 2;
        upper->n = BRY__CHUNK_MAX - lower->n;
        overflow_move_entries(upper, 0, lower, lower->n, upper->n);
        if (place.at > lower->n) {
            place.at -= lower->n;
            place.chunk++;
        }
    }
    bry__chunk *chunk = overflow->chunk[place.chunk];
    overflow_move_entries(chunk, place.at + 1, chunk, place.at, chunk->n - place.at);
    chunk->fingerprint[place.at] = fingerprint;
    chunk->value[place.at] = value;
    chunk->n++;
    overflow->n++;
    return BRY_OK;
}

void bry__overflow_set(bry__overflow *overflow, bry__overflow_place place, uint32_t value)
{
    overflow->chunk[place.chunk]->value[place.at] = value;
}

/* Joins chunk i and the next if they fill at most half a chunk. */
static bool overflow_join_chunks(bry__overflow *overflow, size_t i, const bry_allocator *allocator)
{
    if (i + 1 >= overflow->chunks)
        return false;
    bry__chunk *a = overflow->chunk[i], *b = overflow->chunk[i + 1];
    if (a->n + b->n > BRY__CHUNK_MAX / 2)
        return false;
    overflow_move_entries(a, a->n, b, 0, b->n);
    a->n += b->n;
    overflow_close_chunk(overflow, i + 1, allocator);
    return true;
}

void bry__overflow_remove(bry__overflow *overflow, bry__overflow_place place,
                          const bry_allocator *allocator)
{
    bry__chunk *chunk = overflow->chunk[place.chunk];
    chunk->n--;
    overflow->n--;
    overflow_move_entries(chunk, place.at, chunk, place.at + 1, chunk->n - place.at);
    if (chunk->n == 0) {
        overflow_close_chunk(overflow, place.chunk, allocator);
        return;
    }
    /* Join with the chunk before, or else with the one after it. */
    if (place.chunk > 0 && overflow_join_chunks(overflow, place.chunk - 1, allocator))
        return;
    overflow_join_chunks(overflow, place.chunk, allocator);
}
