#include "conformance/object_kind.h"

#include <stdlib.h>

void *kept_make(const kept_kind *kind, const bry_allocator *allocator)
{
    void *object = NULL;
    assert_int_equal(kind->create(kind, allocator, &object), BRY_OK);
    kind->fill(kind, object);
    return object;
}

bry_buffer kept_saved(const kept_kind *kind, const void *object)
{
    bry_buffer saved = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&saved);
    assert_int_equal(kind->calls->save(object, &sink, NULL), BRY_OK);
    return saved;
}

void kept_assert_same_bytes(const bry_buffer *a, const bry_buffer *b)
{
    assert_int_equal(a->len, b->len);
    assert_memory_equal(a->bytes, b->bytes, a->len);
}

void kept_assert_saves_as(const kept_kind *kind, const void *object, const bry_buffer *saved)
{
    bry_buffer now = kept_saved(kind, object);
    kept_assert_same_bytes(&now, saved);
    bry_buffer_free(&now);
}

bry_buffer kept_seen(const kept_kind *kind, const void *object)
{
    bry_buffer answers = BRY_BUFFER;
    for (kept_look *const *look = kind->looks; *look; look++)
        (*look)(object, &answers);
    return answers;
}

uint64_t kept_most(const kept_kind *kind, uint64_t ceiling)
{
    return ceiling + (kind->frame_bytes ? kind->frame_bytes : 1 << 19);
}

void kept_note_bytes(bry_buffer *answers, const void *bytes, size_t len)
{
    bry_sink sink = bry_buffer_sink(answers);
    if (sink.write(sink.opaque, bytes, len) != BRY_OK)
        abort();
}

void kept_note(bry_buffer *answers, uint64_t number)
{
    kept_note_bytes(answers, &number, sizeof number);
}
