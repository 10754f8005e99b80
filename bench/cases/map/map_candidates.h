/*
 * Maps as candidates: the library's engines through the public functions, and kBF as its papers
 * have it (papers/paper_kbf.h). All do the same work on the same pairs, hashes made before. Every
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
    MAP_INSERT, /* all keys, known to be absent, into an empty map */
    MAP_HIT, /* all keys, in another order */
    MAP_MISS, /* as many that are not there */
    MAP_HIT_BATCH,
    MAP_MISS_BATCH,
    MAP_UPDATE, /* another value for each key */
    MAP_DELETE, /* some keys, `churn` of them, out of the full map */
    MAP_PHASES
};
#define MAP_NO_BATCH ((1u << MAP_HIT_BATCH) | (1u << MAP_MISS_BATCH))
#define MAP_NO_CHANGE ((1u << MAP_UPDATE) | (1u << MAP_DELETE))

/* Keys and the numbers of their values. A value's 16 bytes tell its number and nothing else has
 * them, so that answers are checked without looking anything up. */
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

/* Answers about keys of which all are there, or none is. */
typedef struct map_tally {
    uint64_t right; /* present, with the key's value */
    uint64_t wrong; /* present, with another value; any value, where none is there */
    uint64_t absent, unsure;
} map_tally;

/* What the phases counted besides time; the same in each round. */
typedef struct map_record {
    map_tally said[MAP_PHASES]; /* of look-ups; of changes, what they answered */
    map_tally updated; /* looked up after MAP_UPDATE: all keys */
    map_tally kept, gone; /* after MAP_DELETE: the keys left, and those deleted */
    bool filled; /* bytes and errors are those after MAP_INSERT */
    uint64_t bytes, bytes_main, cells;
    bry_map_errors estimated;
} map_record;

typedef struct map_work {
    const map_data *data;
    bry_map_options options;
    map_settings settings;
    size_t batch;
    bry_map_value *answers_value; /* room for a batch, as the next two */
    uint32_t *numbers;
    uint8_t *answers;
    map_record *record;
} map_work;

/* Options for the library, and the shape they give: by the plan, times settings->size. Its errors
 * are those of the code that is measured. */
bry_status map_options_for(const map_settings *settings, uint64_t items, double error, bool grow,
                           bry_map_options *options, bry_map_shape *shape);

/* What the papers' code errs in a table of this shape. */
bry_map_errors map_paper_errors(const map_settings *settings, uint64_t items,
                                const bry_map_shape *shape);

/* Rooms for batches. False when memory does not suffice; map_work_free() is due anyway. */
bool map_work_make(map_work *work, const map_data *data, const map_settings *settings,
                   const bry_map_options *options, size_t batch, map_record *record);
void map_work_free(map_work *work);

extern const bench_candidate candidate_map, candidate_paper_map;

#endif
