/*
 * A family: one data type and the commands on it, described as data.
 *
 * How to add a family, with WINDOW.* as the example:
 *
 *  1. window_type.h declares `extern command_family window_family;` and window_type.c defines it:
 *     name, type name of nine characters, encoding, the job of the library, what the family does
 *     besides when it saves, loads, clones and destroys an object, and rdb_load, which
 *     FAMILY_RDB_LOAD() defines, because the server's callback does not say which family it is for.
 *     The rest of a data type (RDB, AOF, COPY, digest, memory, freeing) is in object_type.c and
 *     works for any family.
 *  2. window_command_table.c has the commands as an array of module_command, to which
 *     window_family.commands points; COMMAND_RESTORE() writes the row of BLOOMERY.WINDOW.LOAD.
 *  3. Handlers have their own files. They check all arguments first (arguments.h), then call
 *     object_open(), act, reply, call object_close(), and report the change with object_changed()
 *     or, if the library refused it, with object_refused(). Replaying what is replicated must give
 *     the same bytes: a command that depends on the key only is replicated verbatim, any other with
 *     its time, seed and parameters written out (api.Replicate()).
 *  4. Add `&window_family` to the list in module.c and the files to CMakeLists.txt. Settings of the
 *     family are in the table window_family.settings (settings.h).
 *
 * Names. WINDOW.* are for people and programs. Commands that only replicas and the append-only file
 * use are named BLOOMERY.WINDOW.*, have no `args`, and refuse clients (reply_internal()).
 *
 * The tests of a family start from tests/module/server_runner.py; persist_cases.py has the cases of
 * persistence and replication. module_fuzz_test.py finds the commands by itself.
 */
#ifndef BLOOMERY_MODULE_COMMAND_FAMILY_H
#define BLOOMERY_MODULE_COMMAND_FAMILY_H

#include "module/core/memory_account.h"
#include "module/core/server_api.h"

#include <bloomery/job.h>
#include <stdatomic.h>

/* A command as the server, its users and the documentation see it. */
typedef struct module_command {
    const char *name;
    server_command_function *run;
    const char *flags; /* for CreateCommand(); the ACL categories follow from them */
    int arity; /* as in the server: includes the name; negative: minimum */
    server_key_spec *key_specs; /* ends with an empty one */
    server_command_arg *args; /* ends with an empty one; NULL: internal command */
    const char *summary, *complexity;
    /* What a reply with names contains, for the pages of the documentation: lines of "name, name:
     * meaning". The name of another command: its fields too. */
    const char *fields;
    const char *example; /* commands to run, one per line; the last one is this command */
} module_command;

/* What INFO shows for a family. */
typedef struct family_totals {
    struct command_family *family; /* the family of the objects that are counted here */
    atomic_ullong keys, items, bytes; /* also changed by the threads that free objects */
    uint64_t operations; /* items that commands queried or changed */
    uint64_t refused; /* commands refused by the library or a limit */
    uint64_t unsure; /* items answered with UNSURE */
    uint64_t repeats; /* changes ignored because their id was seen before */
    uint64_t judged; /* items counted by object_count() */
    double promised; /* number of wrong answers among these, as promised */
    double estimated; /* number of wrong answers among these, as estimated */
} family_totals;

typedef struct command_family {
    const char *name; /* "map" */
    const char *type_name; /* name of the data type, nine characters */
    int encoding; /* version of the RDB payload; increased when older modules cannot read it */
    const char *restore_command; /* "BLOOMERY.MAP.LOAD" */
    const char *created_by; /* "WINDOW.CREATE"; NULL: writing to a missing key creates it */
    const module_command *commands; /* ends with an empty one */
    const struct module_setting *settings; /* may be NULL */
    void (*info)(server_info *info); /* for a family without a data type: its own INFO fields */

    /* What a key holds: an object of this job or, with `wrapped`, a struct of the family that starts
     * with a pointer to it. */
    bry_job job;
    bool wrapped;
    size_t extra; /* bytes of each object for the family's own use (object_extra()) */
    void *(*rdb_load)(server_io *io, int encoding);
    /* NULL: what the job does. */
    bry_status (*save)(const void *thing, const bry_sink *sink);
    bry_status (*load)(const bry_source *source, bry_load *load, void **thing);
    /* Makes a copy, with its memory counted in `bill`. BRY_E_NOMEM. */
    bry_status (*clone)(const void *thing, account *bill, void **copy);
    void (*destroy)(void *thing);
    /* Probability of a wrong answer, as promised and as estimated now. object_count() calls it from
     * time to time; NULL: the family sets both values in its objects. */
    void (*errors)(const void *thing, double *promised, double *estimated);

    server_type *type; /* set by family_register() */
    family_totals totals;
} command_family;

/* Registers the type and the commands. SERVER_OK, or SERVER_ERR after logging why. */
int family_register(server_context *context, command_family *self);

/* Registers further commands, for those that are optional. Returns the same. */
int family_add_commands(server_context *context, const module_command *commands);

/* True if this is an internal command of the module, for logs and replicas. */
bool family_is_internal(const char *name, size_t len);

/* The family with this restore_command, in any case. */
struct command_family *family_restored_by(const server_string *name);

/* Replies that the key does not exist and which command creates it. */
int family_reply_missing(server_context *context, const command_family *self);

/* Adds the family's fields to INFO. */
void family_info(server_info *info, const command_family *self);

/* The size of the subargs of an argument ENGINE: auto, which the table has, then the engines of the
 * family's job, which family_register() adds, and an empty one. */
#define ENGINES_ROOM 16

#endif
