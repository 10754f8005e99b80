#include "model/model_objects.h"

#include <string.h>

void *model_clone(model_reader *reader, const failing_allocator *memory, bry_job job, void *object)
{
    void *copy = NULL;
    model_say(reader, "clone");
    bry_status status = bry_job_clone(job, object, NULL, &copy);
    if (!model_out_of_memory(reader, memory, status))
        model_expect(reader, status == BRY_OK && copy);
    model_expect(reader, (status == BRY_OK) == (copy != NULL));
    if (!copy)
        return object;
    bry_job_destroy(job, object);
    return copy;
}

void *model_go_on_with(model_reader *reader, const failing_allocator *memory, bry_job job,
                       void *object, bry_status status, void *loaded, const bry_load *load)
{
    if (status != BRY_OK && !model_out_of_memory(reader, memory, status))
        model_fail(reader, "loading: %s", load->problem ? load->problem : "no problem told");
    model_expect(reader, status == BRY_OK ? loaded != NULL : loaded == NULL && load->problem);
    if (!loaded)
        return object;
    bry_job_destroy(job, object);
    return loaded;
}

void *model_reload(model_reader *reader, const failing_allocator *memory, bry_job job, void *object)
{
    bry_buffer saved = BRY_BUFFER, again = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&saved), second = bry_buffer_sink(&again);
    model_say(reader, "save and load");
    model_expect(reader, bry_job_save(job, object, &sink, NULL) == BRY_OK);
    bry_view view = {saved.bytes, saved.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    load.allocator = &memory->allocator;
    void *loaded = NULL;
    bry_status status = bry_job_load(job, &source, &load, &loaded);
    if (status == BRY_OK) {
        model_expect(reader, view.at == saved.len);
        model_expect(reader, bry_job_save(job, loaded, &second, NULL) == BRY_OK);
        model_expect(reader,
                     again.len == saved.len && memcmp(again.bytes, saved.bytes, saved.len) == 0);
    }
    bry_buffer_free(&saved);
    bry_buffer_free(&again);
    return model_go_on_with(reader, memory, job, object, status, loaded, &load);
}
