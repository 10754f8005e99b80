/*
 * The record of a distributed map: one line of text under the key {NAME}:map.
 *
 *   bloomery-map 1 slabs=96 epoch=0123456789abcdef pick=crc32 values=raw:12 engine=compact
 *   capacity=1000000 error=0.001 seed=7
 */
#ifndef BLOOMERY_CLUSTER_MAP_RECORD_H
#define BLOOMERY_CLUSTER_MAP_RECORD_H

#include <bloomery_cluster.h>

#define BRYC__NAME_MAX 200u
#define BRYC__RECORD_MAX 512u
#define BRYC__SLAB_KEY_MAX (BRYC__NAME_MAX + 48u)
#define BRYC__SECRET 16u

typedef struct bryc__record {
    uint64_t slabs;
    char epoch[17];
    bool keyed;
    unsigned char secret[BRYC__SECRET]; /* if it is keyed */
    bool codes; /* values are byte strings */
    uint32_t bits;
    bry_engine engine;
    uint64_t capacity;
    double error;
    uint64_t seed;
    char text[BRYC__RECORD_MAX];
} bryc__record;

/* Writes the shortest text that is read back as the same number. */
void bryc__write_share(double share, char *text, size_t room);

/* Whether a map may have this name. */
bool bryc__name_is_valid(const char *name);

/* Fills in what the options leave open, and draws epoch, seed and secret. NULL, or what is wrong. */
const char *bryc__record_plan(const bryc_map_options *options, uint32_t primaries,
                              bryc__record *record);

/* Draws another epoch. NULL, or what is wrong. */
const char *bryc__record_new_epoch(bryc__record *record);

/* NULL, or what is wrong with the text. */
const char *bryc__record_read(const char *text, size_t len, bryc__record *record);

/* Compares the options that are given. NULL, or a message that names the one that differs. */
const char *bryc__record_differs(const bryc__record *record, const bryc_map_options *options,
                                 char *message, size_t room);

/* The options of each slab. */
bry_map_options bryc__record_slab(const bryc__record *record);

#endif
