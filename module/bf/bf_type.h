/*
 * The family FILTER: its type, the commands BF.*, which Redis clients know from RedisBloom, and
 * what its files share.
 *
 * Engine. A filter uses the library's engine compact. A filter that scales is planned for at least
 * BF_LEAST_PLAN items, whatever capacity it was reserved with: the fingerprints of a small filter
 * are longer than needed, which costs little, and all items up to that number are in one table with
 * the requested error. Beyond the plan the library adds tables and keeps the error. So EXPANSION
 * has no effect; it is stored, and BF.INFO reports capacity and number of filters as a chain of
 * filters with that expansion would have them, computed from the number of items.
 *
 * Replies and errors are RedisBloom's, so some errors do not begin with one of our codes.
 *
 * Items are added one by one as far as there is room, and an item that is present changes nothing.
 * So items that were not new are not replicated, nor those that a fixed filter refused.
 *
 * Changes are replicated and logged as BLOOMERY.FILTER.*, which every node has (bf_replication.c).
 * Whether a node has BF.* only decides whether its clients can use filters.
 */
#ifndef BLOOMERY_MODULE_BF_TYPE_H
#define BLOOMERY_MODULE_BF_TYPE_H

#include "module/core/object.h"

#include <bloomery/filter.h>

#define BF_LEAST_PLAN ((uint64_t)1 << 16)
#define BF_MOST_EXPANSION ((uint64_t)UINT32_MAX)

extern command_family filter_family;
extern const module_command bf_commands[], filter_commands[];

/* The parameters of BF.RESERVE. */
typedef struct bf_parameters {
    uint64_t capacity;
    uint64_t expansion; /* 0: does not scale */
    uint64_t seed; /* 0: random */
    double error;
} bf_parameters;

/* What a key of the family holds, in its object_extra(). */
typedef struct bf_filter {
    bry_filter *filter;
    uint64_t capacity; /* as in bf_parameters */
    double error; /* as in bf_parameters */
    uint32_t expansion; /* as in bf_parameters */
} bf_filter;

static inline bf_filter *bf_of(const held_object *object)
{
    return object->thing;
}

/* The parameters that it was made with. */
bf_parameters bf_made(const bf_filter *self);

/* The parameters of a new filter, from the settings. */
bf_parameters bf_default_parameters(void);

/* Set the default of a setting before it is registered. False: invalid value. */
bool bf_preset_capacity(const server_string *value);
bool bf_preset_error(const server_string *value);
bool bf_preset_expansion(const server_string *value);

/*
 * Makes an object with a new filter; parameters without a seed get one. NULL after an error reply.
 */
held_object *bf_create(server_context *context, bf_parameters *parameters);

/* Replicates the creation of a filter with all its parameters. */
void bf_replicate_creation(server_context *context, server_string *name,
                           const bf_parameters *parameters);

/* Replicates a change that depends on its keys only: with its arguments, under a name that every
 * node has. */
void bf_replicate(server_context *context, const char *effect, server_string **argv, int argc);

#define BF_EFFECT_CREATE "BLOOMERY.FILTER.CREATE" /* BF.RESERVE with all parameters */
#define BF_EFFECT_ADD "BLOOMERY.FILTER.ADD" /* BF.MADD to an existing filter */
#define BF_EFFECT_DEL "BLOOMERY.FILTER.DEL"
#define BF_EFFECT_MERGE "BLOOMERY.FILTER.MERGE"
#define BF_EFFECT_CHUNK "BLOOMERY.FILTER.CHUNK" /* BF.LOADCHUNK */

/* ---- registering BF.* (bf_register.c) -------------------------------------------------------- */

/* Reads the arguments of the module, pairs of name and value: `bf auto|yes|no` and those of
 * RedisBloom. False after logging why. */
bool bf_read_arguments(server_context *context, server_string **argv, int argc);

/* The setting bloomery.bf; its default is the module's argument. */
extern const char *const bf_choices[];
extern int bf_choice;

/*
 * Registers the commands if the setting says so, after it was loaded. SERVER_ERR after logging why.
 */
int bf_register_commands(server_context *context);

server_command_function bf_command_reserve, bf_command_add, bf_command_madd, bf_command_insert,
    bf_command_exists, bf_command_mexists, bf_command_del, bf_command_card, bf_command_info,
    bf_command_debug, bf_command_merge, bf_command_scandump, bf_command_loadchunk, bf_add_replayed;

#endif
