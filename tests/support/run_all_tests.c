#include "support/cmocka_all.h"

enum { MOST_TESTS = 100 };

static registered_test *first;

/* Constructors may run in any order. */
void register_test(registered_test *test)
{
    registered_test **at = &first;
    while (*at && (*at)->line < test->line)
        at = &(*at)->next;
    test->next = *at;
    *at = test;
}

int run_all_tests(int (*set_up)(void **state), int (*tear_down)(void **state))
{
    struct CMUnitTest tests[MOST_TESTS] = {0};
    size_t count = 0;
    for (const registered_test *test = first; test; test = test->next) {
        if (count == MOST_TESTS)
            return 1;
        tests[count++] = test->test;
    }
    return count ? _cmocka_run_group_tests("tests", tests, count, set_up, tear_down) : 1;
}
