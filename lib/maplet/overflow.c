#include "maplet/overflow.h"

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

static size_t overflow_list_size(size_t room)
{
    return sizeof(bry__chunk_list) + room * sizeof(bry__chunk *);
}

void bry__overflow_free(bry__overflow *overflow, const bry_allocator *allocator)
{
    bry__chunk_list *list = overflow->list;
    if (!list)
        return;
    for (size_t i = 0; i < list->chunks; i++)
        bry__free(allocator, list->chunk[i], sizeof(bry__chunk));
    bry__free(allocator, list, overflow_list_size(list->room));
    overflow->list = NULL;
}

uint64_t bry__overflow_bytes(const bry__overflow *overflow)
{
    const bry__chunk_list *list = overflow->list;
    return list ? list->chunks * sizeof(bry__chunk) + overflow_list_size(list->room) : 0;
}

/* A list with the numbers of another one, but without its chunks. */
static bry__chunk_list *overflow_new_list(const bry__chunk_list *like, size_t room,
                                          const bry_allocator *allocator)
{
    bry__chunk_list *made = bry__alloc(allocator, overflow_list_size(room));
    if (made && like)
        *made = *like;
    if (made) {
        made->chunks = 0;
        made->room = room;
    }
    return made;
}

bry_status bry__overflow_clone(const bry__overflow *overflow, bry__overflow *copy,
                               const bry_allocator *allocator)
{
    const bry__chunk_list *list = overflow->list;
    bry__overflow made = {NULL};
    if (list) {
        made.list = overflow_new_list(list, list->room, allocator);
        if (!made.list)
            return BRY_E_NOMEM;
    }
    for (size_t i = 0; list && i < list->chunks; i++) {
        bry__chunk *chunk = bry__alloc(allocator, sizeof *chunk);
        if (!chunk) {
            bry__overflow_free(&made, allocator);
            return BRY_E_NOMEM;
        }
        *chunk = *list->chunk[i];
        made.list->chunk[made.list->chunks++] = chunk;
    }
    *copy = made;
    return BRY_OK;
}

bry__overflow_place bry__overflow_find(const bry__overflow *overflow, uint64_t fingerprint,
                                       uint32_t value)
{
    const bry__chunk_list *list = overflow->list;
    size_t low = 0, high = list ? list->chunks : 0, chunks = high;
    while (low < high) { /* the first chunk whose last entry is not below */
        size_t middle = low + (high - low) / 2;
        const bry__chunk *chunk = list->chunk[middle];
        if (overflow_below(chunk, chunk->n - 1, fingerprint, value))
            low = middle + 1;
        else
            high = middle;
    }
    bry__overflow_place place = {.chunk = low};
    if (low < chunks) {
        const bry__chunk *chunk = list->chunk[low];
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
    if (!overflow->list || place->chunk >= overflow->list->chunks)
        return false;
    const bry__chunk *chunk = overflow->list->chunk[place->chunk];
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
    bry__chunk_list *list = overflow->list;
    bry__chunk *chunk = bry__alloc(allocator, sizeof *chunk);
    if (!chunk)
        return NULL;
    if (!list || list->chunks == list->room) {
        bry__chunk_list *larger = overflow_new_list(list, list ? list->room * 2 : 4, allocator);
        if (!larger) {
            bry__free(allocator, chunk, sizeof *chunk);
            return NULL;
        }
        if (list) {
            memcpy(larger->chunk, list->chunk, list->chunks * sizeof *list->chunk);
            larger->chunks = list->chunks;
            bry__free(allocator, list, overflow_list_size(list->room));
        }
        overflow->list = list = larger;
    }
    memmove(list->chunk + i + 1, list->chunk + i, (list->chunks - i) * sizeof *list->chunk);
    list->chunk[i] = chunk;
    list->chunks++;
    return chunk;
}

static void overflow_close_chunk(bry__overflow *overflow, size_t i, const bry_allocator *allocator)
{
    bry__chunk_list *list = overflow->list;
    bry__free(allocator, list->chunk[i], sizeof(bry__chunk));
    list->chunks--;
    memmove(list->chunk + i, list->chunk + i + 1, (list->chunks - i) * sizeof *list->chunk);
    if (list->chunks == 0)
        bry__overflow_free(overflow, allocator);
}

bry_status bry__overflow_insert(bry__overflow *overflow, uint64_t fingerprint, uint32_t value,
                                const bry_allocator *allocator)
{
    bry__overflow_place place = bry__overflow_find(overflow, fingerprint, value);
    const bry__chunk_list *list = overflow->list;
    if (list && place.chunk == list->chunks) { /* after all others: into the last chunk */
        place.chunk--;
        place.at = list->chunk[place.chunk]->n;
    }
    if (!list) {
        if (!overflow_open_chunk(overflow, 0, allocator))
            return BRY_E_NOMEM;
    } else if (list->chunk[place.chunk]->n == BRY__CHUNK_MAX) {
        bry__chunk *upper = overflow_open_chunk(overflow, place.chunk + 1, allocator);
        if (!upper)
            return BRY_E_NOMEM;
        bry__chunk *lower = overflow->list->chunk[place.chunk];
        lower->n = BRY__CHUNK_MAX / 2;
        upper->n = BRY__CHUNK_MAX - lower->n;
        overflow_move_entries(upper, 0, lower, lower->n, upper->n);
        if (place.at > lower->n) {
            place.at -= lower->n;
            place.chunk++;
        }
    }
    bry__chunk *chunk = overflow->list->chunk[place.chunk];
    overflow_move_entries(chunk, place.at + 1, chunk, place.at, chunk->n - place.at);
    chunk->fingerprint[place.at] = fingerprint;
    chunk->value[place.at] = value;
    chunk->n++;
    overflow->list->n++;
    return BRY_OK;
}

void bry__overflow_set(bry__overflow *overflow, bry__overflow_place place, uint32_t value)
{
    overflow->list->chunk[place.chunk]->value[place.at] = value;
}

/* Joins chunk i and the next if they fill at most half a chunk. */
static bool overflow_join_chunks(bry__overflow *overflow, size_t i, const bry_allocator *allocator)
{
    if (i + 1 >= overflow->list->chunks)
        return false;
    bry__chunk *a = overflow->list->chunk[i], *b = overflow->list->chunk[i + 1];
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
    bry__chunk *chunk = overflow->list->chunk[place.chunk];
    chunk->n--;
    overflow->list->n--;
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
