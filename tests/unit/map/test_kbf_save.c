/* The engine kbf as frames, and as altered frames. */
#include "support/altered_file.h"
#include "support/kbf_helpers.h"

static bry_status load(const bry_map_options *options, const bry_buffer *image, bry_load *how,
                       void **map)
{
    bry_view view = {image->bytes, image->len, 0};
    bry_source source = bry_view_source(&view);
    bry_allocator allocator = bry__allocator_or_default(how ? how->allocator : NULL);
    bry__frame_reader reader;
    void *read = NULL;
    bry_status status =
        bry__frame_reader_open(&reader, &source, how, BRY__FOUR('T', 'E', 'S', 'T'), 1);
    if (status == BRY_OK)
        status = engine->read(options, CODES, &reader, &allocator, &read);
    if (status == BRY_OK)
        status = bry__frame_reader_end(&reader);
    bry__frame_reader_close(&reader);
    if (status == BRY_OK)
        *map = read;
    else if (read)
        engine->destroy(read);
    return status;
}

/* Tables that do not match the options. */
TEST(test_other_options)
{
    bry_map_options options = options_of(30, 0.1, false);
    bry__kbf_map *map = make(options);
    insert(map, 0, 70);
    assert_true(map->tables > 1);
    bry_buffer image = image_of(map);
    options.fixed = true; /* which never has two tables */
    void *read;
    assert_int_equal(load(&options, &image, NULL, &read), BRY_E_BADDATA);
    options.fixed = false;
    options.values = CODES - 500; /* fewer codes than the keys may carry */
    assert_int_equal(load(&options, &image, NULL, &read), BRY_E_BADDATA);
    bry_buffer_free(&image);
    engine->destroy(map);
}

/* Where the payload of the first frame of this type is. */
static size_t frame_at(const bry_buffer *image, const char *type)
{
    for (size_t at = BRY__HEADER_BYTES; at + FRAME_HEAD <= image->len; at++)
        if (memcmp(image->bytes + at, type, 4) == 0)
            return at + FRAME_HEAD;
    fail();
    return 0;
}

static bry_status load_forged(const bry_map_options *options, const bry_buffer *image,
                              altered_number number, const bry_allocator *allocator, void **map)
{
    bry_buffer forged = {malloc(image->len), image->len, image->len};
    memcpy(forged.bytes, image->bytes, image->len);
    alter(&forged, &number);
    bry_load how = BRY_LOAD;
    how.allocator = allocator;
    bry_status status = load(options, &forged, &how, map);
    free(forged.bytes);
    return status;
}

/* A few forged bytes cannot make a map that takes far more memory than its options. */
TEST(test_forged_sizes)
{
    bry_map_options options = options_of(30, 0.1, false);
    bry__kbf_map *map = make(options);
    bry_buffer image = image_of(map);
    void *read;
    size_t at = frame_at(&image, "KTAB");
    altered_number segment = {at, 8, 2 * map->table[0].segment, NULL},
                   error = {at + 24, 8, 0, NULL};
    for (; segment.value < (uint64_t)1 << 40; segment.value *= 2)
        assert_int_equal(load_forged(&options, &image, segment, NULL, &read), BRY_E_BADDATA);
    for (; error.value < (uint64_t)990 << 52; error.value += (uint64_t)10 << 52) /* next to none */
        assert_int_equal(load_forged(&options, &image, error, NULL, &read), BRY_E_BADDATA);

    /* Nor can a forged capacity of a table: growth follows the plan. */
    failing_allocator memory;
    failing_allocator_init(&memory);
    altered_number capacity = {at + 8, 8, 1, NULL};
    assert_int_equal(load_forged(&options, &image, capacity, &memory.allocator, &read), BRY_OK);
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < 64 && status == BRY_OK; i++) {
        bry_hash hash = key(i);
        uint32_t code = code_of(i);
        status = engine->add_n(read, &hash, &code, 1);
    }
    assert_true(memory.peak < (uint64_t)8 << 20);
    bry_buffer_free(&image);
    engine->destroy(read);
    engine->destroy(map);
}

/* Nor can another number of hashes, which would make every further table larger. */
TEST(test_forged_hashes)
{
    bry_map_options planned = options_of(6, 1e-6, false), exact = planned;
    exact.kbf.cells = 1188;
    exact.kbf.hashes = 27;
    const bry_map_options *each[] = {&planned, &exact};
    for (int i = 0; i < 2; i++) {
        bry__kbf_map *map = make(*each[i]);
        bry_buffer image = image_of(map);
        void *read = NULL;
        unsigned own = map->table[0].hashes;
        altered_number hashes = {frame_at(&image, "KBF ") + 4, 4, own, NULL};
        assert_int_equal(load_forged(each[i], &image, hashes, NULL, &read), BRY_OK);
        engine->destroy(read);
        for (hashes.value = 1; hashes.value < own; hashes.value++)
            if (i == 1 || hashes.value <= own / 2)
                assert_int_equal(load_forged(each[i], &image, hashes, NULL, &read), BRY_E_BADDATA);
        bry_buffer_free(&image);
        engine->destroy(map);
    }
}

/* At most one empty table exists, so a second one is not loaded. */
TEST(test_empty_tables)
{
    bry_map_options options = options_of(30, 0.1, false);
    bry__kbf_map *map = make(options);
    enum { N = 700 };
    insert(map, 0, N);
    assert_true(map->tables > 4);
    for (uint64_t i = N; i-- > 0;) {
        bry_hash hash = key(i);
        engine->del_pair(map, hash, code_of(i), CODES);
        unsigned empty = 0;
        for (unsigned t = 1; t < map->tables; t++)
            empty += map->table[t].items == 0;
        assert_true(empty <= 1);
        if (i % 50)
            continue;
        bry_buffer image = image_of(map);
        void *read;
        assert_int_equal(load(&options, &image, NULL, &read), BRY_OK);
        assert_true(same_image(read, &image));
        engine->destroy(read);
        bry_buffer_free(&image);
    }
    bry__kbf like;
    assert_true(bry__kbf_map_next(map, &like));
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(bry__kbf_init(&map->table[map->tables++], &like, &map->allocator), BRY_OK);
    bry_buffer image = image_of(map);
    void *read;
    assert_int_equal(load(&options, &image, NULL, &read), BRY_E_BADDATA);
    bry_buffer_free(&image);
    engine->destroy(map);
}
