/*
 * How much stack each public function of the library uses.
 *
 * The linker replaces every public function f in the test program by __wrap_f (--wrap), which
 * stack_calls.py generates: it paints the stack below itself, calls the function, and then looks
 * for the deepest byte that is no longer painted. So what the function calls counts, the C library
 * included, and what the test itself uses does not.
 */
#ifndef BRY_TESTS_STACK_DEPTH_H
#define BRY_TESTS_STACK_DEPTH_H

#include <stddef.h>
#include <stdint.h>

typedef struct stack_call {
    const char *name;
    uint64_t calls;
    size_t deepest; /* bytes */
} stack_call;

/* All public functions (generated). */
extern stack_call stack_calls[];
extern const size_t stack_call_count;

/* Before and after a call. Public functions that the library calls itself are part of the call. Of
 * functions that are called very often, not all calls are measured, to save time. */
void stack_enter(stack_call *call);
void stack_leave(stack_call *call);

#endif
