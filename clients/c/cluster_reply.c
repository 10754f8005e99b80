#include "clients/c/cluster_reply.h"

#include <stdlib.h>
#include <string.h>

static bool flat_push(bryc__flat *flat, bryc__item item)
{
    if (flat->count == flat->capacity) {
        size_t capacity = flat->capacity ? 2 * flat->capacity : 64;
        bryc__item *items = realloc(flat->items, capacity * sizeof *items);
        if (!items)
            return false;
        flat->items = items;
        flat->capacity = capacity;
    }
    flat->items[flat->count++] = item;
    return true;
}

/* What the reader gets as the object: anything but NULL, since the elements are in the array. */
static void *flat_object(bryc__flat *flat, bool done)
{
    return done ? flat : NULL;
}

static void *flat_string(const redisReadTask *task, char *text, size_t len)
{
    bryc__flat *flat = task->privdata;
    if (len > flat->bytes_capacity - flat->len) {
        size_t capacity = 2 * flat->bytes_capacity + len + 256;
        char *bytes = realloc(flat->bytes, capacity);
        if (!bytes)
            return NULL;
        flat->bytes = bytes;
        flat->bytes_capacity = capacity;
    }
    bryc__item item = {task->type, (uint32_t)len, (int64_t)flat->len};
    memcpy(flat->bytes + flat->len, text, len);
    flat->len += len;
    return flat_object(flat, flat_push(flat, item));
}

static void *flat_array(const redisReadTask *task, int elements)
{
    bryc__item item = {REDIS_REPLY_ARRAY, 0, elements};
    return flat_object(task->privdata, flat_push(task->privdata, item));
}

static void *flat_integer(const redisReadTask *task, long long number)
{
    bryc__item item = {REDIS_REPLY_INTEGER, 0, number};
    return flat_object(task->privdata, flat_push(task->privdata, item));
}

static void *flat_nil(const redisReadTask *task)
{
    bryc__item item = {REDIS_REPLY_NIL, 0, 0};
    return flat_object(task->privdata, flat_push(task->privdata, item));
}

static void flat_release(void *object)
{
    (void)object; /* belongs to the node */
}

redisReplyObjectFunctions *bryc__flat_functions(void)
{
    /* hiredis does not write to it. */
    static redisReplyObjectFunctions functions = {flat_string, flat_array, flat_integer, flat_nil,
                                                  flat_release};
    return &functions;
}

void bryc__flat_clear(bryc__flat *flat)
{
    flat->count = 0;
    flat->len = 0;
}

void bryc__flat_free(bryc__flat *flat)
{
    free(flat->items);
    free(flat->bytes);
    *flat = (bryc__flat){0};
}
