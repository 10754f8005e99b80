/* How many parts a directory of an index has, for tests that count files. */
#ifndef BRY_TESTS_INDEX_PARTS_COUNT_H
#define BRY_TESTS_INDEX_PARTS_COUNT_H

#include "index/index_object.h"

static inline uint64_t index_parts_count(const bry_index *index)
{
    const bry__index_engine *engine = index->engine;
    void *saving = NULL;
    if (engine->begin_parts && engine->begin_parts(index->elements, &saving) != BRY_OK)
        return UINT64_MAX;
    uint64_t parts = engine->parts(index->elements, saving);
    if (saving)
        engine->end_parts(saving);
    return parts;
}

#endif
