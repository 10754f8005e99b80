/* cmocka.h with what it wants to have been included before it: the order matters. */
#ifndef BRY_TESTS_CMOCKA_ALL_H
#define BRY_TESTS_CMOCKA_ALL_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* TEST(name) { … } is a test that needs nothing of cmocka's state. */
#define TEST(name) static void name(void **state __attribute__((unused)))

#endif
