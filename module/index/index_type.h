/*
 * The family INDEX: its type, its settings, and what its files share.
 *
 * Numbers. Users choose the number of a unit, from 0 to 2^63 - 1, in any order and with any gaps.
 * It is the library's tag (index_unit_numbers.h). INDEX.ADD to a new number opens a unit, so the
 * units need not be declared first.
 *
 * No supplier. To keep its error beyond the planned units, and to delete single items, engine dba
 * rebuilds units from their items, which a program that uses the library supplies. A server has no
 * such supplier. So an index of this engine has at most UNITS units, which keeps the promise, and
 * INDEX.DEL is refused; INDEX.INFO shows both. To update a unit, drop it and add or import it
 * again. Engine compact, the default, needs no supplier.
 *
 * Same bytes everywhere. Commands depend on the key only and are replicated verbatim; the creation
 * is replicated with its parameters and seed. Work that the library defers, such as clearing the
 * items of a dropped unit, is done in small steps by each command that changes the key; how much
 * depends only on the command and the key. The frames do not depend on the progress, except that
 * engine compact folds tables, which all nodes do in the same command (index_unit_commands.c).
 */
#ifndef BLOOMERY_MODULE_INDEX_TYPE_H
#define BLOOMERY_MODULE_INDEX_TYPE_H

#include "module/core/object.h"
#include "module/index/index_unit_numbers.h"

#include <bloomery/index.h>

extern command_family index_family;
extern const module_command index_commands[];

#define INDEX_MOST_NUMBER ((uint64_t)INT64_MAX)

/* What a key holds. */
typedef struct held_index {
    bry_index *index;
    index_numbers numbers;
    uint64_t looked_at; /* number of items when the error was last estimated */
    bool dba; /* engine dba; else compact */
    bool untidy; /* dba: there may be deferred work that needs no items */
} held_index;

static inline held_index *index_of(const held_object *object)
{
    return object->thing;
}

/* The options of a new index, from the settings. */
bry_index_options index_options_default(void);

/* The options with which this index was created. */
bry_index_options index_options_of(const held_index *held);

/* Makes an object with a new index. If the options have no seed, one is chosen; *options then
 * describes the index completely. Returns what bry_index_create() returns. */
bry_status index_create(bry_index_options *options, held_object **object);

/* True if the index can have a further unit, which would get this number. False after an error
 * reply. */
bool index_takes_unit(server_context *context, held_index *held, uint64_t number);

/* As object_refused(), for n items that were to be added. */
int index_refused(server_context *context, const held_object *object, size_t n, bry_status status);

/* Replies that there is no unit with this number. */
int index_reply_no_unit(server_context *context, uint64_t number);

/* Reads the number of a unit from an argument. False after an error reply. */
bool index_read_unit(server_context *context, const server_string *argument, uint64_t *number);

/* Drops a unit of the library, which has this number. With `sweep`, returns index_sweep(). */
bool index_drop(held_object *object, uint64_t number, uint32_t unit, bool sweep);

/* After units were opened or n items added: does some of the work that engine dba deferred. */
void index_tidy(held_index *held, size_t n);

/* After a whole unit of n items was dropped or imported: does some of the work that engine compact
 * deferred. False: out of memory, so that tables were not folded; replicas must not fold either. */
bool index_sweep(held_index *held, uint64_t n);

/* Updates the numbers of an object after a change. */
void index_changed(held_object *object);

/* Counts n items that were queried or changed. */
void index_count(held_object *object, size_t n);

/*
 * Internal commands: INDEX.DROP and INDEX.IMPORT on a node that had no memory to fold tables
 * (index_unit_commands.c).
 */
#define INDEX_EFFECT_DROP "BLOOMERY.INDEX.DROP"
#define INDEX_EFFECT_IMPORT "BLOOMERY.INDEX.IMPORT"

server_command_function index_command_create, index_command_add, index_command_locate,
    index_command_exists, index_command_del, index_command_seal, index_command_drop,
    index_command_export, index_command_import, index_command_info, index_command_drop_unfolded,
    index_command_import_unfolded;

#endif
