/* INDEX.SEAL, DROP, EXPORT, IMPORT: whole units. */
#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/core/settings.h"
#include "module/index/index_type.h"

#include <inttypes.h>

/* ---- INDEX.SEAL ----------------------------------------------------------------------------- */

static int index_seal_unit(server_context *context, server_string **argv, const held_index *held,
                           uint64_t number)
{
    uint32_t unit = index_numbers_find(&held->numbers, number);
    bry_index_unit_info was = {0};
    if (unit == INDEX_NO_UNIT)
        return index_reply_no_unit(context, number);
    bry_index_get_unit_info(held->index, unit, &was);
    if (!was.sealed) {
        bry_index_seal(held->index, unit);
        object_changed(context, argv[1], "index.seal", true);
    }
    return api.ReplyWithLongLong(context, !was.sealed);
}

int index_command_seal(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    uint64_t number;
    if (argc != 3)
        return api.WrongArity(context);
    if (!index_read_unit(context, argv[2], &number) ||
        !object_open_made(context, &index_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    index_seal_unit(context, argv, index_of(opened.object), number);
    return object_close(&opened);
}

/* ---- INDEX.DROP ----------------------------------------------------------------------------- */

/*
 * Dropping and importing units also fold tables that are no longer needed. That changes the saved
 * bytes, so replicas and the log must do the same: if this node has no memory for it (`swept` is
 * false), it replicates a command that does not fold.
 */
static void index_replicate(server_context *context, const char *without_fold, server_string **argv,
                            int argc, bool swept)
{
    if (swept)
        api.ReplicateVerbatim(context);
    else
        api.Replicate(context, without_fold, "v", argv + 1, (size_t)argc - 1);
}

static int index_drop_number(server_context *context, server_string **argv, int argc, bool sweep)
{
    opened_key opened;
    uint64_t number;
    uint32_t unit = INDEX_NO_UNIT;
    if (argc != 3)
        return api.WrongArity(context);
    if (!index_read_unit(context, argv[2], &number) ||
        !object_open(context, &index_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (opened.object)
        unit = index_numbers_find(&index_of(opened.object)->numbers, number);
    if (unit != INDEX_NO_UNIT) {
        bool swept = index_drop(opened.object, number, unit, sweep);
        index_replicate(context, INDEX_EFFECT_DROP, argv, argc, swept);
        object_changed(context, argv[1], "index.drop", false);
    }
    object_close(&opened);
    return api.ReplyWithLongLong(context, unit != INDEX_NO_UNIT);
}

int index_command_drop(server_context *context, server_string **argv, int argc)
{
    return index_drop_number(context, argv, argc, true);
}

int index_command_drop_unfolded(server_context *context, server_string **argv, int argc)
{
    if (!is_replayed(context))
        return reply_internal(context);
    return index_drop_number(context, argv, argc, false);
}

/* ---- INDEX.EXPORT --------------------------------------------------------------------------- */

static int index_export_unit(server_context *context, const held_index *held, uint64_t number)
{
    uint32_t unit = index_numbers_find(&held->numbers, number);
    if (unit == INDEX_NO_UNIT)
        return api.ReplyWithNull(context);
    bry_buffer frame = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&frame);
    bry_status status = bry_index_save_unit(held->index, unit, &sink, NULL);
    if (status == BRY_OK)
        api.ReplyWithStringBuffer(context, (const char *)frame.bytes, frame.len);
    else
        reply_status(context, status);
    bry_buffer_free(&frame);
    return SERVER_OK;
}

int index_command_export(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    uint64_t number;
    if (argc != 3)
        return api.WrongArity(context);
    if (!index_read_unit(context, argv[2], &number) ||
        !object_open(context, &index_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    if (opened.object)
        index_export_unit(context, index_of(opened.object), number);
    else
        api.ReplyWithNull(context);
    return object_close(&opened);
}

/* ---- INDEX.IMPORT --------------------------------------------------------------------------- */

/* One INDEX.IMPORT. */
typedef struct unit_import {
    server_context *context;
    held_object *object;
    uint64_t number;
    const char *bytes;
    size_t len;
    bool sweep; /* whether to call index_sweep() */
    bool swept; /* its result */
    bry_load load;
} unit_import;

/* Adds the frame to an index, as a further unit. */
static bry_status import_read_frame(unit_import *self, bry_index *index, uint32_t *unit)
{
    bry_view view = {self->bytes, self->len, 0};
    bry_source source = bry_view_source(&view);
    self->load = (bry_load)BRY_LOAD;
    self->load.max_bytes = is_replayed(self->context) ? 0 : settings_load_limit();
    bry_buffer note = BRY_BUFFER;
    self->load.note = &note;
    bry_status status = bry_index_import_unit(index, &source, &self->load, unit);
    self->load.note = NULL;
    if (status == BRY_OK && (view.at != view.len || note.len > 0)) {
        self->load.problem = note.len > 0 ? "the unit has a note, which an index does not keep"
                                          : "trailing bytes after the unit";
        self->load.offset = view.at;
        status = BRY_E_BADDATA;
    }
    bry_buffer_free(&note);
    return status;
}

/*
 * Checks the frame by importing it into an empty index with the same options: the library validates
 * while it reads, and items that were read before an error would have to be removed from the real
 * index. Frames that a primary has accepted were checked there.
 */
static bry_status import_try_frame(unit_import *self)
{
    bry_index_options options = index_options_of(index_of(self->object));
    held_object *trial;
    uint32_t unit;
    if (is_replayed(self->context))
        return BRY_OK;
    bry_status status = index_create(&options, &trial);
    if (status != BRY_OK)
        return status;
    status = import_read_frame(self, index_of(trial)->index, &unit);
    object_free(trial);
    return status;
}

static int import_refused(const unit_import *self, bry_status status)
{
    server_context *context = self->context;
    index_family.totals.refused++;
    if (status == BRY_E_MISMATCH)
        return reply_error(context, "MISMATCH",
                           "the frame was made with another engine, seed or shape: make it with an "
                           "index that was created LIKE this one");
    if (status == BRY_E_BADDATA || status == BRY_E_VERSION || status == BRY_E_LIMIT)
        return reply_error(context, bry_status_word(status),
                           "the frame is refused: %s at byte %" PRIu64, self->load.problem,
                           self->load.offset);
    return reply_status(context, status);
}

static bry_status import_put_unit(unit_import *self)
{
    held_index *held = index_of(self->object);
    uint32_t unit = INDEX_NO_UNIT;
    bry_index_unit_info info = {0};
    object_limit_begin(self->context, self->object);
    bry_status status = index_numbers_reserve(&held->numbers);
    if (status == BRY_OK)
        status = import_read_frame(self, held->index, &unit);
    status = object_limit_end(self->object, status);
    if (status != BRY_OK)
        return status;
    bry_index_set_tag(held->index, unit, self->number);
    index_numbers_put(&held->numbers, self->number, unit);
    bry_index_get_unit_info(held->index, unit, &info);
    held->untidy = held->dba;
    index_tidy(held, 0);
    self->swept = !self->sweep || index_sweep(held, info.elements);
    index_changed(self->object);
    index_count(self->object, info.elements);
    return BRY_OK;
}

static int index_import_unit(unit_import *self, server_string **argv, int argc)
{
    server_context *context = self->context;
    held_index *held = index_of(self->object);
    if (index_numbers_find(&held->numbers, self->number) != INDEX_NO_UNIT)
        return reply_error(context, "ERR", "unit %" PRIu64 " already exists: INDEX.DROP it first",
                           self->number);
    if (!index_takes_unit(context, held, self->number))
        return SERVER_OK;
    if (!object_may_grow(context, self->object, self->len))
        return object_too_large(context, &index_family);
    bry_status status = import_try_frame(self);
    if (status != BRY_OK)
        return import_refused(self, status);
    uint64_t before = self->object->items;
    status = import_put_unit(self);
    if (status == BRY_E_FULL || status == BRY_E_LIMIT) /* the frame itself was within the limit */
        return index_refused(context, self->object, 0, status);
    if (status != BRY_OK)
        return import_refused(self, status);
    index_replicate(context, INDEX_EFFECT_IMPORT, argv, argc, self->swept);
    object_changed(context, argv[1], "index.import", false);
    return api.ReplyWithLongLong(context, (long long)(self->object->items - before));
}

static int index_import(server_context *context, server_string **argv, int argc, bool sweep)
{
    opened_key opened;
    unit_import change = {.context = context, .sweep = sweep};
    if (argc != 4)
        return reply_wrong_arity(context);
    if (!index_read_unit(context, argv[2], &change.number) ||
        !object_open_made(context, &index_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    change.object = opened.object;
    change.bytes = api.StringPtrLen(argv[3], &change.len);
    index_import_unit(&change, argv, argc);
    return object_close(&opened);
}

static int index_import_and_fold(server_context *context, server_string **argv, int argc)
{
    return index_import(context, argv, argc, true);
}

static int index_import_only(server_context *context, server_string **argv, int argc)
{
    return index_import(context, argv, argc, false);
}

int index_command_import(server_context *context, server_string **argv, int argc)
{
    return object_run_payload(context, argv, argc, &index_family, index_import_and_fold);
}

int index_command_import_unfolded(server_context *context, server_string **argv, int argc)
{
    if (!is_replayed(context))
        return reply_internal(context);
    return object_run_payload(context, argv, argc, &index_family, index_import_only);
}
