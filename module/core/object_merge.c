/* Merging keys, for any family: DEST SOURCE [SOURCE …], all or nothing. A source that does not
 * exist counts as empty. */
#include "module/core/object.h"
#include "module/core/replies.h"

/* Finds the sources that exist, in order. False after an error reply. */
static bool merge_open_sources(server_context *context, const merge_method *how,
                               server_string **names, size_t n, const held_object *target,
                               held_object **sources, size_t *count)
{
    char text[QUOTED_SIZE];
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        opened_key source;
        if (!object_open(context, how->family, names[i], SERVER_READ, &source))
            return false;
        object_close(&source);
        if (source.object && source.object == target) {
            reply_error(context, "ERR", "source %s is the destination", quoted(names[i], text));
            return false;
        }
        bool twice = false;
        for (size_t j = 0; j < *count; j++)
            twice = twice || sources[j] == source.object;
        if (twice) {
            reply_error(context, "ERR", "source %s is named twice", quoted(names[i], text));
            return false;
        }
        if (source.object)
            sources[(*count)++] = source.object;
    }
    return true;
}

/*
 * Merges all sources. With one source and an existing target it merges into the target itself,
 * which is one step; otherwise into a copy, so that the target is unchanged if a later step fails.
 */
static bry_status merge_all(server_context *context, const merge_method *how, held_object *target,
                            held_object *const *sources, size_t count, held_object **result)
{
    held_object *into = target;
    size_t next = 0;
    bry_status status = BRY_OK;
    if (!target)
        status = object_copy(sources[next++], &into);
    else if (count > 1)
        status = object_copy(target, &into);
    if (status != BRY_OK)
        return status;
    object_limit_begin(context, into);
    for (; next < count && status == BRY_OK; next++)
        status = how->merge(into->thing, sources[next]->thing);
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

/* Refusals that the library counts are replicated, as in object_refused(). */
static int merge_refused(server_context *context, server_string **argv, int argc,
                         const merge_method *how, bry_status status)
{
    if (status == BRY_E_FULL || status == BRY_E_UNSURE)
        merge_replicate(context, argv, argc, how);
    const char *text = status == BRY_E_MISMATCH ? how->mismatch
                       : status == BRY_E_FULL   ? how->full
                                                : NULL;
    if (!text)
        return object_refused_here(context, how->family, status);
    how->family->totals.refused++;
    return reply_error(context, bry_status_word(status), "%s", text);
}

static int merge_run(server_context *context, server_string **argv, int argc,
                     const merge_method *how, opened_key *target, held_object **sources,
                     size_t count)
{
    command_family *family = how->family;
    uint64_t more = 0;
    held_object *result;
    for (size_t i = 0; i < count; i++)
        more += sources[i]->account.bytes;
    if (count == 0)
        return api.ReplyWithLongLong(context,
                                     target->object ? (long long)target->object->items : 0);
    if (!object_may_grow(context, target->object, more))
        return object_too_large(context, family);
    bry_status status = merge_all(context, how, target->object, sources, count, &result);
    if (status != BRY_OK)
        return merge_refused(context, argv, argc, how, status);
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
    held_object **sources = api.TryAlloc(n * sizeof *sources);
    if (!sources)
        reply_status(context, BRY_E_NOMEM);
    else if (!target.object && !how->creates)
        family_reply_missing(context, how->family);
    else if (merge_open_sources(context, how, argv + 2, n, target.object, sources, &count))
        merge_run(context, argv, argc, how, &target, sources, count);
    if (sources)
        api.Free(sources);
    object_close(&target);
    return SERVER_OK;
}
