/* Indexes of engine dba in which unit u has the elements 1000 · u to 1000 · u + n - 1. */
#ifndef BRY_TESTS_DBA_HELPERS_H
#define BRY_TESTS_DBA_HELPERS_H

#include "index/dba/dba_index.h"
#include "index/index_object.h"
#include "support/cmocka_all.h"

static inline bry_hash element(uint64_t i)
{
    return bry_hash_key(3, &i, sizeof i);
}

static inline bry_index *make(bry_index_options options)
{
    bry_index *index = NULL;
    options.struct_size = sizeof options;
    options.engine = BRY_ENGINE_DBA;
    options.seed = 3;
    assert_int_equal(bry_index_create(&options, &index), BRY_OK);
    return index;
}

/* The supplier of such an index; `opaque` points to n. */
static inline bry_status supply(void *opaque, uint32_t unit, uint64_t tag, uint64_t from,
                                bry_hash *hashes, size_t room, size_t *got)
{
    uint64_t n = *(const uint64_t *)opaque;
    (void)tag;
    for (*got = 0; *got < room && from + *got < n; ++*got)
        hashes[*got] = element(1000 * (uint64_t)unit + from + *got);
    return BRY_OK;
}

static inline void fill(bry_index *index, uint32_t units, uint64_t n)
{
    for (uint32_t u = 0; u < units; u++) {
        uint32_t unit = 0;
        assert_int_equal(bry_index_open(index, 0, &unit), BRY_OK);
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(
                bry_index_add(index, element(1000 * (uint64_t)unit + i), unit, NULL, NULL), BRY_OK);
    }
}

#endif
