/* Truncated, damaged and forged streams. Long streams are sampled: test_golden flips every bit of
 * small files. */
#include "conformance/object_kind.h"

#include "common/endian.h"
#include "frame/frame_header.h"
#include "support/generator.h"
#include "support/repair.h"

#include <stdlib.h>

/* The numbers that describe an object are at the front: every byte there, then this many more. */
static size_t next_place(size_t at, size_t len)
{
    enum { FRONT = 500, MORE = 400 };
    return at + (at < FRONT ? 1 : 1 + len / MORE);
}

/* A load that must fail: with a problem, without an object and without a leak. The block has
 * exactly this size, for the address sanitizer. */
static bry_status refused(const object_kind *kind, const unsigned char *bytes, size_t len)
{
    unsigned char *copy = malloc(len + !len);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_load how = BRY_LOAD;
    how.allocator = &memory.allocator;
    void *loaded;
    bry_status status = job_load_bytes(kind->job, copy, len, &how, &loaded);
    assert_null(loaded);
    assert_non_null(how.problem);
    assert_true(how.offset <= len);
    assert_int_equal(memory.blocks, 0);
    free(copy);
    return status;
}

static bry_buffer saved_filled(const object_kind *kind)
{
    void *object = object_make(kind, NULL);
    bry_buffer saved = job_saved(kind->job, object);
    bry_job_destroy(kind->job, object);
    return saved;
}

void check_truncated(const object_kind *kind)
{
    if (kind->large)
        return;
    bry_buffer saved = saved_filled(kind);
    for (size_t len = 0; len < saved.len; len = next_place(len, saved.len))
        assert_int_equal(refused(kind, saved.bytes, len), BRY_E_BADDATA);
    bry_buffer_free(&saved);
}

void check_flipped(const object_kind *kind)
{
    if (kind->large)
        return;
    bry_buffer saved = saved_filled(kind);
    for (size_t at = 0; at < saved.len; at = next_place(at, saved.len)) {
        unsigned char bit = (unsigned char)(1u << at % 8);
        saved.bytes[at] ^= bit;
        assert_int_equal(refused(kind, saved.bytes, saved.len), BRY_E_BADDATA);
        saved.bytes[at] ^= bit;
    }
    bry_buffer_free(&saved);
}

/* Another kind, version, format or hash scheme in a header with a correct checksum. */
void check_other_header(const object_kind *kind)
{
    enum { FORMAT = 8, SCHEME = 10, KIND = 12, VERSION = 16 };
    bry_buffer saved = saved_filled(kind);
    static const struct {
        unsigned at;
        bry_status status;
    } fields[] = {{FORMAT, BRY_E_VERSION},
                  {SCHEME, BRY_E_VERSION},
                  {KIND, BRY_E_BADDATA},
                  {VERSION, BRY_E_VERSION}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        unsigned char *field = saved.bytes + fields[i].at;
        field[0]++;
        repair_stream(saved.bytes, saved.len);
        assert_int_equal(refused(kind, saved.bytes, saved.len), fields[i].status);
        field[0]--;
    }
    repair_stream(saved.bytes, saved.len);
    for (bry_job job = 0; bry_job_name(job); job++) {
        void *loaded;
        bry_load how = BRY_LOAD;
        assert_int_equal(job_load_bytes(job, saved.bytes, saved.len, &how, &loaded),
                         job == kind->job ? BRY_OK : BRY_E_BADDATA);
        bry_job_destroy(job, loaded);
    }
    bry_buffer_free(&saved);
}

/* What was loaded can be used within the memory limit, and saved and loaded again. */
static void use_forged(const object_kind *kind, void *object)
{
    bry_buffer answers = BRY_BUFFER;
    kind->use(object, &answers);
    kind->looks[0](object, &answers);
    bry_buffer_free(&answers);
    bry_buffer saved = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&saved);
    bry_status status = bry_job_save(kind->job, object, &sink, NULL);
    void *again = NULL;
    if (status == BRY_OK)
        status = job_load_bytes(kind->job, saved.bytes, saved.len, NULL, &again);
    assert_true(status == BRY_OK || status == BRY_E_NOMEM);
    bry_job_destroy(kind->job, again);
    bry_buffer_free(&saved);
}

/* Changes the byte at `at`, and up to two others, mostly near the front. */
static void forge_bytes(unsigned char *bytes, size_t len, size_t at, unsigned others,
                        generator *numbers)
{
    bytes[at] ^= (unsigned char)(1 + generator_below(numbers, 255));
    for (unsigned i = 0; i < others; i++) {
        uint64_t range = len - BRY__HEADER_BYTES;
        at = BRY__HEADER_BYTES + (size_t)generator_below(numbers, i || range < 400 ? range : 400);
        bytes[at] = (unsigned char)generator_next(numbers);
    }
}

/* Changed bytes with correct checksums: loading succeeds or fails, within the memory limit. */
void check_forged(const object_kind *kind)
{
    enum { LIMIT = 1 << 20 };
    if (kind->large)
        return;
    bry_buffer saved = saved_filled(kind);
    unsigned char *forged = malloc(saved.len);
    assert_non_null(forged);
    generator numbers = {11};
    unsigned taken = 0, tried = 0;
    for (size_t at = BRY__HEADER_BYTES; at < saved.len; at = next_place(at, saved.len)) {
        memcpy(forged, saved.bytes, saved.len);
        forge_bytes(forged, saved.len, at, tried % 4 ? 0 : 1 + tried / 4 % 2, &numbers);
        repair_stream(forged, saved.len);
        failing_allocator memory;
        failing_allocator_init(&memory);
        memory.limit = OBJECT_LIMIT;
        bry_load how = BRY_LOAD;
        how.allocator = &memory.allocator;
        how.max_bytes = LIMIT;
        void *loaded;
        bry_status status = job_load_bytes(kind->job, forged, saved.len, &how, &loaded);
        tried++;
        taken += status == BRY_OK;
        assert_true(memory.peak <= most_while_loading(kind, LIMIT));
        if (status == BRY_OK)
            use_forged(kind, loaded);
        else
            assert_true(how.problem && (status == BRY_E_BADDATA || status == BRY_E_LIMIT));
        bry_job_destroy(kind->job, loaded);
        assert_int_equal(memory.blocks, 0);
    }
    assert_true(taken > 0 && taken < tried); /* most bytes are fingerprints or bits */
    free(forged);
    bry_buffer_free(&saved);
}
