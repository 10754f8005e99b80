/*
 * A family: one data type and the commands on it, described as data.
 *
 * How a family is added, with WINDOW.* as the example:
 *
 *  1. window_type.h declares `extern family window_family;` window_type.c defines it: name, type
 *     name of nine characters, encoding, how the library saves, loads, destroys and counts an
 *     object, and two thunks that C needs because the server's calls carry no family:
 *     rdb_load (calls object_rdb_load() with it) and the handler of WINDOW.LOAD (calls
 *     object_restore()). Everything else of a data type — RDB, AOF, COPY, digest, memory, freeing —
 *     is in object_type.c and works on any family.
 *  2. window_command_table.c holds the commands as an array of module_command, which
 * window_family.commands points to, WINDOW.LOAD among them (COMMAND_RESTORE() writes that row).
 *  3. Handlers, in files of their own: check all arguments first (arguments.h), then object_open(),
 *     act, reply, object_close(), and say what happened with object_changed() or, where the library
 *     would not, object_refused(). Effects are replicated so that replaying them gives the same
 *     bytes: verbatim where a command is a function of the key alone; with its time, seed and
 *     parameters spelled out where it is not (object_open() shows the key, api.Replicate() sends).
 *  4. `&window_family` joins the list in module.c, the files join CMakeLists.txt. Settings of its
 *     own: window_family.configure (settings.h).
 *
 * The tests of a family start from tests/module/server_runner.py, and get from keep_cases.py all
 * that keys go through; module_fuzz_test.py finds its commands by itself.
 */
#ifndef BLOOMERY_MODULE_FAMILY_H
#define BLOOMERY_MODULE_FAMILY_H

#include "module/core/memory_account.h"
#include "module/core/server_api.h"

#include <bloomery/base.h>
#include <stdatomic.h>

/* A command as the server, its users and the documentation know it. */
typedef struct module_command {
    const char *name;
    server_command_function *run;
    const char *flags; /* for CreateCommand() */
    const char *categories; /* of access control, where the server lets a module name them */
    int arity; /* as the server counts: with the name; negative: at least so many */
    server_key_spec *key_specs; /* up to one that is empty */
    server_command_arg *args; /* up to one that is empty; NULL: not for people */
    const char *summary, *complexity, *since;
    const char *example; /* commands to type, one a line; the last shows this one */
} module_command;

/* What INFO tells of a family. */
typedef struct family_totals {
    atomic_ullong keys, items, bytes; /* these also change in the threads that free */
    uint64_t operations; /* items that commands asked for or changed */
    uint64_t refused; /* commands that the library or a limit refused */
    uint64_t unsure; /* items answered with UNSURE */
    uint64_t repeats; /* changes dropped because their id was seen before */
    uint64_t judged; /* items that object_count() counted, and … */
    double promised, estimated; /* … how many wrong answers among them were to be expected */
} family_totals;

typedef struct command_family {
    const char *name; /* "map" */
    const char *type_name; /* of nine characters */
    int encoding; /* of the RDB payload; raised when older modules could not read it */
    const char *restore_command; /* "MAP.LOAD" */
    const char *created_by; /* "WINDOW.CREATE makes a window"; NULL: what is missing makes itself */
    const module_command *commands;
    const size_t *command_count;
    int (*configure)(server_context *context); /* registers settings; may be NULL */
    void (*info)(server_info *info); /* for a family without a data type of its own (type_name and
                                        what follows are empty): its own lines of INFO */

    void *(*rdb_load)(server_io *io, int encoding);
    bry_status (*save)(const void *thing, const bry_sink *sink);
    bry_status (*load)(const bry_source *source, bry_load *load, void **thing);
    /* A second thing whose memory is counted in that account. BRY_E_NOMEM. */
    bry_status (*clone)(const void *thing, account *bill, void **copy);
    void (*destroy)(void *thing);
    uint64_t (*items)(const void *thing); /* in constant time */
    /* The chance that an item is answered wrongly, as promised and as it is now. Asked by
     * object_count() now and then; NULL: the family sets both in its objects. */
    void (*errors)(const void *thing, double *promised, double *estimated);

    server_type *type; /* set by family_register() */
    family_totals totals;
} command_family;

/* Makes the type and the commands known. SERVER_OK, or SERVER_ERR after a line in the log. */
int family_register(server_context *context, command_family *self);

/* More commands of a family, for those that are not always there. As above. */
int family_add_commands(server_context *context, const module_command *commands, size_t count);

/* Whether this is a command of ours that is not for people, but for logs and replicas. */
bool family_is_internal(const server_string *name);

/* Answers that there is no such key, and what makes one. */
int family_reply_missing(server_context *context, const command_family *self);

/* The family's lines of INFO. */
void family_info(server_info *info, const command_family *self);

/* ---- pieces of command tables -------------------------------------------------------------- */

/* One key at a fixed place; `flags` of the SERVER_SPEC_ kind. */
#define KEY_AT(place, spec_flags)                                                                  \
    {                                                                                              \
        .flags = (spec_flags), .begin_type = SERVER_BEGIN_INDEX, .begin.index = {place},           \
        .find_type = SERVER_FIND_RANGE, .find.range = {                                            \
            0,                                                                                     \
            1,                                                                                     \
            0                                                                                      \
        }                                                                                          \
    }
/* Keys from a place to the end. */
#define KEYS_FROM(place, spec_flags)                                                               \
    {                                                                                              \
        .flags = (spec_flags), .begin_type = SERVER_BEGIN_INDEX, .begin.index = {place},           \
        .find_type = SERVER_FIND_RANGE, .find.range = {                                            \
            -1,                                                                                    \
            1,                                                                                     \
            0                                                                                      \
        }                                                                                          \
    }
/* One key behind a word, which is looked for from a place on. */
#define KEY_AFTER(word, place, spec_flags)                                                         \
    {                                                                                              \
        .flags = (spec_flags), .begin_type = SERVER_BEGIN_KEYWORD, .begin.keyword = {word, place}, \
        .find_type = SERVER_FIND_RANGE, .find.range = {                                            \
            0,                                                                                     \
            1,                                                                                     \
            0                                                                                      \
        }                                                                                          \
    }

/* The row of the internal command that restores an object piece by piece. */
#define COMMAND_RESTORE(command_name, handler)                                                     \
    {                                                                                              \
        .name = (command_name), .run = (handler), .flags = "write deny-oom",                       \
        .categories = "write bloomery", .arity = -4,                                               \
        .key_specs = (server_key_spec[]){KEY_AT(1, SERVER_SPEC_OW | SERVER_SPEC_UPDATE), {0}},     \
        .summary = "Internal: restores an object from the append-only file.",                      \
        .complexity = "O(n), n bytes", .since = "0.1.0"                                            \
    }

#endif
