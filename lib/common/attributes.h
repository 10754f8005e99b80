/*
 * What the compiler is told about a function where it cannot know by itself.
 */
#ifndef BRY_COMMON_ATTRIBUTES_H
#define BRY_COMMON_ATTRIBUTES_H

/*
 * Hardly ever called: kept out of its callers, which then need fewer registers. The path of a
 * look-up is worth that: while the processor waits for one key's memory it runs ahead to the next
 * key, and it comes as far as some two hundred instructions.
 */
#define BRY__COLD __attribute__((noinline, cold))

/* Only prefetches: the compiler takes a call of such a function for one without effect, and drops
 * it; not so what it must put into the caller. */
#define BRY__PREFETCHING static inline __attribute__((always_inline))

#endif
