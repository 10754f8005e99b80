/*
 * The family COUNTER: its type and what its files share.
 *
 * Which node decides. A replica and a log must end up with the frames of the primary, byte by byte.
 * What the library does with an operation depends on the table's frames and the time, with one
 * exception: whether it fits under a memory limit. The memory of a table depends on how much of the
 * expired ids it has reclaimed, which the frames do not contain, so a replica might refuse what its
 * primary has acknowledged. Therefore the limit is enforced here and not by the library, for
 * clients' commands only; replicas and logs get the outcome, with its time:
 *
 *  BLOOMERY.COUNTER.APPLY table time (counter delta id)…
 *          these were tried and not refused for lack of memory: applied, repeated, or overflowed
 *  BLOOMERY.COUNTER.TOUCH table time refused
 *          time moved; `refused` (0 or 1) commands got FULL
 *  BLOOMERY.COUNTER.SAME table (counter delta id)… […]
 *          as APPLY, at the table's time: it had not moved
 *
 * The last is for speed: a busy table changes many times per millisecond, and replicating a
 * client's command under another name costs a fraction of building a new one. All three are
 * internal and refused from clients. Repeats are replicated as well: they count in the table's
 * statistics, and a client that calls WAIT after a repeat then also waits for its first try.
 *
 * Late operations. A command may say when its operations were created (SENT). A first try that was
 * applied is certainly remembered for WINDOW. The client's clock may be ahead by SKEW, so that
 * holds for a retry that arrives within WINDOW - SKEW of SENT; a later one that is not remembered
 * is refused with EXPIRED, because it may have been counted and forgotten.
 *
 * What an id is. In the library an id stands for one operation in the whole table. Here the
 * counter's name is hashed into it, hash(seed: hash(seed: the table's, name), id), so that an id
 * stands for one operation on one counter: a request may change several counters with its one id. A
 * retry names the same counter, so nothing is lost, and a table that is split by the names of its
 * counters behaves as the whole did.
 */
#ifndef BLOOMERY_MODULE_COUNTER_TYPE_H
#define BLOOMERY_MODULE_COUNTER_TYPE_H

#include "module/core/object.h"

#include <bloomery/counters.h>

/* The command as which INCRBY is replicated, arguments and all, while the table's time does not
 * move. */
#define COUNTER_EFFECT_SAME "BLOOMERY.COUNTER.SAME"

extern command_family counter_family;
extern const module_command counter_commands[];

/* What a key holds, in its object_extra(). */
typedef struct counter_table {
    bry_counters *counters;
    uint64_t max_bytes; /* MAXMEM; 0: none */
    uint64_t skew; /* SKEW, ms: how far a client's clock may be off */
    uint64_t refused; /* commands refused with FULL */
} counter_table;

static inline counter_table *table_of(const held_object *object)
{
    return object->thing;
}

/* Sets a limit on the bytes of the whole key (0: none), and removes it; then true if an allocation
 * failed because of it. One key at a time has a limit, since one command runs at a time. */
void counter_limit_begin(const counter_table *table, uint64_t bytes);
bool counter_limit_end(void);

/* Number of ids per window that a table is planned for by default. */
uint64_t counter_default_capacity(void);

/*
 * Makes an object with a new table. options->max_bytes and max_skew are enforced here, see above.
 * If the options have no seed, one is chosen; *options then describes the table completely. Returns
 * what bry_counters_create() returns.
 */
bry_status counter_create(bry_counters_options *options, held_object **object);

/* The id of an operation on the counter with this name. */
bry_hash counter_id(const counter_table *table, const void *name, size_t name_len,
                    const server_string *id);

server_command_function counter_command_create, counter_command_incrby, counter_command_get,
    counter_command_scan, counter_command_del, counter_command_info, counter_command_apply,
    counter_command_same, counter_command_touch;

#endif
