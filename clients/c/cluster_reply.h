/*
 * Replies as flat arrays. hiredis allocates an object for each element of a reply; a batch of a
 * thousand answers would cost a thousand allocations. These functions replace its own: all elements
 * of one reply go into one array that is used again for the next reply.
 *
 * The array is in the order of the wire: an array is followed by its elements.
 */
#ifndef BLOOMERY_CLUSTER_REPLY_H
#define BLOOMERY_CLUSTER_REPLY_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bryc__item {
    int32_t type; /* REDIS_REPLY_… */
    uint32_t len; /* of a string */
    int64_t number; /* an integer, the elements of an array, or where a string starts */
} bryc__item;

typedef struct bryc__flat {
    bryc__item *items;
    size_t count, capacity;
    char *bytes; /* of all strings */
    size_t len, bytes_capacity;
} bryc__flat;

static inline const char *bryc__text(const bryc__flat *flat, const bryc__item *item)
{
    return flat->bytes + item->number;
}

/* For redisReader.fn; its privdata is a bryc__flat. */
redisReplyObjectFunctions *bryc__flat_functions(void);
void bryc__flat_clear(bryc__flat *flat);
void bryc__flat_free(bryc__flat *flat);

#endif
