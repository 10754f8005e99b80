/*
 * The interface between the filter and its engines.
 *
 * The facade (filter.c) checks options and keeps what every filter has; an engine keeps the rest,
 * in its member of bry_filter's union.
 *
 * Rules for every function here: a failed call changes nothing, and writes nothing through its
 * out-pointers; memory comes from filter->allocator.
 */
#ifndef BRY_FILTER_FILTER_ENGINE_H
#define BRY_FILTER_FILTER_ENGINE_H

#include "common/engine_row.h"
#include "filter/filter_object.h"

struct bry__frame_writer;
struct bry__frame_reader;

/* The frame NUMS. */
typedef struct bry__filter_numbers {
    uint32_t engine, hashes;
    uint64_t blocks, capacity, items;
    double error;
    uint64_t pieces; /* how many PIEC frames follow */
} bry__filter_numbers;

typedef struct bry__filter_engine {
    bry_engine engine;
    size_t size; /* bytes of a bry_filter with this engine */

    /* Fills the shape except engine and capacity; bytes are the table's, without bry_filter.
     * UNSUPPORTED: an option that the engine does not have. RANGE. */
    bry_status (*plan)(const bry_filter_options *options, bry_filter_shape *shape);

    /* Makes the engine's part of a filter; frees it; makes it as a copy; removes all keys. NOMEM
     * from init and clone. */
    bry_status (*init)(bry_filter *filter, const bry_filter_options *options);
    void (*free)(bry_filter *filter);
    bry_status (*clone)(const bry_filter *filter, bry_filter *copy);
    void (*clear)(bry_filter *filter);
    /* Whether it accepts no more than its capacity. */
    bool (*is_fixed)(const bry_filter *filter);
    /* Sets capacity, error and what else creates a filter of the same shape. */
    void (*like)(const bry_filter *filter, bry_filter_options *options);

    bool (*has)(const bry_filter *filter, bry_hash hash);
    void (*has_n)(const bry_filter *filter, const bry_hash *hashes, size_t n, uint8_t *answers);
    /* Sets *was. NOMEM; FULL if the key is new and a fixed filter is at its capacity. */
    bry_status (*add)(bry_filter *filter, bry_hash hash, bool *was);
    /* All or nothing; the facade has checked that they fit a fixed filter. was may be NULL. NOMEM;
     * FULL. */
    bry_status (*add_n)(bry_filter *filter, const bry_hash *hashes, size_t n, uint8_t *was);
    /* Whether it was there. NULL: not supported. Never fails. */
    bool (*del)(bry_filter *filter, bry_hash hash);
    /* Both have the same engine and seed. MISMATCH, FULL, NOMEM. */
    bry_status (*merge)(bry_filter *into, const bry_filter *from);

    uint64_t (*items)(const bry_filter *filter);
    uint64_t (*bytes)(const bry_filter *filter); /* of the table; constant time */
    /* Sets bits, hashes, fill, estimated_error, tables. */
    void (*stats)(const bry_filter *filter, bry_filter_stats *stats);

    /* The numbers except engine, and the frames that follow them; failures stick to the writer. */
    void (*numbers)(const bry_filter *filter, bry__filter_numbers *numbers);
    void (*write)(const bry_filter *filter, struct bry__frame_writer *writer);
    /* Reads the engine's part, with full validation and up to the end of the stream; reports
     * failures to the reader, and leaves no table then. Capacity and error have been checked. */
    bry_status (*read)(bry_filter *filter, const bry__filter_numbers *numbers,
                       struct bry__frame_reader *reader);
} bry__filter_engine;

/* The engines, in the order of help texts and tests. */
#define BRY__FILTER_ENGINES(X)                                                                     \
    X(filter, BLOOM, bloom,                                                                        \
      "A Bloom filter in blocks of one cache line: fastest, for a fixed capacity.")                \
    X(filter, COMPACT, compact,                                                                    \
      "Stores a fingerprint per item: least memory, grows, supports deletion.")
BRY__FILTER_ENGINES(BRY__ENGINE_EXTERN)
extern const bry__engine_row bry__filter_engines[];

#endif
