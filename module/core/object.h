/*
 * What a key holds: one object of the library, with its memory counted, for any family.
 *
 * An object that is being restored piece by piece (BLOOMERY.MAP.LOAD, which the append-only file
 * contains after a rewrite) has no `thing` yet, only the bytes received so far. Only further pieces
 * can be added to it; it is saved and copied in that state.
 *
 * Replicas and the append-only file must produce the same bytes as the primary. Two rules ensure
 * that:
 *  - The same calls of the library in the same order. A refused call counts too, because the
 *    library counts it and may have tidied up before it refused; so a refused change is replicated.
 *  - Limits from this node's configuration are checked before the library is called, and only for
 *    commands of clients (object_may_grow()).
 * Out of memory (NOMEM) is not replicated: another node may have the memory.
 */
#ifndef BLOOMERY_MODULE_OBJECT_H
#define BLOOMERY_MODULE_OBJECT_H

#include "module/core/command_family.h"
#include "module/core/memory_account.h"
#include "module/core/replies.h"

#include <bloomery/hash.h>
#include <stddef.h>

typedef struct chunks chunks; /* bytes in a list of blocks */

/* account.sum is `bytes` of the totals that include the object; account.noted says when `estimated`
 * was updated. */
typedef struct held_object {
    account account; /* memory of the object; must be first, because account_open() counts the
                        object in it */
    void *thing; /* NULL while being restored */
    union {
        uint64_t items; /* in the totals, as of the last object_recount() */
        chunks *pieces; /* while being restored; may be NULL */
    };
    float promised, estimated; /* probability of a wrong answer */
} held_object;

/* The totals that include it: its family's, or those of guards. */
static inline family_totals *object_totals(const held_object *self)
{
    return (family_totals *)((char *)self->account.sum - offsetof(family_totals, bytes));
}

static inline command_family *object_family(const held_object *self)
{
    return object_totals(self)->family;
}

/* What a family keeps in each object besides (command_family.extra), zeros at first. */
static inline void *object_extra(const held_object *self)
{
    return (void *)(self + 1);
}

/* The same from the object's account, which clone() and load->allocator know. */
static inline void *object_extra_of(account *bill)
{
    return object_extra((held_object *)bill);
}

/* Makes an object without a thing; its allocator is account_allocator(&object->account). NULL: out
 * of memory. Counts it as a key of the family. */
held_object *object_new(command_family *family);

void object_free(held_object *self); /* in any thread; NULL is allowed */

/* After a change: updates the number of items in the totals. */
void object_recount(held_object *self);

/* Counts n items that a command queried or changed, with the errors to expect. */
void object_count(held_object *self, size_t n);

/* Moves the object's keys, items and bytes to other totals. */
void object_count_among(held_object *self, family_totals *totals);

/* Copies an object; the copy has its own account. BRY_E_NOMEM. */
bry_status object_copy(const held_object *self, held_object **copy);

/* Adds to the pieces of an unfinished object. BRY_E_NOMEM. */
bry_status object_append_piece(held_object *self, const void *bytes, size_t len);
/* Bytes of its pieces. */
uint64_t object_pieces_len(const held_object *self);

/* Makes the object from its pieces, and frees them, also after a failure. Returns what
 * object_load() returns; BRY_E_BADDATA if bytes are left. After a failure the object is unfinished,
 * without pieces. */
bry_status object_load_pieces(held_object *self, bry_load *load);

/* Writes the object's frames, or the pieces of an unfinished one. */
bry_status object_save(const held_object *self, const bry_sink *sink);

/* Loads a new object from a source. Returns what the library's load returns. */
bry_status object_load(held_object *self, const bry_source *source, bry_load *load);

/* The hash of an argument, for an object with this seed. */
static inline bry_hash string_hash(uint64_t seed, const server_string *string)
{
    size_t len;
    const char *bytes = api.StringPtrLen(string, &len);
    return bry_hash_key(seed, bytes, len);
}

/* ---- keys ----------------------------------------------------------------------------------- */

typedef struct opened_key {
    server_key *key;
    held_object *object; /* NULL: the key does not exist */
} opened_key;

/* Opens a key for reading (SERVER_READ) or writing (SERVER_READ | SERVER_WRITE). False, with
 * nothing open, after an error reply: the key holds another type or is being restored. */
bool object_open(server_context *context, command_family *family, server_string *name, int mode,
                 opened_key *opened);
int object_close(opened_key *opened); /* SERVER_OK, so that a handler can return it */

/* Opens a key that must exist: false, with nothing open, also after family_reply_missing(). */
bool object_open_made(server_context *context, command_family *family, server_string *name,
                      int mode, opened_key *opened);

/*
 * Opens a key for writing that must not exist yet. False, with nothing open, after an error reply.
 */
bool object_open_free(server_context *context, command_family *family, server_string *name,
                      opened_key *opened);

/* The object of a LIKE argument, to be read by this command. NULL after an error reply. */
const held_object *object_like(server_context *context, command_family *family,
                               server_string *name);

/* Stores a new object in the opened key, replacing the old value but not the time to live. The key
 * owns the object from now on. */
void object_put(opened_key *opened, held_object *object);

/* The end of a CREATE … LIKE: stores the object and replicates the command verbatim, or refuses an
 * object that is too large. */
int object_put_like(server_context *context, server_string *name, opened_key *target,
                    held_object *made, const char *event);

/* Sends the keyspace event of a change by a client's command and, if `verbatim`, replicates the
 * command. */
void object_changed(server_context *context, server_string *name, const char *event, bool verbatim);

/* Counts a refusal by the library and replies with its error. FULL and UNSURE are replicated, see
 * above. */
int object_refused(server_context *context, command_family *family, bry_status status);

/* The same without replication, for a command that the caller replicates in another form. */
int object_refused_here(server_context *context, command_family *family, bry_status status);

/* True if a client's command may add `more` bytes to an object (NULL: a new one) within
 * bloomery.max-key-bytes. A replayed command always may. */
bool object_may_grow(server_context *context, const held_object *object, uint64_t more);

/*
 * For commands that add to an object: between object_limit_begin() and object_limit_end() the
 * object cannot grow beyond bloomery.max-key-bytes (or its present size, if that is larger) plus an
 * eighth of that setting, nor by megabytes beyond the server's maxmemory. Replayed commands are not
 * limited.
 * object_limit_end() returns `status`, with BRY_E_NOMEM replaced by BRY_E_LIMIT if the limit of the
 * key was the reason; object_refused() answers that like object_too_large().
 */
void object_limit_begin(server_context *context, held_object *object);
bry_status object_limit_end(held_object *object, bry_status status);

/* Replies with FULL to a change after which there would have been up to n items: because an object
 * cannot have more than `most` (0: there is no such limit), or with the text `otherwise`. */
int object_reply_full(server_context *context, uint64_t n, uint64_t most, const char *otherwise);

/* Counts a refusal because of bloomery.max-key-bytes and replies with FULL. */
int object_too_large(server_context *context, command_family *family);

/* The handler of an INFO command with one key: `describe` writes the pairs of the reply. */
int object_describe(server_context *context, server_string **argv, int argc, command_family *family,
                    void (*describe)(pair_reply *pairs, const held_object *object));

/* The object of the library in it. */
void *object_inside(const held_object *self);

/* ---- merging -------------------------------------------------------------------------------- */

typedef struct merge_method {
    command_family *family;
    const char *event;
    const char *effect; /* the command to replicate instead; NULL: the command itself */
    const char *full; /* the text of FULL */
    const char *mismatch; /* that of MISMATCH; NULL: "'a' was not created LIKE 'b'" */
} merge_method;

/* The handler of a command DEST SOURCE [SOURCE …] whose result depends on its keys only. A DEST that
 * does not exist becomes a copy of the first source that does. Replies with the number of items in
 * DEST. */
int object_merge(server_context *context, server_string **argv, int argc, const merge_method *how);

/* ---- the data type -------------------------------------------------------------------------- */

/* The methods of the family's type. */
server_type_methods object_type_methods(const command_family *family);

/* rdb_load for a family; FAMILY_RDB_LOAD(map_family) defines map_family_rdb_load(), which calls it. */
void *object_rdb_load(server_io *io, int encoding, command_family *family);
#define FAMILY_RDB_LOAD(family)                                                                    \
    static void *family##_rdb_load(server_io *io, int encoding)                                    \
    {                                                                                              \
        return object_rdb_load(io, encoding, &(family));                                           \
    }

/* ---- restoring (object_restore.c) ----------------------------------------------------------- */

/*
 * The handler of every family's restore_command, an error for clients: key offset bytes [LAST].
 * Offset 0 starts a new object, if the key does not exist or is unfinished. Each further piece says
 * where it belongs. With LAST the object is made from the pieces; if that fails, the key is
 * deleted, or, while the append-only file is loading, the process ends (object_restore.c).
 */
server_command_function object_restore;

/*
 * Runs the handler of another command with a payload. A replayed one was accepted by a primary, so
 * if it fails, for another reason than FULL, it is damaged like a piece that cannot be restored.
 */
int object_run_payload(server_context *context, server_string **argv, int argc,
                       command_family *family, server_command_function *run);

/* Why a load failed, as text. */
#define LOAD_REASON_SIZE 192
const char *object_load_reason(const bry_load *load, bry_status status, char out[LOAD_REASON_SIZE]);

#endif
