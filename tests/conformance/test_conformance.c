/* Runs the checks of object_kind.h on the kinds of one job, or of all. */
#include "conformance/object_kind.h"

#include <stdio.h>

static const object_kinds *const jobs[] = {&filter_objects, &map_objects, &window_objects,
                                           &counter_objects, &index_objects};
static const char *chosen; /* NULL: all */

static void run(void (*check)(const object_kind *kind))
{
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++)
        if (!chosen || strcmp(chosen, jobs[j]->job) == 0)
            object_kinds_check(jobs[j], check);
}

#define CHECK(name)                                                                                \
    TEST(name)                                                                                     \
    {                                                                                              \
        run(check_##name);                                                                         \
    }

OBJECT_CHECKS(CHECK)

int main(int argc, char **argv)
{
    chosen = argc > 1 ? argv[1] : NULL;
    return run_all_tests(NULL, NULL);
}
