#include "apps/dedup/archive/pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BATCH_BYTES = 2 << 20, /* at least two chunks of any size */
    BATCH_STEPS = 4096,
    BATCH_ITEMS = 1 << 20, /* bytes, after which a batch is passed on */
};

/* ---- the second half ------------------------------------------------------------------------ */

/* Adds an item of a file's content to the manifest, and remembers it for the file cache. */
static dedup_status content_item(dedup_pipeline *pipeline, size_t from)
{
    return dedup_manifest_add(&pipeline->manifest, pipeline->items.bytes + from,
                              pipeline->items.len - from);
}

static dedup_status run_known(dedup_pipeline *pipeline, dedup_text items)
{
    size_t digest_len = dedup_digest_len(pipeline->store->repo->config.hash);
    while (items.len > 0) {
        dedup_item item;
        const char *start = items.bytes;
        if (!dedup_next_item(&items, digest_len, &item))
            return dedup_problem(DEDUP_DAMAGED, "cache/files: damaged; remove it");
        dedup_status status =
            dedup_manifest_add(&pipeline->manifest, start, (size_t)(items.bytes - start));
        if (status != DEDUP_OK)
            return status;
    }
    return DEDUP_OK;
}

static dedup_status run_data(dedup_pipeline *pipeline, const unsigned char *bytes, size_t len)
{
    dedup_digest digest;
    size_t from = pipeline->items.len;
    dedup_status status = dedup_store_add(pipeline->store, DEDUP_DATA, bytes, len, &digest);
    if (status == DEDUP_OK)
        status = dedup_put_chunk(&pipeline->items, &digest,
                                 dedup_digest_len(pipeline->store->repo->config.hash), len);
    return status == DEDUP_OK ? content_item(pipeline, from) : status;
}

static dedup_status run_step(dedup_pipeline *pipeline, const dedup_batch *batch,
                             const dedup_step *step)
{
    const unsigned char *item = batch->items.bytes ? batch->items.bytes + step->at : NULL;
    dedup_status status = DEDUP_OK;
    dedup_cached_file file;
    size_t from = pipeline->items.len;
    switch (step->what) {
    case 'E':
        return dedup_manifest_add(&pipeline->manifest, item, (size_t)step->len);
    case 'D':
        return run_data(pipeline, batch->data + step->at, (size_t)step->len);
    case 'Z':
        status = dedup_put_hole(&pipeline->items, step->len);
        return status == DEDUP_OK ? content_item(pipeline, from) : status;
    case 'K':
        return run_known(pipeline, (dedup_text){(const char *)item, (size_t)step->len});
    default:
        if (step->keep && pipeline->cache && item) {
            memcpy(&file, item, sizeof file);
            status = dedup_file_cache_keep(
                pipeline->cache, &file,
                (dedup_text){(const char *)pipeline->items.bytes, pipeline->items.len});
        }
        pipeline->items.len = 0;
        return status;
    }
}

static dedup_status run_steps(dedup_pipeline *pipeline, const dedup_batch *batch)
{
    dedup_status status = DEDUP_OK;
    for (size_t i = 0; status == DEDUP_OK && i < batch->count; i++)
        status = run_step(pipeline, batch, &batch->steps[i]);
    atomic_store_explicit(&pipeline->new_bytes, pipeline->store->counters.new_bytes,
                          memory_order_relaxed);
    return status;
}

/* After an error it only takes batches, so that the first half does not wait for ever. */
static void *run_second_half(void *argument)
{
    dedup_pipeline *pipeline = argument;
    pthread_mutex_lock(&pipeline->lock);
    for (;;) {
        while (pipeline->done == pipeline->filled && !pipeline->ended)
            pthread_cond_wait(&pipeline->changed, &pipeline->lock);
        if (pipeline->done == pipeline->filled)
            break;
        const dedup_batch *batch = &pipeline->batch[pipeline->done % DEDUP_BATCHES];
        dedup_status status = pipeline->status;
        pthread_mutex_unlock(&pipeline->lock);
        bool run = status == DEDUP_OK;
        if (run)
            status = run_steps(pipeline, batch);
        pthread_mutex_lock(&pipeline->lock);
        if (run && status != DEDUP_OK) {
            pipeline->status = status;
            snprintf(pipeline->problem, sizeof pipeline->problem, "%s", dedup_problem_text());
        }
        pipeline->done++;
        pthread_cond_broadcast(&pipeline->changed);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

/* ---- the first half ------------------------------------------------------------------------- */

static dedup_status allocate_batches(dedup_pipeline *pipeline)
{
    for (int i = 0; i < DEDUP_BATCHES; i++) {
        pipeline->batch[i].data = malloc(BATCH_BYTES);
        pipeline->batch[i].steps = malloc(BATCH_STEPS * sizeof *pipeline->batch[i].steps);
        if (!pipeline->batch[i].data || !pipeline->batch[i].steps)
            return dedup_no_memory();
    }
    pipeline->current = &pipeline->batch[0];
    return DEDUP_OK;
}

dedup_status dedup_pipeline_begin(dedup_pipeline *pipeline, dedup_store *store,
                                  dedup_file_cache *cache)
{
    *pipeline = (dedup_pipeline){.store = store, .cache = cache};
    pthread_mutex_init(&pipeline->lock, NULL);
    pthread_cond_init(&pipeline->changed, NULL);
    dedup_chunker_init(&pipeline->chunker, store->repo->config.chunk);
    pipeline->manifest = (dedup_manifest){.store = store};
    dedup_status status = allocate_batches(pipeline);
    if (status != DEDUP_OK)
        return status;
    int failed = pthread_create(&pipeline->thread, NULL, run_second_half, pipeline);
    if (failed) {
        errno = failed;
        return dedup_problem(DEDUP_FAILED, "pthread_create: ");
    }
    pipeline->running = true;
    return DEDUP_OK;
}

/* Passes the batch on and waits for an empty one. */
static dedup_status pass_batch(dedup_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->filled++;
    pthread_cond_broadcast(&pipeline->changed);
    while (pipeline->filled - pipeline->done == DEDUP_BATCHES)
        pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    dedup_status status = pipeline->status;
    if (status != DEDUP_OK)
        dedup_describe("%s", pipeline->problem);
    pipeline->current = &pipeline->batch[pipeline->filled % DEDUP_BATCHES];
    pthread_mutex_unlock(&pipeline->lock);
    pipeline->current->used = pipeline->current->count = 0;
    pipeline->current->items.len = 0;
    return status;
}

static dedup_status add_step(dedup_pipeline *pipeline, dedup_step step)
{
    dedup_batch *batch = pipeline->current;
    batch->steps[batch->count++] = step;
    if (batch->count == BATCH_STEPS || batch->items.len > BATCH_ITEMS)
        return pass_batch(pipeline);
    return DEDUP_OK;
}

dedup_status dedup_pipeline_entry(dedup_pipeline *pipeline, const dedup_file_entry *entry)
{
    bry_buffer *items = &pipeline->current->items;
    uint64_t at = items->len;
    dedup_status status = dedup_put_entry(items, entry);
    if (status != DEDUP_OK)
        return status;
    return add_step(pipeline, (dedup_step){.what = 'E', .at = at, .len = items->len - at});
}

dedup_status dedup_pipeline_hole(dedup_pipeline *pipeline, uint64_t len)
{
    return add_step(pipeline, (dedup_step){.what = 'Z', .len = len});
}

dedup_status dedup_pipeline_known(dedup_pipeline *pipeline, dedup_text items)
{
    bry_buffer *to = &pipeline->current->items;
    uint64_t at = to->len;
    dedup_status status = dedup_append(to, items.bytes, items.len);
    if (status != DEDUP_OK)
        return status;
    return add_step(pipeline, (dedup_step){.what = 'K', .at = at, .len = items.len});
}

dedup_status dedup_pipeline_file_end(dedup_pipeline *pipeline, const dedup_cached_file *file)
{
    bry_buffer *items = &pipeline->current->items;
    uint64_t at = items->len;
    dedup_status status = file ? dedup_append(items, file, sizeof *file) : DEDUP_OK;
    if (status != DEDUP_OK)
        return status;
    return add_step(pipeline, (dedup_step){.what = 'F', .keep = file != NULL, .at = at});
}

/* Adds the complete chunks between `from` and the end of the data as steps; the rest of them too at
 * the end of the file. A batch that is passed on takes the incomplete chunk to the next one. */
static dedup_status cut_data(dedup_pipeline *pipeline, size_t *from, bool end)
{
    const dedup_chunker *chunker = &pipeline->chunker;
    for (;;) {
        dedup_batch *batch = pipeline->current;
        size_t left = batch->used - *from;
        if (left == 0 || (!end && left < chunker->most))
            return DEDUP_OK;
        size_t len = dedup_chunker_cut(chunker, batch->data + *from, left);
        size_t next = *from + len;
        dedup_step step = {.what = 'D', .at = *from, .len = len};
        if (batch->count + 1 < BATCH_STEPS) {
            batch->steps[batch->count++] = step;
            *from = next;
            continue;
        }
        /* The last step of this batch: what follows in its data moves. The second half does not
         * write to the data, and the batch is not filled again before it was copied. */
        const unsigned char *rest = batch->data + next;
        size_t rest_len = batch->used - next;
        batch->steps[batch->count++] = step;
        dedup_status status = pass_batch(pipeline);
        if (status != DEDUP_OK)
            return status;
        memcpy(pipeline->current->data, rest, rest_len);
        pipeline->current->used = rest_len;
        *from = 0;
    }
}

/* Moves the incomplete chunk to an empty batch when there is no room for a whole one. */
static dedup_status ensure_room(dedup_pipeline *pipeline, size_t *from)
{
    dedup_batch *batch = pipeline->current;
    if (BATCH_BYTES - batch->used >= pipeline->chunker.most)
        return DEDUP_OK;
    const unsigned char *rest = batch->data + *from;
    size_t rest_len = batch->used - *from;
    dedup_status status = pass_batch(pipeline);
    if (status != DEDUP_OK)
        return status;
    memcpy(pipeline->current->data, rest, rest_len);
    pipeline->current->used = rest_len;
    *from = 0;
    return DEDUP_OK;
}

void dedup_pipeline_passed(dedup_pipeline *pipeline, uint64_t bytes)
{
    if (!pipeline->progress)
        return;
    pipeline->progress->done = atomic_load_explicit(&pipeline->new_bytes, memory_order_relaxed);
    cli_progress_read(pipeline->progress, bytes);
}

dedup_status dedup_pipeline_read(dedup_pipeline *pipeline, int fd, uint64_t most, uint64_t *got,
                                 bool *failed)
{
    size_t from = pipeline->current->used;
    bool end = false;
    *got = 0;
    *failed = false;
    while (!end) {
        dedup_status status = ensure_room(pipeline, &from);
        if (status != DEDUP_OK)
            return status;
        dedup_batch *batch = pipeline->current;
        size_t room = BATCH_BYTES - batch->used;
        if (room > most - *got)
            room = (size_t)(most - *got);
        ssize_t done = room ? read(fd, batch->data + batch->used, room) : 0;
        if (done < 0 && errno == EINTR)
            continue;
        int kept = errno;
        *failed = done < 0;
        end = done <= 0;
        if (done > 0) {
            batch->used += (size_t)done;
            *got += (uint64_t)done;
            dedup_pipeline_passed(pipeline, (uint64_t)done);
        }
        status = cut_data(pipeline, &from, end);
        if (status != DEDUP_OK)
            return status;
        errno = kept;
    }
    return *failed ? DEDUP_FAILED : DEDUP_OK;
}

dedup_status dedup_pipeline_end(dedup_pipeline *pipeline, dedup_digest *root, unsigned *depth)
{
    dedup_status status = pass_batch(pipeline);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->ended = true;
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->lock);
    pthread_join(pipeline->thread, NULL);
    pipeline->running = false;
    if (status == DEDUP_OK && pipeline->status != DEDUP_OK)
        status = dedup_problem(pipeline->status, "%s", pipeline->problem);
    return status == DEDUP_OK ? dedup_manifest_end(&pipeline->manifest, root, depth) : status;
}

void dedup_pipeline_free(dedup_pipeline *pipeline)
{
    if (pipeline->running) {
        pthread_mutex_lock(&pipeline->lock);
        if (pipeline->status == DEDUP_OK) /* what is left is not stored */
            pipeline->status = DEDUP_FAILED;
        pipeline->ended = true;
        pthread_cond_broadcast(&pipeline->changed);
        pthread_mutex_unlock(&pipeline->lock);
        pthread_join(pipeline->thread, NULL);
    }
    dedup_manifest_free(&pipeline->manifest);
    bry_buffer_free(&pipeline->items);
    for (int i = 0; i < DEDUP_BATCHES; i++) {
        free(pipeline->batch[i].data);
        free(pipeline->batch[i].steps);
        bry_buffer_free(&pipeline->batch[i].items);
    }
    pthread_cond_destroy(&pipeline->changed);
    pthread_mutex_destroy(&pipeline->lock);
}
