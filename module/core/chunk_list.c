#include "module/core/chunk_list.h"

#include <string.h>

#define CHUNK_SIZE ((size_t)1 << 16)

struct chunk {
    chunk *next;
    size_t len, capacity;
    unsigned char bytes[];
};

chunks *chunks_new(bry_allocator allocator)
{
    chunks *self = allocator.alloc(allocator.opaque, sizeof *self);
    if (self)
        *self = (chunks){.allocator = allocator};
    return self;
}

static void chunks_drop_first(chunks *self)
{
    chunk *gone = self->first;
    self->first = gone->next;
    if (!self->first)
        self->last = NULL;
    self->len -= gone->len - self->at;
    self->at = 0;
    self->allocator.free(self->allocator.opaque, gone, sizeof *gone + gone->capacity);
}

void chunks_free(chunks *self)
{
    if (!self)
        return;
    while (self->first)
        chunks_drop_first(self);
    self->allocator.free(self->allocator.opaque, self, sizeof *self);
}

bry_status chunks_append(chunks *self, const void *bytes, size_t len)
{
    size_t room = self->last ? self->last->capacity - self->last->len : 0;
    size_t here = len < room ? len : room;
    if (len > here) { /* allocate the block for the rest first: that may fail */
        size_t capacity = len - here > CHUNK_SIZE ? len - here : CHUNK_SIZE;
        chunk *more = NULL;
        if (capacity <= SIZE_MAX - sizeof *more)
            more = self->allocator.alloc(self->allocator.opaque, sizeof *more + capacity);
        if (!more)
            return BRY_E_NOMEM;
        more->next = NULL;
        more->len = len - here;
        more->capacity = capacity;
        memcpy(more->bytes, (const unsigned char *)bytes + here, more->len);
        if (here)
            memcpy(self->last->bytes + self->last->len, bytes, here);
        if (self->last) {
            self->last->len += here;
            self->last->next = more;
        } else {
            self->first = more;
        }
        self->last = more;
    } else if (len) {
        memcpy(self->last->bytes + self->last->len, bytes, len);
        self->last->len += len;
    }
    self->len += len;
    return BRY_OK;
}

static bry_status chunks_source_read(void *opaque, void *bytes, size_t len, size_t *got)
{
    chunks *self = opaque;
    while (self->first && self->at == self->first->len)
        chunks_drop_first(self);
    if (!self->first) {
        *got = 0;
        return BRY_OK;
    }
    size_t left = self->first->len - self->at;
    *got = len < left ? len : left;
    memcpy(bytes, self->first->bytes + self->at, *got);
    self->at += *got;
    self->len -= *got;
    return BRY_OK;
}

bry_source chunks_source(chunks *self)
{
    return (bry_source){chunks_source_read, self};
}

bry_status chunks_write(const chunks *self, const bry_sink *sink)
{
    bry_status status = BRY_OK;
    size_t at = self->at;
    for (const chunk *each = self->first; each && status == BRY_OK; each = each->next, at = 0)
        status = sink->write(sink->opaque, each->bytes + at, each->len - at);
    return status;
}
