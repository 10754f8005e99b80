/*
 * Restoring an object piece by piece, from the append-only file or from the node that gives a slot
 * away: MAP.LOAD, WINDOW.LOAD and so on.
 *
 * The server ignores errors of the commands in its append-only file. A key that cannot be restored
 * would be missing after the start, and the next rewrite of the file would make that permanent. So
 * the module ends the process, as the server itself does with a damaged snapshot, unless the
 * setting bloomery.damaged-keys says that such keys may be dropped.
 *
 * Another node gets an error reply. The server reports it in its log; Valkey also ends the
 * migration of the slot, and the data stays where it is.
 */
#include "module/core/arguments.h"
#include "module/core/object.h"
#include "module/core/replies.h"
#include "module/core/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define REASON_SIZE 256

int object_load_refused(server_context *context, const command_family *family,
                        const server_string *key, const char *why)
{
    char name[QUOTED_SIZE], line[REASON_SIZE + QUOTED_SIZE];
    snprintf(line, sizeof line, "%s %s is refused: %s", family->name, quoted(key, name), why);
    if (!is_from_log(context)) {
        api.Log(context, "warning", "%s", line);
        snprintf(line, sizeof line, "BADDATA %s %s is refused: %s", family->name, name, why);
        return api.ReplyWithError(context, line);
    }
    if (settings_drop_damaged()) {
        api.Log(context, "warning", "%s; dropped, as bloomery.damaged-keys says", line);
        return reply_ok(context);
    }
    api.Log(context, "warning",
            "the append-only file is damaged: %s. The server exits and leaves the file as it is. "
            "Restore the file from a backup or from a replica; to start without what is damaged, "
            "set bloomery.damaged-keys to drop",
            line);
    exit(EXIT_FAILURE);
}

const char *object_load_reason(const bry_load *load, bry_status status, char out[LOAD_REASON_SIZE])
{
    snprintf(out, LOAD_REASON_SIZE, "%s at byte %" PRIu64 " (%s)",
             load->problem ? load->problem : "it is truncated", load->offset,
             bry_status_word(status));
    return out;
}

/* All pieces have arrived: makes the object from them, or deletes the key. */
static int restore_finish(server_context *context, server_string **argv, opened_key *opened)
{
    char reason[LOAD_REASON_SIZE];
    command_family *family = object_family(opened->object);
    bry_load load = BRY_LOAD;
    bry_status status = object_load_pieces(opened->object, &load);
    if (status != BRY_OK) {
        api.DeleteKey(opened->key);
        api.Replicate(context, "DEL", "s", argv[1]); /* replicate the effect, not the piece */
        return object_load_refused(context, family, argv[1],
                                   object_load_reason(&load, status, reason));
    }
    object_changed(context, argv[1], "restore", true);
    return reply_ok(context);
}

/* NULL, or why this piece cannot be added; opened->object is set to the unfinished object. */
static const char *restore_piece_problem(opened_key *opened, const command_family *family,
                                         uint64_t offset)
{
    if (api.KeyType(opened->key) == SERVER_KEY_EMPTY)
        return offset == 0 ? NULL : "the first piece is missing";
    if (api.ModuleTypeGetType(opened->key) != family->type)
        return "the key holds another type";
    held_object *there = api.ModuleTypeGetValue(opened->key);
    if (there->thing)
        return "the key already exists";
    opened->object = there;
    return offset == 0 || offset == object_pieces_len(there) ? NULL : "a piece is missing";
}

static int restore_add_piece(server_context *context, server_string **argv, opened_key *opened,
                             command_family *family, bool first, bool last)
{
    size_t len;
    const char *bytes = api.StringPtrLen(argv[3], &len);
    held_object *object = first ? object_new(family) : opened->object;
    if (!object || object_append_piece(object, bytes, len) != BRY_OK) {
        if (first)
            object_free(object);
        return object_load_refused(context, family, argv[1], "out of memory");
    }
    if (first)
        object_put(opened, object);
    if (last)
        return restore_finish(context, argv, opened);
    api.ReplicateVerbatim(context);
    return reply_ok(context);
}

int object_restore(server_context *context, server_string **argv, int argc, command_family *family)
{
    long long offset;
    if (!is_replayed(context))
        return reply_internal(context);
    if (argc < 4)
        return api.WrongArity(context);
    if (argc > 5 || (argc == 5 && !is_word(argv[4], "LAST")) ||
        api.StringToLongLong(argv[2], &offset) != SERVER_OK || offset < 0)
        return object_load_refused(context, family, argv[1],
                                   "the arguments are not: key offset bytes [LAST]");
    opened_key opened = {api.OpenKey(context, argv[1], SERVER_READ | SERVER_WRITE), NULL};
    const char *why = restore_piece_problem(&opened, family, (uint64_t)offset);
    if (why)
        object_load_refused(context, family, argv[1], why);
    else
        restore_add_piece(context, argv, &opened, family, offset == 0, argc == 5);
    object_close(&opened);
    return SERVER_OK;
}
