/* Truncated and damaged streams. Long streams are sampled: test_golden flips every bit of
 * small files. */
#include "conformance/object_kind.h"

#include "frame/frame_header.h"
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
