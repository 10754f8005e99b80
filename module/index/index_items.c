/*
 * INDEX.ADD, LOCATE, EXISTS, DEL: the items of one index. n items give n answers, in order. Items
 * are added all or none: whether a unit has room is checked before, and if the library refuses one
 * after that, the others are removed again.
 */
#include "module/core/item_batch.h"
#include "module/core/replies.h"
#include "module/index/index_type.h"

#include <inttypes.h>

static int index_reply_answers(server_context *context, const item_batch *self, bry_answer yes)
{
    api.ReplyWithArray(context, (long)self->n);
    batch_reply(context, self, yes);
    return SERVER_OK;
}

/* ---- candidates ---------------------------------------------------------------------------- */

#define FEW 8u /* candidates that the first query returns */

/* Some items of INDEX.LOCATE: each different hash is looked up once. */
typedef struct location {
    const held_index *held;
    bry_hash hashes[BATCH_SMALL]; /* all different */
    uint32_t *all[BATCH_SMALL]; /* all candidates, if there are more than FEW */
    size_t totals[BATCH_SMALL];
    uint32_t units[BATCH_SMALL * FEW];
    size_t n;
    uint8_t which[BATCH_SMALL]; /* index in `hashes` of each item */
    uint8_t uses[BATCH_SMALL]; /* number of items that still need the result of each hash */
} location;

static void location_find(location *self, const item_batch *items)
{
    self->n = 0;
    for (size_t i = 0; i < items->n; i++) {
        size_t at = 0;
        while (at < self->n && (self->hashes[at].lo != items->hashes[i].lo ||
                                self->hashes[at].hi != items->hashes[i].hi))
            at++;
        if (at == self->n) {
            self->hashes[self->n] = items->hashes[i];
            self->uses[self->n] = 0;
            self->all[self->n++] = NULL;
        }
        self->which[i] = (uint8_t)at;
        self->uses[at]++;
    }
    bry_index_locate_n(self->held->index, self->hashes, self->n, self->units, FEW, self->totals);
}

/* All candidates of a hash. NULL: out of memory. */
static const uint32_t *location_units(location *self, size_t at)
{
    size_t total = self->totals[at];
    if (total <= FEW)
        return self->units + at * FEW;
    if (!self->all[at] && (self->all[at] = api.TryAlloc(total * sizeof(uint32_t))))
        bry_index_locate(self->held->index, self->hashes[at], self->all[at], total);
    return self->all[at];
}

static void location_reply(server_context *context, location *self, size_t at)
{
    const uint32_t *units = location_units(self, at);
    if (units) {
        api.ReplyWithArray(context, (long)self->totals[at]);
        for (size_t i = 0; i < self->totals[at]; i++) {
            uint64_t tag = 0;
            bry_index_get_tag(self->held->index, units[i], &tag);
            api.ReplyWithLongLong(context, (long long)tag);
        }
    } else {
        reply_status(context, BRY_E_NOMEM);
    }
    if (--self->uses[at] == 0 && self->all[at])
        api.Free(self->all[at]);
}

static void index_locate_part(server_context *context, const held_index *held,
                              server_string **items, size_t n)
{
    item_batch part;
    location found = {.held = held};
    batch_open(&part, items, n);
    batch_hash(&part, bry_index_seed(held->index));
    location_find(&found, &part);
    for (size_t i = 0; i < n; i++)
        location_reply(context, &found, found.which[i]);
}

int index_command_locate(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc < 3)
        return api.WrongArity(context);
    if (!object_open(context, &index_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    size_t n = (size_t)argc - 2;
    api.ReplyWithArray(context, (long)n);
    for (size_t done = 0; done < n; done += BATCH_SMALL) {
        size_t here = n - done < BATCH_SMALL ? n - done : BATCH_SMALL;
        if (opened.object)
            index_locate_part(context, index_of(opened.object), argv + 2 + done, here);
        for (size_t i = 0; i < here && !opened.object; i++)
            api.ReplyWithArray(context, 0);
    }
    if (opened.object)
        index_count(opened.object, n);
    return object_close(&opened);
}

int index_command_exists(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc < 3)
        return api.WrongArity(context);
    size_t n = (size_t)argc - 2;
    if (!object_open(context, &index_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    if (!opened.object) {
        object_close(&opened);
        return reply_zeros(context, n);
    }
    api.ReplyWithArray(context, (long)n);
    for (size_t done = 0; done < n; done += BATCH_SMALL) {
        item_batch part;
        const held_index *held = index_of(opened.object);
        batch_open_part(&part, argv + 2, n, done);
        batch_hash(&part, bry_index_seed(held->index));
        bry_index_has_n(held->index, part.hashes, part.n, part.answers);
        batch_reply(context, &part, BRY_PRESENT);
    }
    index_count(opened.object, n);
    return object_close(&opened);
}

/* ---- INDEX.ADD ----------------------------------------------------------------------------- */

/* One INDEX.ADD. */
typedef struct addition {
    server_context *context;
    server_string **argv;
    held_object *object;
    uint64_t number;
    uint32_t unit; /* of the library; INDEX_NO_UNIT until opened */
    bool opened; /* by this command */
    item_batch *batch;
} addition;

/* Number of items that the unit does not report yet. */
static size_t index_count_absent(const addition *self)
{
    const held_index *held = index_of(self->object);
    size_t absent = 0;
    for (size_t i = 0; i < self->batch->n; i++)
        absent += self->unit == INDEX_NO_UNIT ||
                  bry_index_unit_has(held->index, self->batch->hashes[i], self->unit) == BRY_ABSENT;
    return absent;
}

/* How many more items an index of fixed size accepts: imported units may have brought more than
 * their share. If it cannot have a further unit either, the client gets that error instead. */
static uint64_t index_room(const addition *self)
{
    const held_index *held = index_of(self->object);
    bry_index_options options = BRY_INDEX_OPTIONS;
    bry_index_options_like(held->index, &options);
    uint64_t most = options.units * options.unit_capacity, items = self->object->items;
    if (held->dba || !options.fixed ||
        (self->unit == INDEX_NO_UNIT && held->numbers.used >= options.units))
        return UINT64_MAX;
    return most > items ? most - items : 0;
}

/* True if the unit has room for the items, and the key for their memory. Which items are new is
 * checked only if room is short; a duplicate counts twice. False after an error reply. */
static bool index_may_add(const addition *self)
{
    const held_index *held = index_of(self->object);
    uint64_t room = bry_index_unit_capacity(held->index);
    size_t n = self->batch->n;
    bry_index_unit_info unit = {0};
    if (self->unit != INDEX_NO_UNIT) {
        bry_index_get_unit_info(held->index, self->unit, &unit);
        if (unit.sealed) {
            index_family.totals.refused++;
            return reply_false(self->context, "SEALED",
                               "unit %" PRIu64 " is sealed: it takes no more items", self->number);
        }
        room = unit.capacity > unit.elements ? unit.capacity - unit.elements : 0;
    }
    uint64_t whole = index_room(self);
    if (whole < room)
        room = whole;
    bool fits = n <= room;
    bool small = object_may_grow(self->context, self->object, n * sizeof(bry_hash));
    if (fits && small)
        return true;
    size_t absent = index_count_absent(self);
    if (absent > room) {
        index_family.totals.refused++;
        return reply_false(self->context, "FULL",
                           "unit %" PRIu64 " has room for %" PRIu64 " more items", self->number,
                           room);
    }
    if (!small && absent > 0) {
        object_too_large(self->context, &index_family);
        return false;
    }
    return true;
}

/* Opens the unit. False after an error reply. */
static bool index_open_unit(addition *self)
{
    held_index *held = index_of(self->object);
    uint32_t unit = INDEX_NO_UNIT;
    if (!index_takes_unit(self->context, held, self->number))
        return false;
    bry_status status = index_numbers_reserve(&held->numbers);
    if (status == BRY_OK)
        status = bry_index_open(held->index, self->number, &unit);
    if (status != BRY_OK) {
        status = object_limit_end(self->object, status);
        object_refused(self->context, &index_family, status);
        return false;
    }
    index_numbers_put(&held->numbers, self->number, unit);
    held->untidy = held->dba;
    self->unit = unit;
    self->opened = true;
    return true;
}

static void index_undo_add(addition *self, size_t done)
{
    held_index *held = index_of(self->object);
    for (size_t i = done; i-- > 0;)
        if (self->batch->answers[i] == BRY_ABSENT)
            bry_index_del(held->index, self->batch->hashes[i], self->unit, NULL);
    if (self->opened) { /* its number too: on replicas the next unit gets it */
        index_numbers_del(&held->numbers, self->number);
        bry_index_undo_open(held->index, self->unit);
    }
}

static int index_add_all(addition *self)
{
    held_index *held = index_of(self->object);
    item_batch *batch = self->batch;
    if (batch->n > 1 && !held->dba) /* to prefetch; with dba it would test all units */
        bry_index_has_n(held->index, batch->hashes, batch->n, batch->answers);
    for (size_t i = 0; i < batch->n; i++) {
        bry_answer was;
        bry_status status = bry_index_add(held->index, batch->hashes[i], self->unit, NULL, &was);
        if (status != BRY_OK) {
            index_undo_add(self, i);
            status = object_limit_end(self->object, status);
            return index_refused(self->context, self->object, batch->n, status);
        }
        batch->answers[i] = (uint8_t)was;
    }
    size_t added = batch_count(batch, BRY_ABSENT);
    index_tidy(held, batch->n);
    index_changed(self->object);
    index_count(self->object, batch->n);
    index_family.totals.repeats += batch->n - added;
    if (added > 0 || self->opened)
        object_changed(self->context, self->argv[1], "index.add", true);
    return index_reply_answers(self->context, batch, BRY_ABSENT);
}

static void index_add_items(addition *self)
{
    const held_index *held = index_of(self->object);
    batch_hash(self->batch, bry_index_seed(held->index));
    self->unit = index_numbers_find(&held->numbers, self->number);
    if (!index_may_add(self))
        return;
    object_limit_begin(self->context, self->object);
    if (self->unit != INDEX_NO_UNIT || index_open_unit(self))
        index_add_all(self);
    object_limit_end(self->object, BRY_OK);
}

int index_command_add(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    item_batch batch;
    addition change = {.context = context, .argv = argv, .batch = &batch};
    if (argc < 4)
        return api.WrongArity(context);
    if (!index_read_unit(context, argv[2], &change.number) ||
        !object_open_made(context, &index_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    change.object = opened.object;
    if (batch_open(&batch, argv + 3, (size_t)argc - 3))
        index_add_items(&change);
    else
        reply_status(context, BRY_E_NOMEM);
    batch_close(&batch);
    return object_close(&opened);
}

/* ---- INDEX.DEL ----------------------------------------------------------------------------- */

static int index_del_all(server_context *context, server_string **argv, held_object *object,
                         uint32_t unit, item_batch *batch)
{
    held_index *held = index_of(object);
    uint64_t before = bry_index_items(held->index);
    batch_hash(batch, bry_index_seed(held->index));
    bry_index_del_n(held->index, batch->hashes, batch->n, unit, batch->answers);
    index_changed(object);
    index_count(object, batch->n);
    if (before != bry_index_items(held->index))
        object_changed(context, argv[1], "index.del", true);
    return index_reply_answers(context, batch, BRY_PRESENT);
}

static int index_del_items(server_context *context, server_string **argv, held_object *object,
                           uint64_t number, item_batch *batch)
{
    const held_index *held = index_of(object);
    if (held->dba) {
        index_family.totals.refused++;
        return reply_error(
            context, "UNSUPPORTED",
            "engine dba cannot delete single items: INDEX.DROP the unit, or use engine compact");
    }
    uint32_t unit = index_numbers_find(&held->numbers, number);
    if (unit == INDEX_NO_UNIT) {
        index_count(object, batch->n);
        return reply_zeros(context, batch->n);
    }
    return index_del_all(context, argv, object, unit, batch);
}

int index_command_del(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    item_batch batch;
    uint64_t number;
    if (argc < 4)
        return api.WrongArity(context);
    size_t n = (size_t)argc - 3;
    if (!index_read_unit(context, argv[2], &number) ||
        !object_open(context, &index_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (!batch_open(&batch, argv + 3, n))
        reply_status(context, BRY_E_NOMEM);
    else if (!opened.object)
        reply_zeros(context, n);
    else
        index_del_items(context, argv, opened.object, number, &batch);
    batch_close(&batch);
    return object_close(&opened);
}
