#include "conformance/object_kind.h"

#include <stdlib.h>

static void check_one(const object_kind *kind, void (*check)(const object_kind *kind))
{
    print_message("  %s, %s\n", kind->name, bry_engine_name(kind->engine));
    check(kind);
}

void object_kinds_check(const object_kinds *kinds, void (*check)(const object_kind *kind))
{
    for (size_t k = 0; k < kinds->count; k++) {
        object_kind kind = kinds->kind[k];
        if (kind.engine != BRY_ENGINE_AUTO) {
            check_one(&kind, check);
            continue;
        }
        for (size_t i = 0; bry_job_engine_at(kind.job, i) != BRY_ENGINE_AUTO; i++) {
            kind.engine = bry_job_engine_at(kind.job, i);
            check_one(&kind, check);
        }
    }
}

void *object_make(const object_kind *kind, const bry_allocator *allocator)
{
    void *object = NULL;
    assert_int_equal(kind->create(kind, allocator, &object), BRY_OK);
    kind->fill(kind, object);
    return object;
}

bry_buffer object_answers(const object_kind *kind, const void *object)
{
    bry_buffer answers = BRY_BUFFER;
    for (object_look *const *look = kind->looks; *look; look++)
        (*look)(object, &answers);
    return answers;
}

uint64_t most_while_loading(const object_kind *kind, uint64_t limit)
{
    return limit + (kind->frame_bytes ? kind->frame_bytes : 1 << 19);
}

void note_bytes(bry_buffer *answers, const void *bytes, size_t len)
{
    bry_sink sink = bry_buffer_sink(answers);
    if (sink.write(sink.opaque, bytes, len) != BRY_OK)
        abort();
}

void note_number(bry_buffer *answers, uint64_t number)
{
    note_bytes(answers, &number, sizeof number);
}
