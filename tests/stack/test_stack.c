/*
 * No call needs more than 32 KB of stack (base.h): calls on objects of one job that are large
 * enough for everything that a call may have to do, and the conformance suite, with all public
 * functions measured (stack_depth.h).
 */
#include "conformance/object_kind.h"
#include "stack/stack_depth.h"
#include "stack/stack_objects.h"

#include <stdlib.h>

enum { LIMIT = 32 * 1024 };

static const struct tested_job {
    const object_kinds *kinds;
    void (*use_large)(void);
} jobs[] = {
    {&filter_objects, use_large_filters}, {&map_objects, use_large_maps},
    {&window_objects, use_large_windows}, {&counter_objects, use_large_counters},
    {&index_objects, use_large_indexes},
};
static const struct tested_job *chosen;

TEST(test_large_objects)
{
    chosen->use_large();
}

static void run(void (*check)(const object_kind *kind))
{
    object_kinds_check(chosen->kinds, check);
}

#define CHECK(name)                                                                                \
    TEST(name)                                                                                     \
    {                                                                                              \
        run(check_##name);                                                                         \
    }
OBJECT_CHECKS(CHECK)

TEST(test_small_calls)
{
    use_small_calls();
}

static int compare_depths(const void *a, const void *b)
{
    const stack_call *x = a, *y = b;
    return (x->deepest < y->deepest) - (x->deepest > y->deepest);
}

/* Of all that this job measures: its own functions, and those of no job. */
static bool is_tested(const stack_call *call)
{
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        const char *name = jobs[j].kinds->job;
        if (strncmp(call->name + strlen("bry_"), name, strlen(name)) == 0)
            return &jobs[j] == chosen;
    }
    return true;
}

TEST(test_depths)
{
    unsigned wrong = 0;
    qsort(stack_calls, stack_call_count, sizeof *stack_calls, compare_depths);
    for (size_t i = 0; i < stack_call_count; i++) {
        const stack_call *call = &stack_calls[i];
        if (!is_tested(call))
            continue;
        print_message("%6zu bytes  %s, %ju calls\n", call->deepest, call->name,
                      (uintmax_t)call->calls);
        wrong += call->deepest > LIMIT || call->calls == 0;
    }
    assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
    for (size_t j = 0; argc > 1 && j < sizeof jobs / sizeof *jobs; j++)
        if (strcmp(argv[1], jobs[j].kinds->job) == 0)
            chosen = &jobs[j];
    return chosen ? run_all_tests(NULL, NULL) : 2;
}
