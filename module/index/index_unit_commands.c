/* INDEX.SEAL, DROP, EXPORT, INSTALL: whole units. */
#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/core/settings.h"
#include "module/index/index_type.h"

#include <inttypes.h>

static int index_reply_no_unit(server_context *context, uint64_t number)
{
    return reply_error(context, "RANGE", "there is no unit %" PRIu64, number);
}

/* ---- INDEX.SEAL ----------------------------------------------------------------------------- */

static int index_seal_unit(server_context *context, server_string **argv, const held_index *held,
                           uint64_t number)
{
    uint32_t unit = index_numbers_find(&held->numbers, number);
    bry_index_unit was = {0};
    if (unit == INDEX_NO_UNIT)
        return index_reply_no_unit(context, number);
    bry_index_get_unit(held->index, unit, &was);
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
        !object_open(context, &index_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (opened.object)
        index_seal_unit(context, argv, index_of(opened.object), number);
    else
        family_reply_missing(context, &index_family);
    object_close(&opened);
    return SERVER_OK;
}

/* ---- folding -------------------------------------------------------------------------------- */

/*
 * Dropping and installing units also fold tables that are no longer needed. That changes the saved
 * bytes, so replicas and the log must do the same: if this node has no memory for it, the command
 * is replicated with NOFOLD. The word is not for clients, so the table of commands omits it.
 */
static void index_replicate(server_context *context, const char *command, server_string **argv,
                            int argc, bool swept)
{
    if (swept)
        api.ReplicateVerbatim(context);
    else
        api.Replicate(context, command, "vc", argv + 1, (size_t)argc - 1, "NOFOLD");
}

/* Reads NOFOLD, which may be the last argument. False after an error reply. */
static bool index_read_nofold(server_context *context, server_string **argv, int argc, int at,
                              bool *sweep)
{
    *sweep = argc <= at;
    if (*sweep || is_word(argv[at], "NOFOLD"))
        return true;
    reply_error(context, "ERR", "syntax error");
    return false;
}

/* ---- INDEX.DROP ----------------------------------------------------------------------------- */

int index_command_drop(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    uint64_t number;
    uint32_t unit = INDEX_NO_UNIT;
    bool sweep;
    if (argc != 3 && argc != 4)
        return api.WrongArity(context);
    if (!index_read_unit(context, argv[2], &number) ||
        !index_read_nofold(context, argv, argc, 3, &sweep) ||
        !object_open(context, &index_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (opened.object)
        unit = index_numbers_find(&index_of(opened.object)->numbers, number);
    if (unit != INDEX_NO_UNIT) {
        bool swept = index_drop(opened.object, number, unit, sweep);
        index_replicate(context, "INDEX.DROP", argv, argc, swept);
        object_changed(context, argv[1], "index.drop", false);
    }
    object_close(&opened);
    return api.ReplyWithLongLong(context, unit != INDEX_NO_UNIT);
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
    object_close(&opened);
    return SERVER_OK;
}

/* ---- INDEX.INSTALL -------------------------------------------------------------------------- */

/* One INDEX.INSTALL. */
typedef struct installation {
    server_context *context;
    held_object *object;
    uint64_t number;
    const char *bytes;
    size_t len;
    bool sweep, swept; /* whether to call index_sweep(), and its result */
    bry_load load;
} installation;

/* Installs the frame in an index, as a further unit. */
static bry_status install_read_frame(installation *self, bry_index *index, uint32_t *unit)
{
    bry_view view = {self->bytes, self->len, 0};
    bry_source source = bry_view_source(&view);
    self->load = (bry_load)BRY_LOAD;
    self->load.max_bytes = is_replayed(self->context) ? 0 : settings_load_limit();
    bry_buffer note = BRY_BUFFER;
    self->load.note = &note;
    bry_status status = bry_index_install_unit(index, &source, &self->load, unit);
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
 * Checks the frame by installing it in an empty index with the same options: the library validates
 * while it reads, and items that were read before an error would have to be removed from the real
 * index. Frames that a primary has accepted were checked there.
 */
static bry_status install_try_frame(installation *self)
{
    bry_index_options options = index_options_of(index_of(self->object));
    held_object *trial;
    uint32_t unit;
    if (is_replayed(self->context))
        return BRY_OK;
    bry_status status = index_create(&options, &trial);
    if (status != BRY_OK)
        return status;
    status = install_read_frame(self, index_of(trial)->index, &unit);
    object_free(trial);
    return status;
}

static int install_refused(const installation *self, bry_status status)
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

static bry_status install_put_unit(installation *self)
{
    held_index *held = index_of(self->object);
    uint32_t unit = INDEX_NO_UNIT;
    bry_index_unit info = {0};
    object_limit_begin(self->context, self->object);
    bry_status status = index_numbers_reserve(&held->numbers);
    if (status == BRY_OK)
        status = install_read_frame(self, held->index, &unit);
    status = object_limit_end(self->object, status);
    if (status != BRY_OK)
        return status;
    bry_index_set_tag(held->index, unit, self->number);
    index_numbers_put(&held->numbers, self->number, unit);
    bry_index_get_unit(held->index, unit, &info);
    held->untidy = held->dba;
    index_tidy(held, 0);
    self->swept = !self->sweep || index_sweep(held, info.elements);
    index_changed(self->object);
    index_count(self->object, info.elements);
    return BRY_OK;
}

static int index_install_unit(installation *self, server_string **argv, int argc)
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
    bry_status status = install_try_frame(self);
    if (status != BRY_OK)
        return install_refused(self, status);
    uint64_t before = self->object->items;
    status = install_put_unit(self);
    if (status == BRY_E_FULL || status == BRY_E_LIMIT) /* the frame itself was within the limit */
        return index_refused(context, self->object, 0, status);
    if (status != BRY_OK)
        return install_refused(self, status);
    index_replicate(context, "INDEX.INSTALL", argv, argc, self->swept);
    object_changed(context, argv[1], "index.install", false);
    return api.ReplyWithLongLong(context, (long long)(self->object->items - before));
}

static int index_run_install(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    installation change = {.context = context};
    if (argc != 4 && argc != 5)
        return reply_wrong_arity(context);
    if (!index_read_unit(context, argv[2], &change.number) ||
        !index_read_nofold(context, argv, argc, 4, &change.sweep) ||
        !object_open(context, &index_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    change.object = opened.object;
    change.bytes = api.StringPtrLen(argv[3], &change.len);
    if (opened.object)
        index_install_unit(&change, argv, argc);
    else
        family_reply_missing(context, &index_family);
    object_close(&opened);
    return SERVER_OK;
}

int index_command_install(server_context *context, server_string **argv, int argc)
{
    return object_run_payload(context, argv, argc, &index_family, index_run_install);
}
