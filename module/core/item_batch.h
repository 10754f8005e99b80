/* The items of one command, their hashes, and one answer of the library for each. Up to BATCH_SMALL
 * items need no allocation. All functions are inline because most commands have one item. */
#ifndef BLOOMERY_MODULE_ITEM_BATCH_H
#define BLOOMERY_MODULE_ITEM_BATCH_H

#include "module/core/object.h"

#include <string.h>

#define BATCH_SMALL 64u

typedef struct item_batch {
    size_t n;
    server_string **items;
    size_t step; /* from one item to the next: 2 if each has a value */
    bry_hash *hashes;
    uint8_t *answers; /* bry_answer; initially BRY_ABSENT */
    void *heap; /* hashes and answers of a larger batch */
    bry_hash small_hashes[BATCH_SMALL];
    uint8_t small_answers[BATCH_SMALL];
} item_batch;

/* False: out of memory. batch_close() may be called all the same. */
static inline bool batch_open(item_batch *self, server_string **items, size_t n)
{
    self->n = n;
    self->items = items;
    self->step = 1;
    self->heap = NULL;
    self->hashes = self->small_hashes;
    self->answers = self->small_answers;
    if (n > BATCH_SMALL) {
        self->heap = api.TryAlloc(n * (sizeof *self->hashes + 1));
        if (!self->heap)
            return false;
        self->hashes = self->heap;
        self->answers = (uint8_t *)(self->hashes + n);
    }
    memset(self->answers, BRY_ABSENT, n);
    return true;
}

/* Opens the next part of n items, of which `done` are done; small enough to need no memory and no
 * batch_close(). */
static inline void batch_open_part(item_batch *self, server_string **items, size_t n, size_t done)
{
    batch_open(self, items + done, n - done < BATCH_SMALL ? n - done : BATCH_SMALL);
}

static inline void batch_close(item_batch *self)
{
    if (self->heap)
        api.Free(self->heap);
}

/* `seed` is that of the object for which the items are hashed. */
static inline void batch_hash(item_batch *self, uint64_t seed)
{
    for (size_t i = 0; i < self->n; i++)
        self->hashes[i] = string_hash(seed, self->items[i * self->step]);
}

static inline size_t batch_count(const item_batch *self, bry_answer answer)
{
    size_t count = 0;
    for (size_t i = 0; i < self->n; i++)
        count += self->answers[i] == answer;
    return count;
}

/* Replies 1 for each item with the answer `yes`, else 0. The caller sends the array length. */
static inline void batch_reply(server_context *context, const item_batch *self, bry_answer yes)
{
    for (size_t i = 0; i < self->n; i++)
        api.ReplyWithLongLong(context, self->answers[i] == yes);
}

#endif
