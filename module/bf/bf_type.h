/*
 * The family FILTER: its type and the commands BF.*, which Redis clients know from RedisBloom, and
 * what its files share.
 *
 * Engine. A filter is the library's with engine compact. One that scales is planned for no fewer
 * than BF_LEAST_PLAN items, whatever capacity it was reserved with: the fingerprints of a small one
 * are longer than they need be, which costs nothing that counts, and all up to that number are in
 * one table, at the error asked for. Past the plan the library adds tables, the error kept. So
 * EXPANSION has nothing to do; it is kept, and BF.INFO tells capacity and number of filters as a
 * chain of filters would have that expands by it: a function of the number of items alone.
 *
 * Replies and errors are RedisBloom's, whose texts do not all begin with a word of ours.
 *
 * Adding is done item by item as far as there is room, and an item that is there already changes
 * nothing; so what was not new need not be replicated, nor what a fixed filter has refused.
 *
 * Changes are replicated and logged as FILTER.*, which every node has (bf_replication.c); whether a
 * node has BF.* decides who may ask there, and nothing else.
 */
#ifndef BLOOMERY_MODULE_BF_TYPE_H
#define BLOOMERY_MODULE_BF_TYPE_H

#include "module/core/object.h"

#include <bloomery/filter.h>

#define BF_LEAST_PLAN ((uint64_t)1 << 20)
#define BF_MOST_EXPANSION ((uint64_t)UINT32_MAX)

extern command_family filter_family;
extern const module_command bf_commands[], filter_commands[];
extern const size_t bf_command_count, filter_command_count;

/* What a filter is reserved with. */
typedef struct bf_parameters {
    uint64_t capacity;
    uint64_t expansion; /* 0: does not scale */
    uint64_t seed; /* 0: one is drawn */
    double error;
} bf_parameters;

/* What a key of the family holds. */
typedef struct bf_filter {
    account *account; /* that it is counted in */
    bry_filter *filter;
    bf_parameters made;
} bf_filter;

static inline bf_filter *bf_of(const held_object *object)
{
    return object->thing;
}

/* As the settings say. */
bf_parameters bf_default_parameters(void);

/* Set what a setting has where nothing else is said, before it is registered. False: that cannot
 * be. */
bool bf_preset_capacity(const server_string *value);
bool bf_preset_error(const server_string *value);
bool bf_preset_expansion(const server_string *value);

/*
 * An object with a new filter; parameters without a seed get one. NULL when that cannot be: the
 * client has been told.
 */
held_object *bf_create(server_context *context, bf_parameters *parameters);

/* Replicates the creation of a filter with all its parameters. */
void bf_replicate_creation(server_context *context, server_string *name,
                           const bf_parameters *parameters);

/* Replicates a change that is a function of its keys alone: with the arguments that it came with,
 * under a name that every node has. */
void bf_replicate(server_context *context, const char *effect, server_string **argv, int argc);

#define BF_EFFECT_CREATE "FILTER.CREATE" /* as BF.RESERVE, all parameters given */
#define BF_EFFECT_ADD "FILTER.ADD" /* as BF.MADD, to a filter that is there */
#define BF_EFFECT_DEL "FILTER.DEL"
#define BF_EFFECT_MERGE "FILTER.MERGE"
#define BF_EFFECT_CHUNK "FILTER.CHUNK" /* as BF.LOADCHUNK */

/* An error whose text is not ours; nothing in front of it. */
int bf_error(server_context *context, const char *line);

/* ---- whether there are commands BF.* (bf_register.c) -------------------------------------------
 */

/* Reads the module's arguments, pairs of a name and a value: `bf auto|yes|no`, and what RedisBloom
 * takes. False after a line in the log. */
bool bf_read_arguments(server_context *context, server_string **argv, int argc);

/* Registers the setting bloomery.bf, whose preset the arguments are. SERVER_OK or SERVER_ERR. */
int bf_register_choice(server_context *context);

/* Registers the commands as the setting says, once it is known. SERVER_ERR after a line in the log.
 */
int bf_register_commands(server_context *context);

server_command_function bf_command_reserve, bf_command_add, bf_command_madd, bf_command_insert,
    bf_command_exists, bf_command_mexists, bf_command_del, bf_command_card, bf_command_info,
    bf_command_debug, bf_command_merge, bf_command_scandump, bf_command_loadchunk, bf_add_replayed;

#endif
