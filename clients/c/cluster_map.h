/* The inside of a distributed map. */
#ifndef BLOOMERY_CLUSTER_MAP_H
#define BLOOMERY_CLUSTER_MAP_H

#include "clients/c/cluster_exchange.h"
#include "clients/c/map_record.h"
#include "clients/c/slab_choice.h"

/* ---- bytes --------------------------------------------------------------------------------- */

/* Commands that are being encoded. */
typedef struct bryc__bytes {
    char *at;
    size_t len, capacity;
} bryc__bytes;

/* Makes room for `more` bytes. */
bool bryc__reserve(bryc__bytes *bytes, size_t more);

/* $LEN CRLF bytes CRLF. */
bool bryc__put_argument(bryc__bytes *bytes, const void *argument, size_t len);
bool bryc__put_number(bryc__bytes *bytes, uint64_t number);
/* *N CRLF */
bool bryc__put_count(bryc__bytes *bytes, uint64_t n);

/* ---- byte strings and their codes ---------------------------------------------------------- */

/* Only entries that no failover loses: replicas have confirmed them, or a slab holds a code as
 * high, which its writer had confirmed. */
typedef struct bryc__codes {
    bry_map_value *known; /* by code; each has its own memory */
    size_t count, capacity;
    uint32_t *table; /* open addressing: a code + 1, or 0 */
    size_t slots; /* a power of two */
    bool unconfirmed; /* replicas did not confirm the last change of the list in time */
} bryc__codes;

struct bryc_map {
    bryc_client *client;
    char name[BRYC__NAME_MAX + 1];
    bryc__record record;
    uint64_t read_at; /* when the record was read */
    bryc__choice choice;
    bryc__bytes options; /* CAPACITY … FIELDS, encoded, for MAP.INSERT */
    uint16_t *slots; /* of each slab */
    uint32_t wait, wait_ms, confirmed;
    bryc__codes codes;
    struct bryc__batch *batch; /* memory of the last call, used again */
};

/* The number of a value's code, or UINT32_MAX. */
uint32_t bryc__code_find(const bryc__codes *codes, const void *bytes, size_t len);
void bryc__codes_free(bryc__codes *codes);

/* Gives all values codes, whose numbers are stored in `numbers`. */
bry_status bryc__codes_for(bryc_map *map, const bry_map_value *values, size_t n, uint64_t *numbers);

/* Makes sure that the values of all codes up to `highest` are known, if they exist. */
bry_status bryc__codes_read(bryc_map *map, uint64_t highest);

/* ---- keys ---------------------------------------------------------------------------------- */

/* The keys of a map on the servers: slab number i, and the list of values. As snprintf(). */
size_t bryc__slab_key(const bryc_map *map, uint64_t slab, char *text, size_t room);
size_t bryc__values_key(const bryc_map *map, char *text, size_t room);

/* ---- the record ---------------------------------------------------------------------------- */

/* Reads the record again if it is old, or in any case. *changed: it is another map now. */
bry_status bryc__map_reread(bryc_map *map, bool *changed);

/* A map with this record, which is not read from the server. BRY_E_NOMEM. */
bry_status bryc__map_new(bryc_client *client, const char *name, const bryc__record *record,
                         bryc_map **map);

/* Sends a command of two words, `word` and the key, for n slabs; the list of values counts as the
 * one after the last. As bryc__ask_each(). */
bry_status bryc__ask_slabs(bryc_map *map, const char *word, uint64_t first, size_t n,
                           bryc__read_replies read, void *context);

/* Deletes the slabs and the values of the map's epoch. */
bry_status bryc__map_delete_keys(bryc_map *map);

void bryc__batch_free(struct bryc__batch *batch);

#endif
