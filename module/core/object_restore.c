/*
 * Restoring an object piece by piece, from the append-only file or from the node that gives a slot
 * away: BLOOMERY.MAP.LOAD, BLOOMERY.WINDOW.LOAD and so on.
 *
 * The server ignores errors of the commands in its append-only file. A key that cannot be restored
 * would be missing after the start, and the next rewrite of the file would make that permanent. So
 * the module ends the process, as the server itself does with a damaged snapshot. If the setting
 * bloomery.damaged-keys is keep, the server starts, and the key stays as an unfinished object: every
 * command on it fails, and those that follow in the file cannot create it again, with a part of its
 * contents.
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
#include <string.h>

#define REFUSAL_SIZE 640

/* Makes an unfinished object, unless there is a value. True if the key has an unfinished object. */
static bool restore_keep_damaged(server_context *context, command_family *family,
                                 server_string *key)
{
    opened_key opened = {api.OpenKey(context, key, SERVER_READ | SERVER_WRITE), NULL};
    if (api.KeyType(opened.key) == SERVER_KEY_EMPTY) {
        held_object *made = object_new(family);
        if (made)
            object_put(&opened, made);
    } else if (api.ModuleTypeGetType(opened.key) == family->type) {
        opened.object = api.ModuleTypeGetValue(opened.key);
    }
    object_close(&opened);
    return opened.object && !opened.object->thing;
}

/* Logs that this payload cannot be loaded. Does not return if it came from the append-only file,
 * unless the key may be kept. */
static void restore_report(server_context *context, command_family *family, server_string *key,
                           bry_status status, const char *why)
{
    static const char damaged[] = "the append-only file is damaged: %s %s is refused: %s. %s";
    char name[QUOTED_SIZE];
    quoted(key, name);
    if (!is_from_log(context)) {
        api.Log(context, "warning", "%s %s is refused: %s", family->name, name, why);
    } else if (status == BRY_E_NOMEM) {
        api.Log(context, "warning",
                "not enough memory to load %s %s from the append-only file. The server exits and "
                "leaves the file as it is",
                family->name, name);
        exit(EXIT_FAILURE);
    } else if (settings_keep_damaged()) {
        bool kept = restore_keep_damaged(context, family, key);
        api.Log(context, "warning", damaged, family->name, name, why,
                kept ? "Every command on the key fails until you delete it"
                     : "The key stays as it was before this command");
    } else {
        api.Log(context, "warning", damaged, family->name, name, why,
                "The server exits and leaves the file as it is. Restore the file from a backup or "
                "from a replica; to start without what is damaged, set bloomery.damaged-keys to "
                "keep");
        exit(EXIT_FAILURE);
    }
}

static int restore_refused(server_context *context, command_family *family, server_string *key,
                           bry_status status, const char *why)
{
    char line[REFUSAL_SIZE], name[QUOTED_SIZE];
    restore_report(context, family, key, status, why);
    if (is_from_log(context))
        return reply_ok(context);
    snprintf(line, sizeof line, "%s %s %s is refused: %s", bry_status_word(status), family->name,
             quoted(key, name), why);
    return api.ReplyWithError(context, line);
}

int object_run_payload(server_context *context, server_string **argv, int argc,
                       command_family *family, server_command_function *run)
{
    reply_take_hidden_error();
    run(context, argv, argc);
    const char *error = reply_take_hidden_error();
    if (error && strncmp(error, "FULL ", 5) != 0)
        restore_report(context, family, argv[argc > 1],
                       strncmp(error, "NOMEM ", 6) == 0 ? BRY_E_NOMEM : BRY_E_BADDATA, error);
    return SERVER_OK;
}

const char *object_load_reason(const bry_load *load, bry_status status, char out[LOAD_REASON_SIZE])
{
    snprintf(out, LOAD_REASON_SIZE, "%s at byte %" PRIu64 " (%s)",
             load->problem ? load->problem : "it is truncated", load->offset,
             bry_status_word(status));
    return out;
}

/* All pieces have arrived: makes the object from them. On failure the key is deleted, except while
 * loading (restore_report()). */
static int restore_finish(server_context *context, server_string **argv, opened_key *opened)
{
    char reason[LOAD_REASON_SIZE];
    command_family *family = object_family(opened->object);
    bry_load load = BRY_LOAD;
    bry_status status = object_load_pieces(opened->object, &load);
    if (status == BRY_OK) {
        object_changed(context, argv[1], "restore", true);
        return reply_ok(context);
    }
    if (!is_from_log(context)) {
        api.DeleteKey(opened->key);
        api.Replicate(context, "DEL", "s", argv[1]); /* replicate the effect, not the piece */
    }
    return restore_refused(context, family, argv[1], status,
                           object_load_reason(&load, status, reason));
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
        return restore_refused(context, family, argv[1], BRY_E_NOMEM, "out of memory");
    }
    if (first)
        object_put(opened, object);
    if (last)
        return restore_finish(context, argv, opened);
    api.ReplicateVerbatim(context);
    return reply_ok(context);
}

int object_restore(server_context *context, server_string **argv, int argc)
{
    long long offset;
    command_family *family = family_restored_by(argv[0]);
    if (!family || !is_replayed(context))
        return reply_internal(context);
    if (argc < 4 || argc > 5 || (argc == 5 && !is_word(argv[4], "LAST")) ||
        api.StringToLongLong(argv[2], &offset) != SERVER_OK || offset < 0)
        return restore_refused(context, family, argv[argc > 1], BRY_E_BADDATA,
                               "the arguments are not: key offset bytes [LAST]");
    opened_key opened = {api.OpenKey(context, argv[1], SERVER_READ | SERVER_WRITE), NULL};
    const char *why = restore_piece_problem(&opened, family, (uint64_t)offset);
    if (why) {
        object_close(&opened);
        return restore_refused(context, family, argv[1], BRY_E_BADDATA, why);
    }
    restore_add_piece(context, argv, &opened, family, offset == 0, argc == 5);
    return object_close(&opened);
}
