/*
 * The engine kbf of the map: a chain of tables (kbf_cells.h). kbf_map.c creates, looks up and
 * counts, kbf_change.c changes single keys and batches, kbf_merge.c merges and folds, kbf_save.c
 * saves.
 */
#ifndef BRY_MAP_KBF_MAP_H
#define BRY_MAP_KBF_MAP_H

#include "map/kbf/kbf_plan.h"
#include "map/map_engine.h"

/* Each table holds up to twice as many keys as the one before: 24 tables in the tuned shape hold
 * ten million times as many as the first at small errors, and still 400,000 times at the largest.
 */
#define BRY__KBF_TABLES 24u

typedef struct bry__kbf_map {
    bry_allocator allocator;
    bool fixed;
    bry__gf gf; /* the tables point to it, so a map never moves */
    bry__kbf_setting setting; /* with the maximum number of codes */
    double least_error; /* of a planned table: the first one's, halved BRY__KBF_TABLES times */
    unsigned tables; /* at least 1 */
    bry__kbf table[BRY__KBF_TABLES];
    bry__kbf created; /* the first table as it was created, empty, for clear; without a directory as
                         long as table[0] has its shape, because it was not folded */
} bry__kbf_map;

/* ---- kbf_map.c: shared by the files of this engine ----------------------------------------- */

/* Derives setting and field from the options; false if they are out of range. */
bool bry__kbf_map_setting(const bry_map_options *options, bry__kbf_setting *setting,
                          unsigned *field_bits);

/* The first table for these options, without its cells; false if they are out of range. */
bool bry__kbf_map_first(const bry_map_options *options, const bry__kbf_setting *setting,
                        bry__kbf *table);

/* A map without a table, or NULL: out of memory. */
bry__kbf_map *bry__kbf_map_make(const bry_map_options *options, const bry_allocator *allocator);
uint64_t bry__kbf_map_bytes_bare(unsigned field_bits);
void bry__kbf_map_destroy(void *self);

uint64_t bry__kbf_map_items(const void *self);

/* Finds a key. BRY_PRESENT sets *table and *code. BRY_UNSURE if more than one table claims the key.
 */
bry_answer bry__kbf_map_locate(const bry__kbf_map *map, bry_hash hash, uint32_t codes,
                               unsigned *table, uint32_t *code);

/* Frees table number i and closes the gap. */
void bry__kbf_map_drop(bry__kbf_map *map, unsigned i);

/* Puts `folded` in the place of table[0], whose shape is kept for clear if it is that of creation.
 */
void bry__kbf_map_fold_first(bry__kbf_map *map, const bry__kbf *folded);

/* The shape of the next table; false if none is possible. */
bool bry__kbf_map_next(const bry__kbf_map *map, bry__kbf *next);

/* The number of an empty table other than the first that can be freed, or 0. One such table is
 * kept, if it is no larger than the next table would be, so that a map at the boundary does not
 * create and free it repeatedly. */
unsigned bry__kbf_map_superfluous(const bry__kbf_map *map);

/* The number of halvings by which `large` becomes as small as `small`, or -1. */
int bry__kbf_map_shift(const bry__kbf *large, const bry__kbf *small);

static inline bry__kbf_shape bry__kbf_shape_of(const bry__kbf *kbf)
{
    return (bry__kbf_shape){kbf->hashes, kbf->segment};
}

/* ---- the engine's functions, by file (map_engine.h says what they do) ---------------------- */

/* kbf_change.c */
bry_status bry__kbf_map_set_n(void *self, const bry_hash *hashes, const uint32_t *codes_in,
                              size_t n, uint64_t codes, uint8_t *was);
bry_status bry__kbf_map_add_n(void *self, const bry_hash *hashes, const uint32_t *codes_in,
                              size_t n);
bry_status bry__kbf_map_del_n(void *self, const bry_hash *hashes, size_t n, uint64_t codes,
                              uint8_t *was);
bry_status bry__kbf_map_update(void *self, bry_hash hash, uint32_t code, uint64_t codes,
                               bry_answer *was);
bry_answer bry__kbf_map_del_pair(void *self, bry_hash hash, uint32_t code, uint64_t codes);

/* kbf_merge.c */
bry_status bry__kbf_map_merge(void *self, const void *other, const uint32_t *recode,
                              uint64_t codes);
bry_status bry__kbf_map_compress(void *self, double max_error, uint64_t codes);
/* After deletions: frees stuck cells of empty tables, and merges two tables that are nearly empty.
 * Optional: without memory it does nothing. */
void bry__kbf_map_settle(bry__kbf_map *map);

/* kbf_save.c */
void bry__kbf_map_write(const void *self, struct bry__frame_writer *writer);
bry_status bry__kbf_map_read(const bry_map_options *options, uint64_t codes,
                             struct bry__frame_reader *reader, const bry_allocator *allocator,
                             void **self);

#endif
