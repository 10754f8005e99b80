/*
 * Changes of a table of counters. The order is always the same: everything that can fail, then the
 * log, then the counters (counter.c says why).
 *
 * A batch is all or nothing. Whether its sums fit is known for certain only after the window has
 * said which operations are new, since two ids of one batch may be equal, or be mistaken for each
 * other; and the window remembers the ids when it is asked. So there is a bound first: the sums fit
 * whichever of the operations are left out, if for each counter those that add and those that
 * subtract fit by themselves. Only if that does not hold, a copy of the window is asked instead,
 * and replaces it if all goes well.
 */
#include "common/allocator.h"
#include "common/struct_size.h"
#include "counter/counter_dir.h"
#include "counter/counter_record.h"
#include "frame/log.h"
#include "window/window_object.h"

#include <assert.h>
#include <string.h>

_Static_assert(BRY_COUNTERS_BATCH_MAX == BRY__RECORD_MAX, "a batch is one record of the log");

typedef struct batch {
    bry_counters_op *ops;
    size_t op_size; /* the caller's size of an operation */
    size_t n;
    uint64_t now;
    size_t record; /* the most bytes of its record */
    bry_hash *ids;
    bry__counter_key *keys; /* of the names */
    bry__counter_name **names; /* of the operations that look new */
    uint8_t *was;
    bool *made; /* this operation added the name */
    void *block;
    size_t block_size;
} batch;

typedef struct small_batch {
    bry_hash ids[BRY__COUNTER_SMALL];
    bry__counter_key keys[BRY__COUNTER_SMALL];
    bry__counter_name *names[BRY__COUNTER_SMALL];
    uint8_t was[BRY__COUNTER_SMALL];
    bool made[BRY__COUNTER_SMALL];
} small_batch;

static bry_counters_op *counter_batch_op(const batch *b, size_t i)
{
    return bry__element(b->ops, b->op_size, i);
}

/* ---- preparing ------------------------------------------------------------------------------ */

static bry_status counter_batch_check(bry_counters *counters, batch *b)
{
    b->record = BRY__COUNTER_HEAD;
    for (size_t i = 0; i < b->n; i++) {
        if (counter_batch_op(b, i)->name_len > BRY_COUNTERS_NAME_MAX)
            return BRY_E_TOOLONG;
        b->record += BRY__COUNTER_OP + counter_batch_op(b, i)->name_len;
        if (b->record > BRY__RECORD_MAX)
            return BRY_E_TOOLONG;
    }
    uint64_t time = bry_window_time(counters->window), skew = counters->options.max_skew;
    if (skew && counters->window->started && b->now > time && b->now - time > skew) {
        counters->counts.refused_skew++;
        return BRY_E_SKEW;
    }
    return BRY_OK;
}

static bry_status counter_batch_prepare(bry_counters *counters, batch *b, small_batch *small)
{
    if (b->n <= BRY__COUNTER_SMALL) {
        b->ids = small->ids;
        b->keys = small->keys;
        b->names = small->names;
        b->was = small->was;
        b->made = small->made;
    } else {
        b->block_size = b->n * (sizeof *b->ids + sizeof *b->keys + sizeof *b->names + 2);
        b->block = bry__alloc(&counters->meter.allocator, b->block_size);
        if (!b->block)
            return BRY_E_NOMEM;
        b->ids = b->block;
        b->keys = (bry__counter_key *)(b->ids + b->n);
        b->names = (bry__counter_name **)(b->keys + b->n);
        b->was = (uint8_t *)(b->names + b->n);
        b->made = (bool *)(b->was + b->n);
    }
    for (size_t i = 0; i < b->n; i++) {
        const bry_counters_op *op = counter_batch_op(b, i);
        b->ids[i] = op->id;
        b->keys[i] = bry__counter_names_key(&counters->names, op->name, op->name_len);
        bry__counter_names_fetch_bucket(&counters->names, b->keys[i].hash);
        b->was[i] = BRY_ABSENT;
        b->made[i] = false;
    }
    return bry__counter_log_reserve(counters, b->record);
}

/*
 * Which operations look new. Window and names are large tables, so most of the time is spent
 * waiting for memory: the names are prefetched while the window is asked.
 */
static void counter_batch_ask(const bry_counters *counters, batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        bry__counter_names_fetch_name(&counters->names, b->keys[i]);
    bry_window_has_n(counters->window, b->ids, b->n, b->now, b->was);
}

/* Finds the names of the operations that look new. False: some do not exist. */
static bool counter_batch_find_names(const bry_counters *counters, batch *b)
{
    bool all = true;
    for (size_t i = 0; i < b->n; i++) {
        bool wanted = b->was[i] == BRY_ABSENT;
        b->names[i] = wanted ? bry__counter_names_find(&counters->names, b->keys[i]) : NULL;
        all &= !wanted || b->names[i];
    }
    return all;
}

/* Finds or adds a name for each operation that looks new. */
static bry_status counter_batch_add_names(bry_counters *counters, batch *b)
{
    memset(b->made, 0, b->n * sizeof *b->made);
    if (counter_batch_find_names(counters, b))
        return BRY_OK;
    for (size_t i = 0; i < b->n; i++) {
        bry__counter_name *name;
        if (b->names[i] || b->was[i] != BRY_ABSENT ||
            bry__counter_names_find(&counters->names, b->keys[i]))
            continue;
        bry_status status = bry__counter_names_add(&counters->names, b->keys[i], &name);
        if (status != BRY_OK) {
            b->n = i; /* for counter_batch_drop_names() */
            return status;
        }
        b->made[i] = true;
    }
    bool all = counter_batch_find_names(counters, b); /* again: names move when one is added */
    assert(all);
    (void)all;
    return BRY_OK;
}

/* Removes the new names that no operation used. */
static void counter_batch_drop_names(bry_counters *counters, const batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        bry__counter_name *name =
            b->made[i] ? bry__counter_names_find(&counters->names, b->keys[i]) : NULL;
        if (name && name->fresh)
            bry__counter_names_del(&counters->names, name);
    }
}

/* ---- do the sums fit? ----------------------------------------------------------------------- */

/* Subtracts what operations before `end` added: those that look new and have that sign; 0: both. */
static void counter_batch_take_back(const batch *b, size_t end, int sign)
{
    while (end-- > 0) {
        int64_t delta = counter_batch_op(b, end)->delta;
        if (b->was[end] == BRY_ABSENT && (sign == 0 || (delta < 0) == (sign < 0)))
            b->names[end]->value = (int64_t)((uint64_t)b->names[end]->value - (uint64_t)delta);
    }
}

static bool counter_batch_fits_alone(const batch *b, int sign)
{
    size_t i = 0;
    for (; i < b->n; i++) {
        int64_t delta = counter_batch_op(b, i)->delta, sum;
        if (b->was[i] != BRY_ABSENT || (delta < 0) != (sign < 0))
            continue;
        if (__builtin_add_overflow(b->names[i]->value, delta, &sum))
            break;
        b->names[i]->value = sum;
    }
    counter_batch_take_back(b, i, sign);
    return i == b->n;
}

/* Adds them one after the other in a copy of the window. */
static bry_status counter_batch_remember_exactly(bry_counters *counters, batch *b)
{
    bry__counter_meter *meter = &counters->meter;
    uint64_t limit = meter->limit, before = meter->bytes;
    meter->limit = 0;
    bry_window *copy;
    bry_status status = bry_window_clone(counters->window, NULL, &copy);
    if (status != BRY_OK)
        return status;
    if (limit)
        meter->limit = limit + (meter->bytes - before);

    size_t done = 0;
    for (; done < b->n && status == BRY_OK; done++) {
        bry_answer was;
        status = bry_window_add(copy, b->ids[done], b->now, &was);
        if (status != BRY_OK)
            break;
        b->was[done] = (uint8_t)was;
        int64_t delta = counter_batch_op(b, done)->delta, sum;
        if (was != BRY_ABSENT)
            continue;
        assert(b->names[done]);
        if (__builtin_add_overflow(b->names[done]->value, delta, &sum)) {
            status = BRY_E_OVERFLOW;
            break;
        }
        b->names[done]->value = sum;
    }
    counter_batch_take_back(b, done, 0);
    if (status == BRY_OK) {
        bry_window *old = counters->window;
        counters->window = copy;
        copy = old;
    }
    bry_window_destroy(copy);
    return status;
}

/* ---- one attempt ---------------------------------------------------------------------------- */

static bry_status counter_advance(bry_counters *counters, uint64_t now)
{
    return bry_window_advance(counters->window, now);
}

static bry_status counter_batch_remember(bry_counters *counters, batch *b)
{
    bool any = false;
    for (size_t i = 0; i < b->n; i++)
        any |= b->was[i] == BRY_ABSENT;
    if (!any) {
        counters->meter.limit = 0;
        return counter_advance(counters, b->now);
    }
    bool fits = counter_batch_fits_alone(b, 1) && counter_batch_fits_alone(b, -1);
    if (!fits && b->n == 1)
        return BRY_E_OVERFLOW;
    return fits ? bry_window_add_n(counters->window, b->ids, b->n, b->now, b->was)
                : counter_batch_remember_exactly(counters, b);
}

/*
 * The window first: the name, which probably exists, is fetched meanwhile. If it cannot be changed
 * after all, the window forgets the id again, which needs no memory; time must not move with it.
 */
static bool counter_batch_attempt_known(bry_counters *counters, batch *b)
{
    bry_window *window = counters->window;
    uint64_t refused = window->refused_full;
    bry_answer was = BRY_ABSENT;
    bry_status status = bry_window_add(window, b->ids[0], b->now, &was);
    window->refused_full = refused;
    if (status != BRY_OK)
        return false;
    int64_t sum;
    bry__counter_name *name = bry__counter_names_find(&counters->names, b->keys[0]);
    bool made = !name && was == BRY_ABSENT;
    if (made)
        status = bry__counter_names_add(&counters->names, b->keys[0], &name);
    if (was == BRY_ABSENT &&
        (status != BRY_OK ||
         __builtin_add_overflow(name->value, counter_batch_op(b, 0)->delta, &sum))) {
        bry_window_del(window, b->ids[0], b->now, NULL);
        return false;
    }
    b->names[0] = name;
    b->made[0] = made;
    b->was[0] = (uint8_t)was;
    return true;
}

/*
 * A batch of one operation, which is new nearly always: the window is not asked before the id is
 * added, and so searched once. False: nothing has changed, and the general way has to say why.
 */
static bool counter_batch_attempt_one(bry_counters *counters, batch *b)
{
    bry_window *window = counters->window;
    bry__counter_names *names = &counters->names;
    if (bry__counter_names_fetch_name(names, b->keys[0]) && window->engine->del &&
        !bry__window_moves(window, b->now))
        return counter_batch_attempt_known(counters, b);
    bry__counter_name *name = bry__counter_names_find(names, b->keys[0]);
    bool made = !name;
    if (made && bry__counter_names_add(names, b->keys[0], &name) != BRY_OK)
        return false;
    int64_t sum;
    uint64_t refused = window->refused_full;
    bry_answer was = BRY_ABSENT;
    bool done = !__builtin_add_overflow(name->value, counter_batch_op(b, 0)->delta, &sum) &&
                bry_window_add(window, b->ids[0], b->now, &was) == BRY_OK;
    window->refused_full = refused;
    if (!done && made)
        bry__counter_names_del(names, name);
    b->names[0] = done ? name : NULL;
    b->made[0] = done && made;
    b->was[0] = (uint8_t)was;
    return done;
}

/* max_bytes is about the table: what a batch needs for itself is in addition, or a batch would be
 * refused where its operations are not. */
static uint64_t counter_batch_limit(const bry_counters *counters, const batch *b)
{
    uint64_t most = counters->options.max_bytes;
    return most ? most + b->block_size + bry__counter_log_reserved(counters) : 0;
}

/* Everything except the log: afterwards the names are there, the window remembers, and b->was says
 * what is to be applied; or nothing has changed. */
static bry_status counter_batch_attempt(bry_counters *counters, batch *b)
{
    bry__counter_meter *meter = &counters->meter;
    size_t n = b->n;
    meter->limit = counter_batch_limit(counters, b);
    bool done = n == 1 && counter_batch_attempt_one(counters, b);
    meter->limit = 0;
    if (done)
        return BRY_OK;
    counter_batch_ask(counters, b);
    meter->denied = false;
    meter->limit = counter_batch_limit(counters, b);
    bry_status status = counter_batch_add_names(counters, b);
    if (status == BRY_OK)
        status = counter_batch_remember(counters, b);
    meter->limit = 0;
    if (status != BRY_OK)
        counter_batch_drop_names(counters, b);
    b->n = n;
    return status == BRY_E_NOMEM && meter->denied ? BRY_E_FULL : status;
}

static bry_status counter_batch_decide(bry_counters *counters, batch *b)
{
    bry_status status = counter_batch_attempt(counters, b);
    /* Retry after dropping expired ids. The time has advanced then, which is allowed for BRY_E_FULL
     * only: any other failure is left to the next attempt. */
    if (status == BRY_E_FULL && bry__window_moves(counters->window, b->now) &&
        counter_advance(counters, b->now) == BRY_OK && counter_batch_attempt(counters, b) == BRY_OK)
        status = BRY_OK;
    counters->counts.refused_full += status == BRY_E_FULL;
    counters->counts.refused_overflow += status == BRY_E_OVERFLOW;
    return status;
}

/* ---- done ----------------------------------------------------------------------------------- */

/* The log failed: the window remembers ids that the table must not count. */
static void counter_batch_abandon(bry_counters *counters, batch *b)
{
    bry__counter_limbo *limbo = bry__counter_limbo_of(counters);
    size_t kept = 0;
    for (size_t i = 0; i < b->n; i++)
        if (b->was[i] == BRY_ABSENT)
            b->ids[kept++] = b->ids[i];
    if (b->block) {
        limbo->block = b->block;
        limbo->size = b->block_size;
        limbo->ids = b->ids;
        b->block = NULL;
    } else {
        memcpy(limbo->small, b->ids, kept * sizeof *b->ids);
        limbo->ids = limbo->small;
    }
    limbo->count = kept;
}

static bry_status counter_batch_write_log(bry_counters *counters, batch *b)
{
    size_t applied = 0;
    for (size_t i = 0; i < b->n; i++)
        applied += b->was[i] == BRY_ABSENT;
    if (!counters->dir || applied == 0)
        return BRY_OK;
    size_t len = bry__counter_record_ops(counters, b->ops, b->op_size, b->was, b->n,
                                         bry__counter_log_room(counters));
    return bry__counter_log_write(counters, len, applied);
}

static void counter_batch_commit(bry_counters *counters, batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        bry_counters_op *op = counter_batch_op(b, i);
        if (b->was[i] == BRY_ABSENT) {
            bry__counter_name *name = b->names[i];
            assert(name);
            name->value += op->delta;
            name->fresh = false;
            op->outcome = BRY_COUNTERS_APPLIED;
            op->value = name->value;
            counters->counts.applied++;
            counters->counts.expected_lost += bry__counter_error(counters);
        } else {
            op->outcome = BRY_COUNTERS_REPEAT;
            if (!b->names[i])
                b->names[i] = bry__counter_names_find(&counters->names, b->keys[i]);
            op->value = b->names[i] ? b->names[i]->value : 0;
            /* Never less, says the log. */
            counters->counts.repeats += counters->counts.repeats < UINT64_MAX;
        }
    }
}

static bry_status counter_apply(bry_counters *counters, bry_counters_op *ops, size_t op_size,
                                size_t n, uint64_t now)
{
    if (counters->broken)
        return bry__counter_refuse_broken();
    batch b = {.ops = ops, .op_size = op_size, .n = n, .now = now};
    small_batch small;
    bry_status status = counter_batch_check(counters, &b);
    if (status == BRY_OK)
        status = counter_batch_prepare(counters, &b, &small);
    if (status == BRY_OK)
        status = counter_batch_decide(counters, &b);
    if (status == BRY_OK) {
        status = counter_batch_write_log(counters, &b);
        if (status == BRY_OK)
            counter_batch_commit(counters, &b);
        else
            counter_batch_abandon(counters, &b);
        counter_batch_drop_names(counters, &b);
    }
    bry__free(&counters->meter.allocator, b.block, b.block_size);
    if (status == BRY_OK)
        bry__counter_log_settle(counters);
    return status;
}

bry_status bry_counters_apply(bry_counters *counters, bry_hash id, const void *name,
                              size_t name_len, int64_t delta, uint64_t now,
                              bry_counters_outcome *outcome, int64_t *value)
{
    bry_counters_op op = {.id = id, .name = name, .name_len = name_len, .delta = delta};
    bry_status status = counter_apply(counters, &op, sizeof op, 1, now);
    if (status == BRY_OK && outcome)
        *outcome = op.outcome;
    if (status == BRY_OK && value)
        *value = op.value;
    return status;
}

bry_status bry_counters_apply_n_sized(bry_counters *counters, bry_counters_op *ops, size_t n,
                                      uint64_t now, size_t size)
{
    if (!bry__elements_usable(ops, size, n, BRY__END_OF(bry_counters_op, value), sizeof *ops))
        return BRY_E_RANGE;
    return n == 0 ? BRY_OK : counter_apply(counters, ops, size, n, now);
}

/* ---- the other changes ---------------------------------------------------------------------- */

/* Logs a record that is empty or has only a name, for changes that cannot fail any more. */
static bry_status counter_log_plain(bry_counters *counters, uint32_t type, const void *name,
                                    size_t len)
{
    if (!counters->dir)
        return BRY_OK;
    size_t size =
        bry__counter_record_plain(counters, type, name, len, bry__counter_log_room(counters));
    return bry__counter_log_write(counters, size, 1);
}

bry_status bry_counters_del(bry_counters *counters, const void *name, size_t name_len,
                            bry_answer *was)
{
    if (counters->broken)
        return bry__counter_refuse_broken();
    bry__counter_name *found = bry__counter_names_get(&counters->names, name, name_len);
    if (found) {
        bry_status status = bry__counter_log_reserve(counters, BRY__COUNTER_HEAD + name_len);
        if (status == BRY_OK)
            status = counter_log_plain(counters, BRY__COUNTER_DEL, name, name_len);
        if (status != BRY_OK)
            return status;
        bry__counter_names_del(&counters->names, found);
    }
    if (was)
        *was = found ? BRY_PRESENT : BRY_ABSENT;
    if (found)
        bry__counter_log_settle(counters);
    return BRY_OK;
}

bry_status bry_counters_advance(bry_counters *counters, uint64_t now)
{
    if (counters->broken)
        return bry__counter_refuse_broken();
    if (!bry__window_moves(counters->window, now))
        return BRY_OK;
    bry_status status = bry__counter_log_reserve(counters, BRY__COUNTER_HEAD);
    if (status == BRY_OK)
        status = counter_advance(counters, now);
    if (status == BRY_OK)
        status = counter_log_plain(counters, BRY__COUNTER_TIME, NULL, 0);
    if (status == BRY_OK)
        bry__counter_log_settle(counters);
    return status;
}

void bry__counter_empty(bry_counters *counters)
{
    bry__counter_names_clear(&counters->names);
    bry_window_clear(counters->window);
    counters->counts = (bry__counter_counts){0};
    bry__counter_error_reset(counters);
}

bry_status bry_counters_clear(bry_counters *counters)
{
    if (counters->broken)
        return bry__counter_refuse_broken();
    bry_status status = bry__counter_log_reserve(counters, BRY__COUNTER_HEAD);
    if (status == BRY_OK)
        status = counter_log_plain(counters, BRY__COUNTER_CLR, NULL, 0);
    if (status != BRY_OK)
        return status;
    bry__counter_empty(counters);
    if (counters->dir)
        counters->dir->logged_repeats = 0; /* so says the record */
    bry__counter_log_settle(counters);
    return BRY_OK;
}
