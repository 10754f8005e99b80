/*
 * The part of cmocka's interface that the tests use, for builds for a machine whose cmocka is not
 * installed. As with cmocka, an assertion that fails ends its test, and the number of tests that
 * failed is returned.
 */
#ifndef BRY_TESTS_AARCH64_CMOCKA_H
#define BRY_TESTS_AARCH64_CMOCKA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
} CMUnitTest;

#define cmocka_unit_test(function)                                                                 \
    {                                                                                              \
#function, function, NULL, NULL                                                            \
    }
#define cmocka_unit_test_setup_teardown(function, setup, teardown)                                 \
    {                                                                                              \
#function, function, setup, teardown                                                       \
    }
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    cmocka_run_group_tests_name(#tests, tests, setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    _cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

#define print_message(...) printf(__VA_ARGS__)
#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), _fail(__FILE__, __LINE__))
#define fail() _fail(__FILE__, __LINE__)
#define cmocka_check(true_or_not, text)                                                            \
    ((true_or_not) ? (void)0 : fail_msg("%s is not true\n", text))

#define assert_true(a) cmocka_check(a, #a)
#define assert_false(a) cmocka_check(!(a), "!(" #a ")")
#define assert_null(a) cmocka_check((a) == NULL, #a " == NULL")
#define assert_non_null(a) cmocka_check((a) != NULL, #a " != NULL")
#define assert_ptr_equal(a, b) cmocka_check((a) == (b), #a " == " #b)
#define assert_ptr_not_equal(a, b) cmocka_check((a) != (b), #a " != " #b)
#define assert_string_equal(a, b) cmocka_check(strcmp(a, b) == 0, #a " == " #b)
#define assert_memory_equal(a, b, len) cmocka_check(memcmp(a, b, len) == 0, #a " == " #b)
#define assert_int_equal(a, b)                                                                     \
    cmocka_equal((uint64_t)(a), (uint64_t)(b), true, #a " == " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b)                                                                 \
    cmocka_equal((uint64_t)(a), (uint64_t)(b), false, #a " != " #b, __FILE__, __LINE__)
#define assert_in_range(a, low, high)                                                              \
    cmocka_check((uint64_t)(a) - (uint64_t)(low) <= (uint64_t)(high) - (uint64_t)(low),            \
                 #a " is from " #low " to " #high)

/* The target of a failed assertion; one for all files of a program. */
__attribute__((weak)) jmp_buf cmocka_failed;

_Noreturn static inline void _fail(const char *file, int line)
{
    fprintf(stderr, "%s:%d: failed\n", file, line);
    longjmp(cmocka_failed, 1);
}

static inline void cmocka_equal(uint64_t a, uint64_t b, bool wanted, const char *text,
                                const char *file, int line)
{
    if ((a == b) == wanted)
        return;
    fprintf(stderr, "%s: %#llx and %#llx\n", text, (unsigned long long)a, (unsigned long long)b);
    _fail(file, line);
}

/* False if it failed, including set-up and teardown. */
static inline bool cmocka_passes(const CMUnitTest *test, void *state)
{
    if (setjmp(cmocka_failed))
        return false;
    if (test->setup && test->setup(&state) != 0)
        return false;
    test->run(&state);
    return !test->teardown || test->teardown(&state) == 0;
}

static inline int _cmocka_run_group_tests(const char *group, const CMUnitTest *tests, size_t count,
                                          int (*setup)(void **), int (*teardown)(void **))
{
    int failed = 0;
    void *state = NULL;
    if (setup && setup(&state) != 0)
        return 1;
    for (size_t i = 0; i < count; i++) {
        bool passed = cmocka_passes(&tests[i], state);
        printf("%s: %s %s\n", group, tests[i].name, passed ? "passed" : "FAILED");
        fflush(stdout);
        failed += !passed;
    }
    return failed + (teardown && teardown(&state) != 0);
}

#endif
