/* The calls that all jobs have, by the job's row. */
#include <bloomery/job.h>

#include "frame/job_row.h"

extern const bry__job bry__filter_job, bry__map_job, bry__window_job, bry__counters_job,
    bry__index_job;

static const bry__job *const rows[] = {
    [BRY_JOB_FILTER] = &bry__filter_job, [BRY_JOB_MAP] = &bry__map_job,
    [BRY_JOB_WINDOW] = &bry__window_job, [BRY_JOB_COUNTERS] = &bry__counters_job,
    [BRY_JOB_INDEX] = &bry__index_job,
};

static const bry__job *job_row(bry_job job)
{
    return job < sizeof rows / sizeof *rows ? rows[job] : NULL;
}

const char *bry_job_name(bry_job job)
{
    return job_row(job) ? rows[job]->name : NULL;
}

/* ---- engines ------------------------------------------------------------------------------- */

bry_engine bry_job_engine_at(bry_job job, size_t i)
{
    const bry__engine_row *row = job_row(job) ? rows[job]->engines : NULL;
    for (; row && row->engine != BRY_ENGINE_AUTO && i > 0; i--)
        row++;
    return row ? row->engine : BRY_ENGINE_AUTO;
}

const char *bry_job_engine_text(bry_job job, bry_engine engine)
{
    const bry__engine_row *row = job_row(job) ? rows[job]->engines : NULL;
    while (row && row->engine != BRY_ENGINE_AUTO && row->engine != engine)
        row++;
    return row ? row->text : NULL;
}

bry_status bry_job_engine_parse(bry_job job, const char *name, bry_engine *engine)
{
    bry_engine parsed;
    bry_status status = bry_engine_parse(name, &parsed);
    if (status == BRY_OK && parsed != BRY_ENGINE_AUTO && !bry_job_engine_text(job, parsed))
        status = BRY_E_RANGE;
    if (status == BRY_OK)
        *engine = parsed;
    return status;
}

/* ---- objects ------------------------------------------------------------------------------- */

bry_engine bry_job_engine(bry_job job, const void *object)
{
    return rows[job]->engine(object);
}

uint64_t bry_job_seed(bry_job job, const void *object)
{
    return rows[job]->seed(object);
}

uint64_t bry_job_items(bry_job job, const void *object)
{
    return rows[job]->items(object);
}

uint64_t bry_job_bytes(bry_job job, const void *object)
{
    return rows[job]->bytes(object);
}

bry_status bry_job_clone(bry_job job, const void *object, const bry_allocator *allocator,
                         void **copy)
{
    return rows[job]->clone(object, allocator, copy);
}

void bry_job_destroy(bry_job job, void *object)
{
    rows[job]->destroy(object);
}

bry_status bry_job_merge(bry_job job, void *into, const void *from)
{
    return rows[job]->merge ? rows[job]->merge(into, from) : BRY_E_UNSUPPORTED;
}

bry_status bry_job_save(bry_job job, const void *object, const bry_sink *sink, const bry_save *save)
{
    return rows[job]->save(object, sink, save);
}

bry_status bry_job_load(bry_job job, const bry_source *source, bry_load *load, void **object)
{
    return job_row(job) ? rows[job]->load(source, load, object) : BRY_E_RANGE;
}

bry_status bry_job_save_file(bry_job job, const void *object, const char *path,
                             const bry_save *save)
{
    return bry__job_save_file(rows[job], object, path, save);
}

bry_status bry_job_load_file(bry_job job, const char *path, bry_load *load, void **object)
{
    return job_row(job) ? bry__job_load_file(rows[job], path, load, object) : BRY_E_RANGE;
}
