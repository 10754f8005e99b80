/*
 * What a key of ours holds: one thing of the library with its memory counted, whatever the family.
 *
 * An object that is being restored piece by piece (MAP.LOAD, which the log of a server contains
 * after a rewrite) has no thing yet but the bytes that have come. Only further pieces may touch it;
 * it is saved and copied as what it is.
 *
 * Replicas and the log must come to the same bytes as the master. Two rules see to that:
 *  - the same calls of the library, in the same order. A refusal is a call too, for the library
 *    counts it and may have tidied up before it refused; so a refused change is replicated.
 *  - limits of this node's configuration are checked before the library is called, and only where
 *    the command is a client's own (object_may_grow()).
 * What the allocator refuses (NOMEM) is not replicated: another node may have the memory.
 */
#ifndef BLOOMERY_MODULE_OBJECT_H
#define BLOOMERY_MODULE_OBJECT_H

#include "module/core/chunk_list.h"
#include "module/core/command_family.h"
#include "module/core/memory_account.h"

#include <bloomery/hash.h>

/* What ONCE did with a guard since this server has it; it is neither saved nor copied. */
typedef struct once_counts {
    uint64_t applied, repeated;
    double expected_lost; /* of the ids that were new: taken for repeats */
} once_counts;

typedef struct held_object {
    account account; /* first: the object's block is counted in it (account_open()) */
    command_family *family;
    family_totals *totals; /* that it is counted in: its family's, or those of guards */
    void *thing; /* NULL while it is being restored */
    uint64_t items; /* of it in the totals: as of the last object_recount() */
    double promised, estimated; /* the chance that an item is answered wrongly, where a family tells
                                   it: as created, and as last seen */
    uint64_t counted; /* items since that was seen */
    once_counts once; /* windows alone */
    chunks pieces; /* while it is being restored */
} held_object;

/* An object without a thing; its allocator is account_allocator(&object->account). NULL: no memory.
 * Also counts it among the family's keys. */
held_object *object_new(command_family *family);

void object_free(held_object *self); /* in any thread; takes NULL */

/* After a change: asks the library how many items there are, for the family's sum. */
void object_recount(held_object *self);

/* Counts n items that a command asked for or changed, and what they add to the family's errors. */
void object_count(held_object *self, size_t n);

/* Counts the object among others from now on: keys, items and bytes. */
void object_count_among(held_object *self, family_totals *totals);

/* A second object with the same contents, counted in an account of its own. BRY_E_NOMEM. */
bry_status object_copy(const held_object *self, held_object **copy);

/* The object's frames, or the pieces of an unfinished one. */
bry_status object_save(const held_object *self, const bry_sink *sink);

/* Gives a new object what the source holds. What the library's load returns. */
bry_status object_load(held_object *self, const bry_source *source, bry_load *load);

/* What the library knows an argument by, in a thing that was made with this seed. */
static inline bry_hash string_hash(uint64_t seed, const server_string *string)
{
    size_t len;
    const char *bytes = api.StringPtrLen(string, &len);
    return bry_hash_key(seed, bytes, len);
}

/* ---- keys ---------------------------------------------------------------------------------- */

typedef struct opened_key {
    server_key *key;
    held_object *object; /* NULL: there is no such key */
} opened_key;

/*
 * Opens a key to read (SERVER_READ) or to write (SERVER_READ | SERVER_WRITE). False when it holds
 * something else, or an object that is being restored: the client has been told, nothing is open.
 */
bool object_open(server_context *context, command_family *family, server_string *name, int mode,
                 opened_key *opened);
void object_close(opened_key *opened);

/* Opens a key to write, for something new. False when there is something: the client has been told,
 * nothing is open. */
bool object_open_free(server_context *context, command_family *family, server_string *name,
                      opened_key *opened);

/* What stands behind LIKE, fit to be read by this command. NULL: the client has been told. */
const held_object *object_like(server_context *context, command_family *family,
                               server_string *name);

/* Puts a new object under the opened key, in place of what is there; a time to live stays. The
 * object is the key's from now on. */
void object_put(opened_key *opened, held_object *object);

/* The end of a command that makes one LIKE another: puts it there and replicates the command as it
 * came, or refuses what is too large. */
int object_put_like(server_context *context, server_string *name, opened_key *target,
                    held_object *made, const char *event);

/* Tells the server and those who listen that a client's command changed the key, and, where
 * `verbatim`, replicates the command as it came. */
void object_changed(server_context *context, server_string *name, const char *event, bool verbatim);

/* Counts and answers what the library refused. FULL and UNSURE are replicated, see above. */
int object_refused(server_context *context, command_family *family, bry_status status);

/* The same for a command that does not mean the same elsewhere: the caller replicates. */
int object_refused_here(server_context *context, command_family *family, bry_status status);

/*
 * Whether a client's command may add `more` bytes to an object (NULL: a new one) under
 * bloomery.max-key-bytes. A server that replays what was carried out elsewhere may always.
 */
bool object_may_grow(server_context *context, const held_object *object, uint64_t more);

/*
 * For commands that add to an object: from object_limit_begin() to object_limit_end() the object
 * gets no memory beyond the limit (or beyond what it has, where that is more) and an eighth, nor
 * megabytes beyond the server's maxmemory. A replayed command gets what it needs.
 * object_limit_end() returns the status of what was done meanwhile: BRY_E_LIMIT for BRY_E_NOMEM
 * where the limit of a key was the reason, which object_refused() answers like object_too_large().
 */
void object_limit_begin(server_context *context, held_object *object);
bry_status object_limit_end(held_object *object, bry_status status);

/* Counts and answers what that limit refuses. */
int object_too_large(server_context *context, command_family *family);

/* The handler of a command KEY that only tells of what there is. */
int object_describe(server_context *context, server_string **argv, int argc, command_family *family,
                    int (*tell)(server_context *context, const held_object *object));

/* ---- merging ------------------------------------------------------------------------------- */

typedef struct object_merging {
    command_family *family;
    bry_status (*merge)(void *into, const void *from); /* fails with `into` unchanged */
    const char *event;
    bool creates; /* a destination that does not exist; else that is an error */
    const char *effect; /* the command that is replicated in its place; NULL: itself */
    const char *mismatch; /* what must be alike; NULL: as the library says it */
} object_merging;

/* The handler of a command DEST SOURCE [SOURCE …] that is a function of its keys alone. Answers how
 * many items there are then. */
int object_merge(server_context *context, server_string **argv, int argc,
                 const object_merging *how);

/* ---- the data type ------------------------------------------------------------------------- */

/* All methods of the family's type. */
server_type_methods object_type_methods(const command_family *family);

/* rdb_load for a family. */
void *object_rdb_load(server_io *io, int encoding, command_family *family);

/*
 * The handler of the family's restore_command, which clients are refused: key offset bytes [LAST].
 * Offset 0 begins a new object, which needs a key that is free or was not finished; each further
 * piece says where it belongs; with LAST the object is made of them, or refused and the key
 * deleted.
 */
int object_restore(server_context *context, server_string **argv, int argc, command_family *family);

#endif
