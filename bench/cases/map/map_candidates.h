/*
 * Maps as candidates: the library's engines through the public functions, and kBF as published
 * (papers/paper_kbf.h). All do the same work on the same pairs, with precomputed hashes. Every
 * answer is compared with the exact one while it is measured, and counted by kind.
 */
#ifndef BLOOMERY_BENCH_MAP_CANDIDATES_H
#define BLOOMERY_BENCH_MAP_CANDIDATES_H

#include "bench/cases/map/map_settings.h"
#include "bench/harness/keys.h"
#include "bench/harness/measure.h"
#include "bench/harness/value_mix.h"

#define MAP_SEED UINT64_C(0x6b42462d6d617073)

enum map_phase {
    MAP_INSERT, /* adds all keys to an empty map, known to be absent */
    MAP_HIT, /* all keys, in another order */
    MAP_MISS, /* the same number of absent keys */
    MAP_HIT_BATCH,
    MAP_MISS_BATCH,
    MAP_UPDATE, /* another value for each key */
    MAP_DELETE, /* deletes `churn` keys from the full map */
    MAP_PHASES
};
#define MAP_NO_BATCH ((1u << MAP_HIT_BATCH) | (1u << MAP_MISS_BATCH))
#define MAP_NO_CHANGE ((1u << MAP_UPDATE) | (1u << MAP_DELETE))

/* Keys and the numbers of their values. The 16 bytes of a value contain its number, so answers are
 * checked without a look-up. */
#define MAP_VALUE_BYTES 16u

typedef struct map_data {
    uint64_t count, churn; /* the first `churn` of `hits` are deleted */
    bench_keys keys;
    const bry_hash *added, *hits, *misses; /* the keys' 16 bytes, taken as hashes */
    value_mix mix;
    uint32_t *added_value, *hit_value, *new_value; /* of `added`, of `hits`, of `hits` updated */
    uint64_t (*bytes)[MAP_VALUE_BYTES / 8]; /* of each value */
} map_data;

/* False when memory does not suffice; then there is nothing to free. */
bool map_data_make(map_data *data, uint64_t count, uint32_t values, double skew, double top);
void map_data_free(map_data *data);

/* Answers for keys that are all present, or all absent. */
typedef struct map_tally {
    uint64_t right; /* present, with the key's value */
    uint64_t wrong; /* present, with another value; for absent keys, with any value */
    uint64_t absent, unsure;
} map_tally;

/* Counts of the phases; the same in each round. */
typedef struct map_record {
    map_tally said[MAP_PHASES]; /* of look-ups; for changes, their answers */
    map_tally updated; /* looked up after MAP_UPDATE: all keys */
    map_tally kept, gone; /* after MAP_DELETE: remaining and deleted keys */
    bool filled; /* bytes and errors are those after MAP_INSERT */
    uint64_t bytes, bytes_main, cells;
    bry_map_errors estimated;
} map_record;

typedef struct map_work {
    const map_data *data;
    bry_map_options options;
    map_settings settings;
    size_t batch;
    bry_map_value *answers_value; /* room for a batch, like the next two */
    uint32_t *numbers;
    uint8_t *answers;
    map_record *record;
} map_work;

/* Options for the library, and the planned shape times settings->size, with the errors of the code
 * that is measured. */
bry_status map_options_for(const map_settings *settings, uint64_t items, double error, bool grow,
                           bry_map_options *options, bry_map_shape *shape);

/* The errors of the papers' code in a table of this shape. */
bry_map_errors map_paper_errors(const map_settings *settings, uint64_t items,
                                const bry_map_shape *shape);

/* Allocates buffers for batches. False if memory runs out; call map_work_free() in any case. */
bool map_work_make(map_work *work, const map_data *data, const map_settings *settings,
                   const bry_map_options *options, size_t batch, map_record *record);
void map_work_free(map_work *work);

extern const bench_candidate candidate_map, candidate_paper_map;

#endif
