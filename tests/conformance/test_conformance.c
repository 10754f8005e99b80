/* Runs the checks of object_kind.h on the kinds of one job, or of all. */
#include "conformance/object_kind.h"

#include <stdio.h>

static const kept_kinds *const jobs[] = {&kept_filters, &kept_maps, &kept_windows, &kept_counters,
                                         &kept_indexes};
static const char *chosen; /* NULL: all */

static void run(void (*check)(const kept_kind *kind))
{
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++)
        for (size_t i = 0; i < jobs[j]->count; i++)
            if (!chosen || strcmp(chosen, jobs[j]->job) == 0) {
                print_message("  %s\n", jobs[j]->kind[i].name);
                check(&jobs[j]->kind[i]);
            }
}

#define KEPT_TEST(name)                                                                            \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        run(kept_check_##name);                                                                    \
    }

KEPT_TEST(round_trip)
KEPT_TEST(empty)
KEPT_TEST(files)
KEPT_TEST(ceiling)
KEPT_TEST(sink_refuses)
KEPT_TEST(truncated)
KEPT_TEST(flipped)
KEPT_TEST(other_header)
KEPT_TEST(forged)
KEPT_TEST(failing_create)
KEPT_TEST(failing_clone)
KEPT_TEST(failing_save)
KEPT_TEST(failing_load)
KEPT_TEST(failing_operations)

int main(int argc, char **argv)
{
    chosen = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),    cmocka_unit_test(empty),
        cmocka_unit_test(files),         cmocka_unit_test(ceiling),
        cmocka_unit_test(sink_refuses),  cmocka_unit_test(truncated),
        cmocka_unit_test(flipped),       cmocka_unit_test(other_header),
        cmocka_unit_test(forged),        cmocka_unit_test(failing_create),
        cmocka_unit_test(failing_clone), cmocka_unit_test(failing_save),
        cmocka_unit_test(failing_load),  cmocka_unit_test(failing_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
