/*
 * The family COUNTER: its type and what its files share.
 *
 * Who decides. A replica and a log must come to the frames of the master, byte by byte. What the
 * library does with an operation is a function of a table's frames and of the time, with one
 * exception: whether it fits under a ceiling of memory. The memory that a table takes depends on
 * how far it has reclaimed what expired, which frames do not tell, so a replica might refuse what
 * its master has acknowledged. The ceiling is therefore kept here and not by the library, for
 * clients' commands alone; replicas and logs are told the outcome, with its time:
 *
 *   COUNTER.APPLY table time (counter delta id)…   these were tried and were not refused for want
 *                                                  of room: applied, repeated, or too large a sum
 *   COUNTER.TOUCH table time refused               time moved; so many were refused with FULL
 *   COUNTER.INCRBY, COUNTER.MINCRBY                as APPLY, at the table's time: it had not moved
 *
 * The last is for speed: a table that changes often changes many times a millisecond, and to
 * replicate a command as it came costs a fraction of making a new one. APPLY and TOUCH are for
 * replication alone, and not taken from clients. A repeat is replicated as well: it
 * counts in the table's numbers, and a client that waits for replicas after a repeat (WAIT) then
 * waits for its first try, too.
 *
 * What an id is. In the library an id stands for one operation in the whole table. Here the
 * counter's name is mixed into it, hash(seed: hash(seed: the table's, name), id), so that an id
 * stands for one operation on one counter: a request may change several counters under its one
 * number. A retry names the same counter, so nothing is lost by that, and a table that is cut in
 * several by the counters' names behaves as the whole did.
 */
#ifndef BLOOMERY_MODULE_COUNTER_TYPE_H
#define BLOOMERY_MODULE_COUNTER_TYPE_H

#include "module/core/object.h"

#include <bloomery/counter.h>

extern command_family counter_family;
extern const module_command counter_commands[];
extern const size_t counter_command_count;

/* What a key holds. */
typedef struct counter_table {
    bry_counter *counters;
    account *account;
    uint64_t max_bytes; /* MAXMEM; 0: none */
    uint64_t refused; /* commands, with FULL */
    uint64_t ceiling; /* in force at this moment, on the whole key; 0: none */
    bool denied; /* memory, for the ceiling */
} counter_table;

static inline counter_table *table_of(const held_object *object)
{
    return object->thing;
}

/* Ids in a window that a table is planned for where its creation does not say. */
uint64_t counter_default_capacity(void);

/*
 * An object with a new table. options->max_bytes becomes the table's own, see above. Options
 * without a seed get one here, so that *options is all there is to know about the table. What
 * bry_counter_create() returns.
 */
bry_status counter_create(bry_counter_options *options, held_object **object);

/* The id of an operation on a counter of this name. */
bry_hash counter_id(const counter_table *table, const void *name, size_t name_len,
                    const server_string *id);

server_command_function counter_command_create, counter_command_incrby, counter_command_mincrby,
    counter_command_get, counter_command_mget, counter_command_scan, counter_command_del,
    counter_command_info, counter_command_apply, counter_command_touch, counter_command_load;

#endif
