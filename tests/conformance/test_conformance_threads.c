/*
 * Operations on a const object may run concurrently. The thread sanitizer checks this (ctest label
 * thread); without it, the answers are still compared.
 */
#include "conformance/object_kind.h"
#include "support/crew.h"

static const object_kinds *const jobs[] = {&filter_objects, &map_objects, &window_objects,
                                           &counter_objects, &index_objects};

/* ---- the kernels --------------------------------------------------------------------------- */

typedef struct isas {
    crew crew;
    const char *isa[CREW];
} isas;

static void *ask_isa(void *opaque)
{
    isas *all = opaque;
    unsigned number = crew_meet(&all->crew);
    all->isa[number] = bry_isa();
    return NULL;
}

/* Must be the first test of this program, before anything has selected a kernel. */
TEST(test_first_use_of_the_kernels)
{
    static isas all;
    crew_run(&all.crew, ask_isa, &all);
    for (int i = 0; i < CREW; i++)
        assert_string_equal(all.isa[i], bry_isa());
}

/* ---- objects ------------------------------------------------------------------------------- */

enum { LOOKS = 12 };

typedef struct shared {
    crew crew;
    const object_kind *kind;
    const void *object;
    bry_buffer saved;
    size_t looks;
    bry_buffer seen[LOOKS]; /* by each look */
} shared;

static bool same(bry_buffer now, const bry_buffer *expected)
{
    bool equal = now.len == expected->len && memcmp(now.bytes, expected->bytes, now.len) == 0;
    bry_buffer_free(&now);
    return equal;
}

static bool saves_as(const object_kind *kind, const void *object, const bry_buffer *expected)
{
    bry_buffer now = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&now);
    bool saved = bry_job_save(kind->job, object, &sink, NULL) == BRY_OK;
    return same(now, expected) && saved;
}

static bool clones(const shared *all)
{
    void *copy = NULL;
    bool good = bry_job_clone(all->kind->job, all->object, NULL, &copy) == BRY_OK &&
                saves_as(all->kind, copy, &all->saved);
    bry_job_destroy(all->kind->job, copy);
    return good;
}

/* Thread 0 does one operation while thread 1 does the next, and so on. */
static void *ask_everything(void *opaque)
{
    shared *all = opaque;
    unsigned number = crew_meet(&all->crew), wrong = 0;
    for (size_t round = 0; round < 2 * (all->looks + 2); round++) {
        size_t which = (number + round) % (all->looks + 2);
        bry_buffer seen = BRY_BUFFER;
        if (which == all->looks) {
            wrong += !saves_as(all->kind, all->object, &all->saved);
        } else if (which > all->looks) {
            wrong += !clones(all);
        } else {
            all->kind->looks[which](all->object, &seen);
            wrong += !same(seen, &all->seen[which]);
        }
    }
    atomic_fetch_add(&all->crew.wrong, wrong);
    return NULL;
}

static void check_threads(const object_kind *kind)
{
    static shared all;
    void *object = object_make(kind, NULL);
    all = (shared){.kind = kind, .object = object, .saved = job_saved(kind->job, object)};
    for (; kind->looks[all.looks]; all.looks++) {
        assert_true(all.looks < LOOKS);
        kind->looks[all.looks](object, &all.seen[all.looks]);
    }
    uint64_t bytes = bry_job_bytes(kind->job, object);
    crew_run(&all.crew, ask_everything, &all);
    assert_int_equal(bry_job_bytes(kind->job, object), bytes);
    for (size_t i = 0; i < all.looks; i++)
        bry_buffer_free(&all.seen[i]);
    bry_buffer_free(&all.saved);
    bry_job_destroy(kind->job, object);
}

TEST(test_readers_side_by_side)
{
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++)
        object_kinds_check(jobs[j], check_threads);
}
