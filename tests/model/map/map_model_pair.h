/* Internals of the map model, shared by map_model.c (whole maps) and map_model_keys.c (keys). */
#ifndef BRY_TESTS_MAP_MODEL_PAIR_H
#define BRY_TESTS_MAP_MODEL_PAIR_H

#include "map/map_object.h"
#include "model/map/map_twin.h"
#include "model/model_steps.h"

enum { MAX_BATCH = 200, MAP_MODEL_ERRORS = 5 };

/* Two maps of the same shape, which can be merged. Operations are on the first one. */
typedef struct map_pair {
    failing_allocator memory;
    bry_map *map[2];
    map_twin twin[2];
    bool hidden[2]; /* compact: a merge may have left hidden entries */
    bool kbf, fixed, wrong;
    uint64_t capacity[2]; /* compressing may lower kbf's */
    uint64_t created[2]; /* the capacity they were created with */
    double error;
    unsigned error_index;
    unsigned value_bits, window;
    unsigned keys[MAX_BATCH], values[MAX_BATCH];
    bry_hash hashes[MAX_BATCH];
    bry_map_value given[MAX_BATCH];
    uint8_t was[MAX_BATCH + 1];
} map_pair;

typedef void map_operation(map_pair *both, model_reader *reader);

/* map_model_keys.c */
map_operation map_do_set, map_do_update, map_do_add, map_do_del, map_do_del_pair, map_do_set_n,
    map_do_update_n, map_do_add_n, map_do_del_n, map_do_get_n;

map_operation map_do_sweep; /* map_model_sweep.c */

/* Looks up n keys from `first` on in map `which` and compares. */
void map_compare_keys(map_pair *both, model_reader *reader, unsigned which, unsigned first,
                      size_t n);

/*
 * Since the start: keys asked or changed and compared, keys that kbf was unsure of, programs with
 * kbf and those in which it gave a wrong answer. And by the error asked for, of kbf alone: how many
 * programs might have met a wrong answer, which is the error times the answers up to the first one,
 * and how many did.
 */
typedef struct map_model_counts {
    uint64_t operations, operations_kbf; /* of both engines, and of kbf alone */
    uint64_t compared, unsure, programs_wrong, programs_kbf;
    double may_be_wrong[MAP_MODEL_ERRORS];
    uint64_t wrong[MAP_MODEL_ERRORS];
} map_model_counts;
extern map_model_counts map_counts;

#endif
