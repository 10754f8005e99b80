/*
 * The family INDEX: its type, its settings, and what its files share.
 *
 * Numbers. A unit has the number that its user gives it, from 0 to 2^63 - 1, in no order and with
 * any gaps: it is the library's tag (index_unit_numbers.h). INDEX.ADD to a number that is not there
 * opens a unit, so nobody has to say beforehand which ones there will be.
 *
 * What nobody supplies. Engine dba keeps its error past the units it was planned for, and forgets
 * single items, by building units anew from their items, which a program with the library hands
 * to it. Over the wire nobody does. So an index of this engine is made for its UNITS and no
 * more, which keeps the promise, and INDEX.DEL is refused; INDEX.INFO says both. A unit that is out
 * of date is dropped and added or installed again. Engine compact needs no supplier, and is what
 * `auto` stands for.
 *
 * Same bytes everywhere. Commands are functions of the key, and replicated as they came; the
 * creation with its parameters and seed. What the library leaves for later, such as the items of a
 * dropped unit, is done a little with each command that changes the key, as much as follows from
 * the command and the key. How far it has come is in the frames of engine compact, so that a server
 * which was sent the key in the middle of it goes on as the others do; frames of engine dba do not
 * depend on it.
 */
#ifndef BLOOMERY_MODULE_INDEX_TYPE_H
#define BLOOMERY_MODULE_INDEX_TYPE_H

#include "module/core/object.h"
#include "module/index/index_unit_numbers.h"

#include <bloomery/index.h>

extern command_family index_family;
extern const module_command index_commands[];
extern const size_t index_command_count;

#define INDEX_MOST_NUMBER ((uint64_t)INT64_MAX)

/* What a key holds. */
typedef struct held_index {
    bry_index *index;
    index_numbers numbers;
    uint64_t looked_at; /* how many items there were when the error was last estimated */
    bool dba; /* its engine; else compact */
    bool untidy; /* dba: there may be work that needs no items */
} held_index;

static inline held_index *index_of(const held_object *object)
{
    return object->thing;
}

/* Options as the settings say. */
bry_index_options index_options_default(void);

/* Options that make an index like this one, as it was created. */
bry_index_options index_options_of(const held_index *held);

/*
 * An object with a new index. Options without a seed get one here, so that *options is all there is
 * to know about it. What bry_index_create() returns.
 */
bry_status index_create(bry_index_options *options, held_object **object);

/* Replicates the creation of an index with all its parameters. */
void index_replicate_creation(server_context *context, server_string *name,
                              const bry_index_options *options);

/* Whether the index may have a further unit, which would get this number. False: the client has
 * been told. */
bool index_takes_unit(server_context *context, held_index *held, uint64_t number);

/* The number of a unit, as an argument. False: the client has been told. */
bool index_read_unit(server_context *context, const server_string *argument, uint64_t *number);

/* Drops a unit of the library, which has this number. */
void index_drop(held_object *object, uint64_t number, uint32_t unit);

/* After units were opened or items added, n of them: does some of the work that engine dba left. */
void index_tidy(held_index *held, size_t n);

/* After n items have gone or come with a whole unit: does some of the work that engine compact
 * left. */
void index_sweep(held_index *held, uint64_t n);

/* Brings the numbers about an object up to date after a change. */
void index_changed(held_object *object);

/* Counts n items that were asked for or changed. */
void index_count(held_object *object, size_t n);

server_command_function index_command_create, index_command_add, index_command_locate,
    index_command_exists, index_command_del, index_command_seal, index_command_drop,
    index_command_export, index_command_install, index_command_info, index_command_load;

#endif
