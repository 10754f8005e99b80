/* WINDOW.ADD, INSERT, EXISTS, DEL: the items of one window. n items give n answers, in order. Each
 * change is made for all items or for none. */
#include "module/core/arguments.h"
#include "module/core/item_batch.h"
#include "module/core/replies.h"
#include "module/window/window_type.h"

/* ---- queries ------------------------------------------------------------------------------- */

/* The server's clock or, with event time, 0: the time of the newest event. */
static uint64_t window_query_time(const bry_window *window)
{
    bry_window_options options = window_like(window);
    return window_by_events(&options) ? 0 : (uint64_t)api.Milliseconds();
}

int window_command_exists(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc < 3)
        return api.WrongArity(context);
    if (!object_open(context, &window_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    size_t n = (size_t)argc - 2;
    if (!opened.object) {
        object_close(&opened);
        return reply_zeros(context, n);
    }
    const bry_window *window = window_of(opened.object);
    uint64_t now = window_query_time(window);
    window_count(opened.object, n);
    api.ReplyWithArray(context, (long)n);
    for (size_t done = 0; done < n; done += BATCH_SMALL) {
        item_batch part;
        batch_open_part(&part, argv + 2, n, done);
        batch_hash(&part, bry_window_seed(window));
        if (part.n == 1)
            part.answers[0] = bry_window_has(window, part.hashes[0], now);
        else
            bry_window_has_n(window, part.hashes, part.n, now, part.answers);
        batch_reply(context, &part, BRY_PRESENT);
    }
    return object_close(&opened);
}

/* ---- adding -------------------------------------------------------------------------------- */

/* A command that changes one window. */
typedef struct window_change {
    server_context *context;
    server_string **argv;
    held_object *object;
    bry_window_options options;
    uint64_t at; /* AT as given, or 0 */
    uint64_t now; /* time of the change */
    uint64_t before; /* the window's time before the change */
    kept_name *as; /* name under which the command is replicated; NULL: its own */
    int argc; /* number of arguments that are replicated under that name */
} window_change;

/* Determines the time of an addition. A replayed command without AT happened at the time that the
 * window already had. False after an error reply. */
static bool window_change_time(window_change *self)
{
    const bry_window *window = window_of(self->object);
    self->options = window_like(window);
    self->before = bry_window_time(window);
    if (window_by_events(&self->options) && !self->at)
        return reply_false(self->context, "ERR",
                           "this window uses event time: add items with WINDOW.INSERT and AT");
    if (self->at || !is_replayed(self->context))
        return window_resolve_time(self->context, &self->options, self->at, &self->now);
    self->now = self->before;
    return true;
}

/* Replicates an addition: verbatim if it has its time or the window's time did not move, which is
 * the usual case and much cheaper than building a new command; otherwise with its time. */
static void window_replicate_added(const window_change *self, const item_batch *batch)
{
    if (self->as)
        replicate_as(self->context, self->argv, self->argc, self->as);
    else if (self->at || self->now <= self->before)
        api.ReplicateVerbatim(self->context);
    else
        api.Replicate(self->context, "WINDOW.INSERT", "sclcv", self->argv[1], "AT",
                      (long long)self->now, "ITEMS", batch->items, batch->n);
}

/* Replies to a refusal by the library. FULL is replicated like a change (object.h). */
static int window_add_refused(const window_change *self, const item_batch *batch, bry_status status)
{
    if (status == BRY_E_SKEW) {
        window_family.totals.refused++;
        return reply_error(self->context, "SKEW",
                           "AT is more than SKEW ahead of the window's time, which is %llu: use "
                           "WINDOW.ADVANCE to move it",
                           (unsigned long long)bry_window_time(window_of(self->object)));
    }
    if (status != BRY_E_FULL)
        return object_refused_here(self->context, &window_family, status);
    window_replicate_added(self, batch);
    return window_reply_full(self->context, self->object, batch->n, "window", "items");
}

/* Drops expired items if a generation has passed. */
static void window_expire(const window_change *self)
{
    bry_window *window = window_of(self->object);
    uint64_t time = bry_window_time(window), skew = self->options.max_skew;
    if (self->now <= time || window_same_generation(&self->options, time, self->now) ||
        (skew && self->now - time > skew) || bry_window_advance(window, self->now) != BRY_OK)
        return;
    window_refresh_errors(self->object);
    api.Replicate(self->context, "WINDOW.ADVANCE", "scl", self->argv[1], "AT",
                  (long long)self->now);
}

/*
 * True if the items may be added within bloomery.max-key-bytes. At the limit, items that are
 * remembered may still be added, because that adds nothing; with REFRESH up to an eighth above the
 * limit.
 */
static bool window_may_add(const window_change *self, item_batch *batch)
{
    const held_object *object = self->object;
    uint64_t more = batch->n * sizeof(bry_hash);
    if (object_may_grow(self->context, object, more))
        return true;
    window_expire(self);
    if (object_may_grow(self->context, object, more))
        return true;
    size_t bytes = object->account.bytes;
    if (self->options.refresh && !object_may_grow(self->context, NULL, bytes - bytes / 9))
        return false;
    bry_window_has_n(window_of(object), batch->hashes, batch->n, self->now, batch->answers);
    return batch_count(batch, BRY_ABSENT) == 0;
}

static bry_status window_add_batch(bry_window *window, item_batch *batch, uint64_t now)
{
    if (batch->n != 1)
        return bry_window_add_n(window, batch->hashes, batch->n, now, batch->answers);
    bry_answer was;
    bry_status status = bry_window_add(window, batch->hashes[0], now, &was);
    if (status == BRY_OK)
        batch->answers[0] = (uint8_t)was;
    return status;
}

static bry_status window_add_below_limit(const window_change *self, item_batch *batch)
{
    object_limit_begin(self->context, self->object);
    bry_status status = window_add_batch(window_of(self->object), batch, self->now);
    return object_limit_end(self->object, status);
}

static int window_add_all(const window_change *self, item_batch *batch)
{
    bry_window *window = window_of(self->object);
    batch_hash(batch, bry_window_seed(window));
    if (!window_may_add(self, batch))
        return object_too_large(self->context, &window_family);
    bry_status status = window_add_below_limit(self, batch);
    if (status == BRY_E_LIMIT) {
        window_expire(self);
        status = window_add_below_limit(self, batch);
    }
    if (status != BRY_OK)
        return window_add_refused(self, batch, status);
    size_t added = batch_count(batch, BRY_ABSENT);
    window_changed(self->object, &self->options, self->before);
    window_count(self->object, batch->n);
    window_family.totals.repeats += batch->n - added;
    window_replicate_added(self, batch);
    object_changed(self->context, self->argv[1], "window.add", false);
    api.ReplyWithArray(self->context, (long)batch->n);
    batch_reply(self->context, batch, BRY_ABSENT);
    return SERVER_OK;
}

static int window_add_items(server_context *context, server_string **argv, server_string **items,
                            size_t n, window_change *change)
{
    opened_key opened;
    item_batch batch;
    if (!object_open_made(context, &window_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    change->context = context;
    change->argv = argv;
    change->object = opened.object;
    if (window_change_time(change)) {
        if (batch_open(&batch, items, n))
            window_add_all(change, &batch);
        else
            reply_status(context, BRY_E_NOMEM);
        batch_close(&batch);
    }
    return object_close(&opened);
}

int window_command_add(server_context *context, server_string **argv, int argc)
{
    window_change change = {0};
    if (argc < 3)
        return api.WrongArity(context);
    return window_add_items(context, argv, argv + 2, (size_t)argc - 2, &change);
}

int window_add_as(server_context *context, server_string **argv, int argc, kept_name *as)
{
    window_change change = {.as = as, .argc = argc};
    return window_add_items(context, argv, argv + 2, 1, &change);
}

int window_command_insert(server_context *context, server_string **argv, int argc)
{
    window_change change = {0};
    command_option options[] = {option_whole("AT", OPTION_MOMENT, WINDOW_MOST_TIME, &change.at)};
    int first;
    if (argc < 3)
        return api.WrongArity(context);
    if (!options_read_until(context, argv, argc, 2, options, 1, "ITEMS", &first))
        return SERVER_OK;
    return window_add_items(context, argv, argv + first, (size_t)(argc - first), &change);
}

/* ---- deleting ------------------------------------------------------------------------------ */

/* Moves the time of a window that uses the clock, so that expired items count as absent. After that
 * nothing can fail: deleting without moving the time needs no memory. False after an error
 * reply. */
static bool window_begin_delete(server_context *context, server_string *key, held_object *object)
{
    bry_window *window = window_of(object);
    bry_window_options options = window_like(window);
    uint64_t now = (uint64_t)api.Milliseconds();
    if (bry_window_engine(window) == BRY_ENGINE_FBF) {
        window_family.totals.refused++;
        return reply_false(context, "UNSUPPORTED",
                           "engine fbf cannot delete single items; engine compact can");
    }
    if (window_by_events(&options) || is_replayed(context) || now <= bry_window_time(window))
        return true;
    bry_status status = bry_window_advance(window, now);
    if (status != BRY_OK) {
        object_refused_here(context, &window_family, status);
        return false;
    }
    api.Replicate(context, "WINDOW.ADVANCE", "scl", key, "AT", (long long)now);
    return true;
}

/* False before the first event: then there is nothing to delete, and the deletion must not start
 * the window's time. */
static bool window_has_started(const held_object *object)
{
    bry_window_stats stats = {0};
    bry_window_get_stats(window_of(object), &stats);
    return stats.started;
}

static void window_del_all(server_context *context, server_string *key, held_object *object,
                           item_batch *batch)
{
    bry_window *window = window_of(object);
    uint64_t time = bry_window_time(window);
    batch_hash(batch, bry_window_seed(window));
    if (batch->n > 1) /* to prefetch */
        bry_window_has_n(window, batch->hashes, batch->n, time, batch->answers);
    for (size_t i = 0; i < batch->n; i++)
        bry_window_del(window, batch->hashes[i], time, &batch->answers[i]);
    window_changed_compact(object);
    window_count(object, batch->n);
    api.ReplicateVerbatim(context);
    if (batch_count(batch, BRY_PRESENT) > 0)
        object_changed(context, key, "window.del", false);
    api.ReplyWithArray(context, (long)batch->n);
    batch_reply(context, batch, BRY_PRESENT);
}

int window_command_del(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    item_batch batch;
    if (argc < 3)
        return api.WrongArity(context);
    if (!object_open(context, &window_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    size_t n = (size_t)argc - 2;
    held_object *object = opened.object;
    if (!batch_open(&batch, argv + 2, n)) {
        reply_status(context, BRY_E_NOMEM);
    } else if (!object) {
        reply_zeros(context, n);
    } else if (window_begin_delete(context, argv[1], object)) {
        if (window_has_started(object))
            window_del_all(context, argv[1], object, &batch);
        else
            reply_zeros(context, n);
    }
    batch_close(&batch);
    return object_close(&opened);
}
