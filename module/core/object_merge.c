/* Merging keys, for any family: DEST SOURCE [SOURCE …], all or nothing. A source that does not
 * exist counts as empty. */
#include "module/core/object.h"
#include "module/core/replies.h"

/* A source that exists. */
typedef struct merge_source {
    held_object *object;
    const server_string *name;
} merge_source;

/* Finds the sources that exist, in order. False after an error reply. */
static bool merge_open_sources(server_context *context, const merge_method *how,
                               server_string **names, size_t n, const held_object *target,
                               merge_source *sources, size_t *count)
{
    char text[QUOTED_SIZE];
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        opened_key source;
        if (!object_open(context, how->family, names[i], SERVER_READ, &source))
            return false;
        object_close(&source);
        if (source.object && source.object == target)
            return reply_false(context, "ERR", "source %s is the destination",
                               quoted(names[i], text));
        bool twice = false;
        for (size_t j = 0; j < *count; j++)
            twice = twice || sources[j].object == source.object;
        if (twice)
            return reply_false(context, "ERR", "source %s is named twice", quoted(names[i], text));
        if (source.object)
            sources[(*count)++] = (merge_source){source.object, names[i]};
    }
    return true;
}

/*
 * Merges all sources. With one source and an existing target it merges into the target itself,
 * which is one step; otherwise into a copy, so that the target is unchanged if a later step fails.
 * *last is the number of the last source that was merged, or failed.
 */
static bry_status merge_all(server_context *context, const merge_method *how, held_object *target,
                            const merge_source *sources, size_t count, held_object **result,
                            size_t *last)
{
    held_object *into = target;
    size_t next = 0;
    bry_status status = BRY_OK;
    if (!target)
        status = object_copy(sources[next++].object, &into);
    else if (count > 1)
        status = object_copy(target, &into);
    if (status != BRY_OK)
        return status;
    object_limit_begin(context, into);
    for (; next < count && status == BRY_OK; next++)
        status = bry_job_merge(how->family->job, object_inside(into),
                               object_inside(sources[next].object));
    *last = next - 1;
    status = object_limit_end(into, status);
    if (status == BRY_OK)
        *result = into;
    else if (into != target)
        object_free(into);
    return status;
}

static void merge_replicate(server_context *context, server_string **argv, int argc,
                            const merge_method *how)
{
    if (how->effect)
        api.Replicate(context, how->effect, "v", argv + 1, (size_t)argc - 1);
    else
        api.ReplicateVerbatim(context);
}

/* Refusals that the library counts are replicated, as in object_refused(). `source` could not be
 * merged into `into`. */
static int merge_refused(server_context *context, server_string **argv, int argc,
                         const merge_method *how, bry_status status, const server_string *source,
                         const server_string *into)
{
    char text[QUOTED_SIZE], other[QUOTED_SIZE];
    if (status == BRY_E_FULL || status == BRY_E_UNSURE)
        merge_replicate(context, argv, argc, how);
    if (status != BRY_E_FULL && status != BRY_E_MISMATCH)
        return object_refused_here(context, how->family, status);
    how->family->totals.refused++;
    if (status == BRY_E_FULL)
        return reply_error(context, "FULL", "%s", how->full);
    if (how->mismatch)
        return reply_error(context, "MISMATCH", "%s", how->mismatch);
    return reply_error(context, "MISMATCH", "%s was not created LIKE %s", quoted(source, text),
                       quoted(into, other));
}

static int merge_run(server_context *context, server_string **argv, int argc,
                     const merge_method *how, opened_key *target, const merge_source *sources,
                     size_t count)
{
    command_family *family = how->family;
    uint64_t more = 0;
    size_t last = 0;
    held_object *result;
    for (size_t i = 0; i < count; i++)
        more += sources[i].object->account.bytes;
    if (count == 0)
        return api.ReplyWithLongLong(context,
                                     target->object ? (long long)target->object->items : 0);
    if (!object_may_grow(context, target->object, more))
        return object_too_large(context, family);
    bry_status status = merge_all(context, how, target->object, sources, count, &result, &last);
    if (status != BRY_OK)
        return merge_refused(context, argv, argc, how, status, sources[last].name,
                             target->object ? argv[1] : sources[0].name);
    object_recount(result);
    family->totals.operations += result->items;
    if (result != target->object)
        object_put(target, result);
    merge_replicate(context, argv, argc, how);
    object_changed(context, argv[1], how->event, false);
    return api.ReplyWithLongLong(context, (long long)result->items);
}

int object_merge(server_context *context, server_string **argv, int argc, const merge_method *how)
{
    opened_key target;
    size_t n, count;
    if (argc < 3)
        return api.WrongArity(context);
    n = (size_t)argc - 2;
    if (!object_open(context, how->family, argv[1], SERVER_READ | SERVER_WRITE, &target))
        return SERVER_OK;
    merge_source *sources = api.TryAlloc(n * sizeof *sources);
    if (!sources)
        reply_status(context, BRY_E_NOMEM);
    else if (merge_open_sources(context, how, argv + 2, n, target.object, sources, &count))
        merge_run(context, argv, argc, how, &target, sources, count);
    if (sources)
        api.Free(sources);
    return object_close(&target);
}
