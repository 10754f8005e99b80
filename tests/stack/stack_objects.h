/* Calls on large objects of each job and engine, for test_stack.c. */
#ifndef BRY_TESTS_STACK_OBJECTS_H
#define BRY_TESTS_STACK_OBJECTS_H

void use_large_filters(void);
void use_large_maps(void);
void use_large_windows(void);
void use_large_counters(void);
void use_large_indexes(void);
/* What belongs to no job. */
void use_small_calls(void);

#endif
