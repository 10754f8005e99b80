/*
 * The load of each slot: the maps in it (slabs of distributed maps, and other maps), and other keys.
 * Read from all primaries at the same time.
 */
#ifndef BLOOMERY_CLI_SLOT_LOADS_H
#define BLOOMERY_CLI_SLOT_LOADS_H

#include "cli/cluster/cluster_view.h"

typedef enum load_kind {
    LOAD_PAIRS, /* Pairs of maps. */
    LOAD_QUERIES, /* Keys looked up per second. */
    LOAD_BYTES, /* Bytes of all keys. */
} load_kind;

typedef struct slot_load {
    uint64_t pairs; /* Pairs in the maps. */
    uint64_t bytes; /* Bytes of the maps. */
    uint64_t queries; /* counted by this owner since it has the keys */
    uint64_t other_bytes; /* estimated from some of the other keys */
    uint32_t maps; /* Keys that are maps. */
    uint32_t others; /* Other keys. */
    uint32_t owner; /* in the view with which it was read; VIEW_NONE: none */
    uint32_t owner_link; /* the same in any view (bryc_node_at()) */
} slot_load;

/* A map whose two halves must be joined (slot_halves.h). */
typedef struct found_half {
    char *key;
    size_t len;
    uint32_t node;
} found_half;

typedef struct slot_loads {
    slot_load *slots; /* BRYC_SLOTS of them */
    uint64_t read_at; /* milliseconds of a clock that is never set back */
    found_half *halves;
    size_t half_count;
} slot_loads;

/* Reads the loads. `map`: only the slabs of this distributed map; NULL: all keys. `sizes`: estimates
 * the bytes of other keys too. Without a message: bryc_error(). Free them in any case. */
bry_status slot_loads_read(cluster_view *view, const char *map, bool sizes, slot_loads *loads);
void slot_loads_free(slot_loads *loads);

/*
 * The load of a slot. Every key that is not a map counts as one pair. Queries are a rate, per
 * second, between two readings; 0 if the slot has moved in between (`before` NULL: since the keys
 * were loaded, as a number).
 */
double slot_load_of(const slot_loads *before, const slot_loads *now, uint32_t slot, load_kind kind);

/* "pairs", "queries" or "bytes"; false for any other word. */
bool load_kind_read(const char *word, load_kind *kind);
const char *load_kind_name(load_kind kind);

#endif
