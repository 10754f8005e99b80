/*
 * cmocka.h with the headers that it requires before it, and tests that register themselves:
 *
 *     TEST(name) { … }                      a test of the program
 *     TEST_WITH(name, set_up, tear_down)    the same, between two functions (either may be NULL)
 *
 * A program runs its tests in the order of their lines. It needs no main(), unless it takes
 * arguments or prepares something: then main() calls run_all_tests().
 */
#ifndef BRY_TESTS_CMOCKA_ALL_H
#define BRY_TESTS_CMOCKA_ALL_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

typedef struct registered_test {
    struct CMUnitTest test;
    int line;
    struct registered_test *next;
} registered_test;

void register_test(registered_test *test);

/* Runs all tests between set_up and tear_down, which may be NULL. Returns how many failed. */
int run_all_tests(int (*set_up)(void **state), int (*tear_down)(void **state));

#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void register_##name(void)                                 \
    {                                                                                              \
        static registered_test entry = {                                                           \
            .test = cmocka_unit_test_setup_teardown(name, set_up, tear_down), .line = __LINE__};   \
        register_test(&entry);                                                                     \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

#define TEST(name) TEST_WITH(name, NULL, NULL)

#endif
