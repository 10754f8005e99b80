/*
 * The engine compact: a fingerprint and the number of a generation for each element.
 *
 *             ├───────────── window ─────────────┤
 *   ──┬───────┬───────┬───────┬───────┬───────┬──┴────> time, cut into generations on a grid of
 *     │ g-5   │ g-4   │ g-3   │ g-2   │ g-1   │ g        absolute time: number = time / length
 *   ──┴───────┴───────┴───────┴───────┴───────┴───────
 *     gone      still remembered …      now ─────^
 *
 * An element is remembered while now < end of its generation + window. So time alone makes entries
 * expire; what has expired answers nothing, and is reclaimed in steps (compact_reclaim.c). What the
 * window does depends only on the entries that are remembered, never on how far reclaiming has
 * come: that is how replicas and replays agree, and frames hold the former alone.
 *
 * Numbers are stored modulo a power of two, 2^b, with at least two more values than there are live
 * generations. An entry's number tells its generation as long as no entry is 2^b or more behind the
 * newest. When time jumps so far that some would be, the tables as they are become the *past*: they
 * keep the newest generation that their numbers go by, are asked beside the new ones, and take no
 * more entries. Time must pass for a whole window and more until the numbers of the new tables
 * could be ambiguous, and then nothing in the past is remembered any more: so there is one at most.
 * What is not remembered is freed in steps, so a change takes no longer after a pause of any
 * length. (In small windows what has expired is reclaimed at once instead.)
 *
 * Bits an element, at the worst point of a generation (just before the oldest goes), for G parts of
 * a window:
 *
 *      (1 + 1/G) · (log2(4/3 / error) + 2.7 + b),     b = ceil(log2(G + 3))
 *
 * G = 13 is the least for errors from 10^-2 to 10^-5: 18.3 bits at 10^-3.
 *
 * Level 0 is planned for all that lives at that point, at 3/4 of the error. What comes beyond goes
 * to further levels, each of 16 times as many or more, with longer fingerprints, as the chain of
 * maplet_plan.c plans them: the error stays within the target at any rate. New elements go to the
 * first level with room, so when the load falls the further levels expire, and are closed as soon
 * as nothing in them is remembered.
 *
 * A batch is all or nothing: what each element did is noted, and taken back in reverse order. That
 * never needs memory: an entry that came is removed, and a number that was replaced is put back in
 * its place.
 */
#include "window/compact_change.h"
#include "window/window_engine.h"

#include "common/struct_size.h"
#include "frame/frame.h"
#include "hash/derive.h"

#define SMALL_BATCH BRY__TABLE_BATCH
#define SMALL_WINDOW 16384u /* entries that are reclaimed at once: some hundred microseconds */

/* ---- making -------------------------------------------------------------------------------- */

static bry_status plan(const bry_window_options *options, bry_window_shape *shape)
{
    if (options->fbf.mode != BRY_WINDOW_IMPROVED || options->fbf.bits || options->fbf.hashes ||
        (options->max_bytes && !options->refuse))
        return BRY_E_UNSUPPORTED;
    bry__compact_shape inside;
    bry_status status = bry__compact_shape_of(options, &inside);
    if (status != BRY_OK)
        return status;
    uint64_t range = inside.chain.range[0], capacity = inside.chain.capacity[0];
    *shape = (bry_window_shape){
        .engine = BRY_ENGINE_COMPACT,
        .window = inside.window,
        .longest = inside.window + inside.length,
        .capacity = options->capacity,
        .generations =
            (uint32_t)(inside.window / inside.length + (inside.window % inside.length != 0) + 1),
        .fingerprint_bits = 64 - (unsigned)__builtin_clzll(range - 1),
        .error = (double)capacity / (double)range,
        .bytes = sizeof(bry__compact_window) + bry__level_plan_bytes(&inside, 0, capacity),
        .bytes_empty = sizeof(bry__compact_window),
        .bytes_least = bry__levels_bytes_least(&inside),
    };
    return BRY_OK;
}

static uint64_t bytes_first(const bry_window_options *options)
{
    bry__compact_shape shape;
    return bry__compact_shape_of(options, &shape) == BRY_OK ? bry__levels_bytes_first(&shape) : 0;
}

static bry_status create(const bry_window_options *options, const bry_allocator *allocator,
                         void **self)
{
    bry__compact_shape shape;
    bry_status status = bry__compact_shape_of(options, &shape);
    if (status != BRY_OK)
        return status;
    bry__compact_window *window = bry__alloc(allocator, sizeof *window);
    if (!window)
        return BRY_E_NOMEM;
    window->allocator = *allocator;
    window->shape = shape;
    window->small = SMALL_WINDOW;
    window->newest = bry__window_newest(&shape, options->start);
    window->oldest = bry__window_oldest(&shape, options->start);
    *self = window;
    return BRY_OK;
}

static void destroy(void *self)
{
    bry__compact_window *window = self;
    bry_allocator allocator = window->allocator;
    bry__levels_free(window);
    bry__free(&allocator, window, sizeof *window);
}

static bry_status clone(const void *self, const bry_allocator *allocator, void **copy)
{
    const bry__compact_window *window = self;
    bry__compact_window *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    bry_status status = bry__levels_clone(window, made, allocator);
    if (status != BRY_OK) {
        bry__free(allocator, made, sizeof *made);
        return status;
    }
    *copy = made;
    return BRY_OK;
}

static void clear(void *self)
{
    bry__levels_free(self);
}

static void like(const void *self, bry_window_options *options)
{
    (void)self;
    (void)options; /* the options are the shape */
}

/* ---- asking -------------------------------------------------------------------------------- */

/* The oldest age that is remembered at `now`; false: none is. */
static bool oldest_age(const bry__compact_window *window, uint64_t now, uint64_t *age)
{
    uint64_t oldest = bry__window_oldest(&window->shape, now);
    if (oldest < window->oldest)
        oldest = window->oldest;
    *age = window->newest - oldest;
    return window->levels > 0 && oldest <= window->newest;
}

static bry_answer has(const void *self, bry_hash hash, uint64_t now)
{
    for (const bry__compact_window *set = self; set; set = set->past) {
        uint64_t most;
        if (!oldest_age(set, now, &most))
            continue;
        for (unsigned i = 0; i < set->levels; i++) {
            const bry__table *table = &set->level[i]->table;
            uint32_t number;
            if (bry__table_get(table, bry__fingerprint(hash, table->range), &number) &&
                bry__window_age(set, number) <= most)
                return BRY_PRESENT;
        }
    }
    return BRY_ABSENT;
}

static void has_some(const bry__compact_window *window, const bry_hash *hashes, size_t n,
                     uint64_t most, uint8_t *answers)
{
    for (unsigned i = 0; i < window->levels; i++) {
        const bry__table *table = &window->level[i]->table;
        uint64_t fingerprints[SMALL_BATCH];
        uint32_t numbers[SMALL_BATCH];
        uint8_t found[SMALL_BATCH] = {0};
        for (size_t j = 0; j < n; j++)
            fingerprints[j] = bry__fingerprint(hashes[j], table->range);
        bry__table_get_n(table, fingerprints, n, numbers, found);
        for (size_t j = 0; j < n; j++)
            if (found[j] && bry__window_age(window, numbers[j]) <= most)
                answers[j] = BRY_PRESENT;
    }
}

static void has_n(const void *self, const bry_hash *hashes, size_t n, uint64_t now,
                  uint8_t *answers)
{
    for (size_t i = 0; i < n; i++)
        answers[i] = BRY_ABSENT;
    for (const bry__compact_window *set = self; set; set = set->past) {
        uint64_t most;
        bool any = oldest_age(set, now, &most);
        for (size_t done = 0; any && done < n; done += SMALL_BATCH)
            has_some(set, hashes + done, n - done < SMALL_BATCH ? n - done : SMALL_BATCH, most,
                     answers + done);
    }
}

/* Wherever it may be, and where it would go. */
static void fetch_for_add(const void *self, bry_hash hash)
{
    const bry__compact_window *window = self;
    unsigned room = bry__levels_first_with_room(window);
    for (unsigned i = 0; i < window->levels; i++) {
        const bry__table *table = &window->level[i]->table;
        bry__table_prefetch(table, bry__fingerprint(hash, table->range), i == room);
    }
}

/* ---- adding -------------------------------------------------------------------------------- */

/* What an element did, to take it back. */
typedef struct step {
    enum { NOTHING, INSERTED, OVER_EXPIRED, OVER_LIVE } did;
    unsigned level;
    uint32_t before; /* the number that it replaced */
    bool from_past; /* the entry was in the past, with … */
    uint32_t past_number; /* … this */
} step;

/* Gives a fingerprint the newest generation's number; `maybe` is false where it is known that the
 * level has no entry of it. */
static bry_status put(bry__compact_window *window, unsigned level, bry_hash hash, bool maybe,
                      step *undo)
{
    bry__table *table = &window->level[level]->table;
    uint64_t fingerprint = bry__fingerprint(hash, table->range);
    uint32_t number = (uint32_t)(window->newest & (bry__window_slots(&window->shape) - 1)),
             before = 0;
    bool found = maybe && bry__table_get(table, fingerprint, &before);
    bool live = found && bry__window_is_live(window, before);
    if (live && before == number)
        return BRY_OK;
    bry_status status =
        found ? bry__table_replace(table, fingerprint, before, number, &window->allocator)
              : bry__table_add(table, fingerprint, number, &window->allocator);
    if (status != BRY_OK)
        return status;
    undo->did = !found ? INSERTED : live ? OVER_LIVE : OVER_EXPIRED;
    undo->level = level;
    undo->before = before;
    ++*bry__window_count(window, level, window->newest);
    if (live)
        --*bry__window_count(window, level, before);
    else
        window->level[level]->live++;
    return BRY_OK;
}

/* Gives an entry of the past another number, one that is remembered or not. In place, so it does
 * not fail when it is taken back. BRY_E_NOMEM. */
static bry_status renumber_past(bry__compact_window *past, unsigned level, bry_hash hash,
                                uint32_t from, uint32_t to)
{
    bry__window_level *there = past->level[level];
    uint64_t fingerprint = bry__fingerprint(hash, there->table.range);
    bry_status status = bry__table_replace(&there->table, fingerprint, from, to, &past->allocator);
    if (status != BRY_OK)
        return status;
    bool dies = to == bry__window_dead(past);
    *bry__window_count(past, level, dies ? from : to) += dies ? (uint64_t)-1 : 1;
    there->live += dies ? (uint64_t)-1 : 1;
    return BRY_OK;
}

static void take_back(bry__compact_window *window, bry_hash hash, const step *undo)
{
    if (undo->did == NOTHING)
        return;
    if (undo->from_past)
        (void)renumber_past(window->past, undo->level, hash, bry__window_dead(window->past),
                            undo->past_number);
    bry__window_level *level = window->level[undo->level];
    uint64_t fingerprint = bry__fingerprint(hash, level->table.range);
    uint32_t number = (uint32_t)(window->newest & (bry__window_slots(&window->shape) - 1));
    --*bry__window_count(window, undo->level, window->newest);
    if (undo->did == OVER_LIVE)
        ++*bry__window_count(window, undo->level, undo->before);
    else
        level->live--;
    if (undo->did == INSERTED)
        bry__table_del(&level->table, fingerprint, number, &window->allocator);
    else /* in place, so it does not fail */
        (void)bry__table_replace(&level->table, fingerprint, number, undo->before,
                                 &window->allocator);
}

/* Where an element is remembered. */
typedef struct found {
    bool any;
    unsigned level; /* the first one; */
    bool in_past;
    uint32_t number; /* in the past */
    uint32_t expired; /* a bit for each level of its own with an entry that is not remembered */
} found;

static bool has_live(const bry__compact_window *set, unsigned level, bry_hash hash,
                     uint32_t *number, bool *there)
{
    if (level >= set->levels)
        return false;
    const bry__table *table = &set->level[level]->table;
    *there = bry__table_get(table, bry__fingerprint(hash, table->range), number);
    return *there && bry__window_is_live(set, *number);
}

static found find(const bry__compact_window *window, bry_hash hash)
{
    const bry__compact_window *past = window->past;
    found result = {0};
    for (unsigned i = 0; i < window->levels || (past && i < past->levels); i++) {
        bool there = false, in_past = false;
        uint32_t number;
        result.level = i;
        result.any = has_live(window, i, hash, &number, &there);
        result.expired |= (uint32_t)(there && !result.any) << i;
        if (!result.any && past && has_live(past, i, hash, &result.number, &in_past))
            result.any = result.in_past = true;
        if (result.any)
            break;
    }
    return result;
}

/* The same in a level that may have to be opened, and with it those before. */
static bry_status put_new(bry__compact_window *window, unsigned level, bry_hash hash, bool maybe,
                          step *undo)
{
    unsigned levels = window->levels;
    bry_status status = BRY_OK;
    while (window->levels <= level && status == BRY_OK)
        status = bry__level_open(window);
    if (status == BRY_OK)
        status = put(window, level, hash, maybe, undo);
    while (status != BRY_OK && window->levels > levels)
        bry__level_close(window);
    return status;
}

/* Moves an entry from the past to the newest generation, in its level. */
static bry_status put_from_past(bry__compact_window *window, const found *there, bry_hash hash,
                                step *undo)
{
    bry__compact_window *past = window->past;
    uint32_t dead = bry__window_dead(past);
    bry_status status = renumber_past(past, there->level, hash, there->number, dead);
    if (status != BRY_OK)
        return status;
    status = put_new(window, there->level, hash, true, undo);
    if (status != BRY_OK)
        (void)renumber_past(past, there->level, hash, dead, there->number);
    undo->from_past = status == BRY_OK;
    undo->past_number = there->number;
    return status;
}

/* One element. It fails with nothing changed. */
static bry_status add_one(bry__compact_window *window, bry_hash hash, bry_answer *was, step *undo)
{
    unsigned level;
    undo->did = NOTHING;
    undo->from_past = false;
    found there = find(window, hash);
    *was = there.any ? BRY_PRESENT : BRY_ABSENT;
    if (*was == BRY_ABSENT) {
        bry_status status = bry__levels_place(window, &level);
        return status == BRY_OK ? put_new(window, level, hash, there.expired >> level & 1, undo)
                                : status;
    }
    if (!window->shape.refresh)
        return BRY_OK;
    /* Where a level before has room again it moves there: the entry behind is left to expire. */
    if (there.level > 0 && bry__levels_place(window, &level) == BRY_OK && level < there.level)
        return put_new(window, level, hash, true, undo);
    return there.in_past ? put_from_past(window, &there, hash, undo)
                         : put(window, there.level, hash, true, undo);
}

static bry_status add(void *self, bry_hash hash, uint64_t now, bry_answer *was)
{
    bry__compact_window *window = self;
    bry__changing change;
    bry_status status = bry__change_begin(window, now, false, &change);
    if (status != BRY_OK)
        return status;
    bry_answer answer;
    step unused;
    status =
        bry__change_end(window, &change, add_one(change.window, hash, &answer, &unused), 1, now);
    if (status == BRY_OK)
        *was = answer;
    return status;
}

static bry_status add_new(void *self, bry_hash hash, uint64_t now)
{
    bry__compact_window *window = self;
    bry__changing change;
    bry_status status = bry__change_begin(window, now, false, &change);
    if (status != BRY_OK)
        return status;
    step unused;
    unsigned level;
    status = bry__levels_place(change.window, &level);
    if (status == BRY_OK)
        status = put_new(change.window, level, hash, true, &unused);
    return bry__change_end(window, &change, status, 1, now);
}

/* What each element of a batch did and was. */
typedef struct batch_log {
    step *did;
    uint8_t *was;
} batch_log;

/* For what it fetches into the cache. */
static void fetch(const bry__compact_window *window, const bry_hash *hashes, size_t n)
{
    uint64_t fingerprints[SMALL_BATCH];
    for (unsigned i = 0; i < window->levels; i++) {
        const bry__table *table = &window->level[i]->table;
        for (size_t j = 0; j < n; j++)
            fingerprints[j] = bry__fingerprint(hashes[j], table->range);
        bry__table_prefetch_n(table, fingerprints, n);
    }
}

/* All elements. After a failure what was done in place is taken back. */
static bry_status add_all(bry__changing *change, const bry_hash *hashes, size_t n,
                          const batch_log *log)
{
    bry__compact_window *window = change->window;
    unsigned levels = window->levels;
    bry_status status = BRY_OK;
    size_t i = 0;
    for (; i < n; i++) {
        if (i % SMALL_BATCH == 0)
            fetch(window, hashes + i, n - i < SMALL_BATCH ? n - i : SMALL_BATCH);
        bry_answer was;
        status = add_one(window, hashes[i], &was, &log->did[i]);
        if (status != BRY_OK)
            break;
        log->was[i] = (uint8_t)was;
    }
    if (status == BRY_OK || change->copied)
        return status;
    while (i-- > 0)
        take_back(window, hashes[i], &log->did[i]);
    while (window->levels > levels)
        bry__level_close(window);
    return status;
}

static bry_status add_logged(bry__compact_window *window, const bry_hash *hashes, size_t n,
                             uint64_t now, const batch_log *log)
{
    bry__changing change;
    bry_status status = bry__change_begin(window, now, false, &change);
    if (status != BRY_OK)
        return status;
    status = add_all(&change, hashes, n, log);
    return bry__change_end(window, &change, status, n, now);
}

static bry_status add_n(void *self, const bry_hash *hashes, size_t n, uint64_t now, uint8_t *was)
{
    bry__compact_window *window = self;
    const bry_allocator allocator = window->allocator;
    step did[SMALL_BATCH];
    uint8_t answers[SMALL_BATCH] = {0};
    batch_log log = {did, answers};
    if (n > SIZE_MAX / sizeof *did)
        return BRY_E_NOMEM;
    if (n > SMALL_BATCH) {
        log.did = bry__alloc(&allocator, n * sizeof *log.did);
        log.was = bry__alloc(&allocator, n);
    }
    bry_status status = log.did && log.was ? add_logged(window, hashes, n, now, &log) : BRY_E_NOMEM;
    for (size_t i = 0; i < n && was && status == BRY_OK; i++)
        was[i] = log.was[i];
    if (n > SMALL_BATCH) {
        bry__free(&allocator, log.did, n * sizeof *log.did);
        bry__free(&allocator, log.was, n);
    }
    return status;
}

/* ---- other changes ------------------------------------------------------------------------- */

static bry_status del(void *self, bry_hash hash, uint64_t now, bry_answer *was)
{
    bry__compact_window *window = self;
    bry__changing change;
    bry_status status = bry__change_begin(window, now, false, &change);
    if (status != BRY_OK)
        return status;
    bry_answer answer = BRY_ABSENT;
    for (bry__compact_window *on = change.window; on; on = on->past)
        for (unsigned i = 0; i < on->levels; i++) {
            bry__window_level *level = on->level[i];
            uint64_t fingerprint = bry__fingerprint(hash, level->table.range);
            uint32_t number;
            if (!bry__table_get(&level->table, fingerprint, &number) ||
                !bry__window_is_live(on, number))
                continue;
            bry__table_del(&level->table, fingerprint, number, &on->allocator);
            --*bry__window_count(on, i, number);
            level->live--;
            answer = BRY_PRESENT;
        }
    *was = answer;
    return bry__change_end(window, &change, BRY_OK, 0, now);
}

static bry_status advance(void *self, uint64_t now)
{
    bry__compact_window *window = self;
    bry__changing change;
    bry_status status = bry__change_begin(window, now, false, &change);
    return status == BRY_OK ? bry__change_end(window, &change, BRY_OK, 0, now) : status;
}

static bry_status merge(void *self, const void *from, uint64_t now)
{
    bry__compact_window *window = self;
    bry__changing change;
    bry_status status = bry__change_begin(window, now, true, &change);
    if (status != BRY_OK)
        return status;
    status = bry__levels_merge(change.window, from);
    if (status == BRY_OK &&
        !(bry__levels_keep_error(change.window) && bry__levels_keep_ceiling(change.window)))
        status = BRY_E_FULL;
    return bry__change_end(window, &change, status, 0, now);
}

/* ---- looking in ---------------------------------------------------------------------------- */

static uint64_t items(const void *self)
{
    return bry__levels_live(self);
}

static uint64_t bytes(const void *self)
{
    return bry__levels_bytes(self);
}

static size_t generations(const void *self, uint64_t now, bry_window_generation *generations,
                          size_t generation_size, size_t room)
{
    const bry__compact_window *window = self;
    uint64_t live = bry__levels_live(window), length = window->shape.length;
    size_t n = (size_t)(window->newest - window->oldest + 1);
    (void)now; /* T, which is where the window stands */
    for (size_t i = 0; i < n && i < room; i++) {
        uint64_t number = window->newest - i, items = 0, begin_at = number * length;
        for (const bry__compact_window *set = window; set; set = set->past)
            for (unsigned j = 0; j < set->levels && number <= set->newest; j++)
                items += *bry__window_count(set, j, number);
        bry_window_generation generation = {
            .begin = begin_at,
            .end = i == 0 ? UINT64_MAX : begin_at + length,
            .items = items,
            .fill = live ? (double)items / (double)live : 0,
        };
        bry__element_write(bry__element(generations, generation_size, i), generation_size,
                           &generation, sizeof generation);
    }
    return n;
}

static void stats(const void *self, uint64_t now, bry_window_stats *stats)
{
    const bry__compact_window *window = self;
    stats->covered = now - window->oldest * window->shape.length;
    stats->items = bry__levels_live(window);
    stats->generations = (uint32_t)(window->newest - window->oldest + 1);
    stats->estimated_error = stats->predicted_error = bry__levels_error(window);
    stats->at_ceiling = bry__levels_at_ceiling(window);
    stats->bytes = bry__levels_bytes(window);
}

const bry__window_engine bry__compact_window_engine = {
    .engine = BRY_ENGINE_COMPACT,
    .plan = plan,
    .bytes_first = bytes_first,
    .create = create,
    .destroy = destroy,
    .clone = clone,
    .clear = clear,
    .like = like,
    .has = has,
    .has_n = has_n,
    .fetch = fetch_for_add,
    .add = add,
    .add_new = add_new,
    .add_n = add_n,
    .del = del,
    .advance = advance,
    .merge = merge,
    .items = items,
    .bytes = bytes,
    .generations = generations,
    .stats = stats,
    .write = bry__compact_window_write,
    .read = bry__compact_window_read,
};
