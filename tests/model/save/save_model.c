#include "model/save/save_model.h"

#include "model/model_steps.h"

#include <stdlib.h>
#include <string.h>

/* The memory limit for the objects of a program. */
enum { LIMIT = 1 << 22, HIGH_LIMIT = 1 << 26 };

typedef struct pair {
    failing_allocator memory;
    void *object, *loaded; /* loaded: NULL before the first save */
    bool parted, parted_for_good; /* not compared until the next load, or never again */
    answer_notes notes[2];
} pair;

static const saved_job *job;
save_counts save_counted;

void save_model_choose(const saved_job *chosen)
{
    job = chosen;
}

static void *create(model_reader *reader)
{
    pair *both = calloc(1, sizeof *both);
    if (!both) {
        model_fail(reader, "no memory for the test itself");
        return NULL;
    }
    failing_allocator_init(&both->memory);
    both->memory.limit = read_chance(reader, 32) ? HIGH_LIMIT : LIMIT;
    both->object = job->calls->create(reader, &both->memory.allocator, job->engine);
    if (!both->object)
        reader->at = reader->len;
    else
        model_expect(reader, bry_job_bytes(job->job, both->object) == both->memory.now);
    save_counted.objects += both->object != NULL;
    return both;
}

/* ---- keeping ---- */

static void compare_looks(pair *both, model_reader *reader, const void *other)
{
    both->notes[0].count = both->notes[1].count = 0;
    job->calls->look(both->object, &both->notes[0]);
    job->calls->look(other, &both->notes[1]);
    compare_notes(&both->notes[0], &both->notes[1], reader);
}

static void expect_bytes(model_reader *reader, const void *object, const bry_save *with,
                         const bry_buffer *bytes, const char *whose)
{
    bry_buffer again = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&again);
    model_expect(reader, bry_job_save(job->job, object, &sink, with) == BRY_OK);
    size_t same = 0;
    while (same < again.len && same < bytes->len && again.bytes[same] == bytes->bytes[same])
        same++;
    if (same < again.len || same < bytes->len)
        model_fail(reader, "%s saves to other bytes from %zu on, %zu instead of %zu", whose, same,
                   again.len, bytes->len);
    bry_buffer_free(&again);
}

static bool is_loaded(pair *both, model_reader *reader, bry_status status, const bry_load *load)
{
    if (status == BRY_OK || (status == BRY_E_NOMEM && both->memory.over_limit))
        return status == BRY_OK;
    model_fail(reader, "what was saved does not load: %s, %s", bry_status_word(status),
               load->problem ? load->problem : "no problem told");
    return false;
}

static void save_and_load(pair *both, model_reader *reader)
{
    bry_buffer bytes = BRY_BUFFER, note = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&bytes);
    /* One program in four has a note: the bytes that it has read so far. */
    bry_save with = {sizeof with, reader->bytes, reader->bytes[0] % 4 ? 0 : reader->at};
    model_expect(reader, bry_job_save(job->job, both->object, &sink, &with) == BRY_OK);
    bry_view view = {bytes.bytes, bytes.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    load.allocator = &both->memory.allocator;
    load.note = &note;
    void *fresh = NULL;
    if (is_loaded(both, reader, bry_job_load(job->job, &source, &load, &fresh), &load)) {
        save_counted.loads++;
        model_expect(reader, view.at == bytes.len && note.len == with.note_len);
        model_expect(reader, !note.len || memcmp(note.bytes, with.note, note.len) == 0);
        expect_bytes(reader, fresh, &with, &bytes, "what was loaded");
        if (both->loaded && !both->parted && !reader->failed)
            expect_bytes(reader, both->loaded, &with, &bytes, "what was loaded before");
        compare_looks(both, reader, fresh);
        bry_job_destroy(job->job, both->loaded);
        both->loaded = fresh;
        both->parted = both->parted_for_good;
    }
    if (job->calls->elsewhere && !reader->failed) {
        bry_status status = job->calls->elsewhere(both->object, &load, &fresh);
        if (status != BRY_E_UNSUPPORTED && is_loaded(both, reader, status, &load)) {
            expect_bytes(reader, fresh, &with, &bytes, "what was loaded from elsewhere");
            bry_job_destroy(job->job, fresh);
        }
    }
    bry_buffer_free(&bytes);
    bry_buffer_free(&note);
}

/* ---- programs ---- */

static void step(void *state, model_reader *reader)
{
    pair *both = state;
    if (!both->object)
        return;
    if (model_below(reader, 8) == 7) {
        model_say(reader, "save and load");
        save_and_load(both, reader);
        return;
    }
    for (int i = 0; i < 2; i++) {
        both->notes[i].count = 0;
        both->notes[i].parted = false;
    }
    size_t begin = reader->at;
    job->calls->use(both->object, reader, &both->notes[0]);
    save_counted.operations++;
    both->parted_for_good |= both->notes[0].parted_for_good;
    both->parted |= both->parted_for_good;
    if (!both->loaded || both->parted)
        return;
    size_t end = reader->at;
    FILE *listener = reader->listener;
    reader->at = begin;
    reader->listener = NULL;
    job->calls->use(both->loaded, reader, &both->notes[1]);
    reader->listener = listener;
    both->parted = both->notes[0].parted || both->notes[1].parted;
    if (both->parted) {
        reader->at = end;
        return;
    }
    model_expect(reader, reader->at == end);
    compare_notes(&both->notes[0], &both->notes[1], reader);
}

/* Every program ends with a save. */
static void check(void *state, model_reader *reader)
{
    pair *both = state;
    if (both->object && reader->at >= reader->len)
        save_and_load(both, reader);
}

static void destroy(void *state, model_reader *reader)
{
    pair *both = state;
    if (!both)
        return;
    bry_job_destroy(job->job, both->object);
    bry_job_destroy(job->job, both->loaded);
    model_expect(reader, both->memory.now == 0 && both->memory.blocks == 0);
    free(both);
}

const model save_model = {
    .name = "keep", .create = create, .step = step, .check = check, .destroy = destroy};
