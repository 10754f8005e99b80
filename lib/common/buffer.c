/* Memory as a sink and as a source. */
#include <bloomery/base.h>
#include <stdlib.h>
#include <string.h>

static bry_status buffer_write(void *opaque, const void *bytes, size_t len)
{
    bry_buffer *buffer = opaque;
    if (len > buffer->capacity - buffer->len) {
        /* Growing by half must not wrap around. */
        if (buffer->len > SIZE_MAX / 3 || len > SIZE_MAX / 3 - buffer->len)
            return BRY_E_NOMEM;
        size_t capacity = (buffer->len + len) * 3 / 2;
        unsigned char *grown = realloc(buffer->bytes, capacity);
        if (!grown)
            return BRY_E_NOMEM;
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    if (len)
        memcpy(buffer->bytes + buffer->len, bytes, len);
    buffer->len += len;
    return BRY_OK;
}

bry_sink bry_buffer_sink(bry_buffer *buffer)
{
    return (bry_sink){buffer_write, buffer};
}

void bry_buffer_free(bry_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (bry_buffer)BRY_BUFFER;
}

static bry_status view_read(void *opaque, void *bytes, size_t len, size_t *got)
{
    bry_view *view = opaque;
    size_t left = view->len - view->at;
    *got = len < left ? len : left;
    if (*got)
        memcpy(bytes, (const unsigned char *)view->bytes + view->at, *got);
    view->at += *got;
    return BRY_OK;
}

bry_source bry_view_source(bry_view *view)
{
    return (bry_source){view_read, view};
}
