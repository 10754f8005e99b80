/* One-line calls of the engine kbf for tests, which assert that they succeed. */
#ifndef BRY_TESTS_KBF_HELPERS_H
#define BRY_TESTS_KBF_HELPERS_H

#include "frame/frame.h"
#include "map/kbf/kbf_map.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/key_by_number.h"

#include <stdlib.h>
#include <string.h>

static const bry__map_engine *engine = &bry__kbf_map_engine;

enum { CODES = 1000 };

static inline uint32_t code_of(uint64_t i)
{
    return (uint32_t)(i * 7 % CODES);
}

static inline bry_map_options options_of(uint64_t capacity, double error, bool fixed)
{
    return (bry_map_options){
        .struct_size = sizeof(bry_map_options),
        .engine = BRY_ENGINE_KBF,
        .capacity = capacity,
        .error = error,
        .fixed = fixed,
        .values = CODES,
        .seed = 1,
    };
}

static inline bry__kbf_map *make(bry_map_options options)
{
    bry_allocator allocator = bry__allocator_or_default(options.allocator);
    void *map = NULL;
    assert_int_equal(engine->create(&options, &allocator, &map), BRY_OK);
    return map;
}

static inline bry_map_stats stats_of(const void *map)
{
    bry_map_stats stats = {0};
    engine->stats(map, CODES, &stats);
    stats.bytes_keys = engine->bytes(map);
    return stats;
}

static inline void insert(void *map, uint64_t from, uint64_t n)
{
    for (uint64_t i = from; i < from + n; i++) {
        bry_hash hash = key(i);
        uint32_t code = code_of(i);
        assert_int_equal(engine->add_n(map, &hash, &code, 1), BRY_OK);
    }
}

/* The map as frames, to compare maps bit by bit. */
static inline bry_buffer image_of(const void *map)
{
    bry_buffer image = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&image);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, BRY__FOUR('T', 'E', 'S', 'T'), 1, 1);
    engine->write(map, &writer);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    return image;
}

static inline bool same_image(const void *map, const bry_buffer *image)
{
    bry_buffer now = image_of(map);
    bool same = now.len == image->len && memcmp(now.bytes, image->bytes, now.len) == 0;
    bry_buffer_free(&now);
    return same;
}

#endif
