/* Function attributes. */
#ifndef BRY_COMMON_ATTRIBUTES_H
#define BRY_COMMON_ATTRIBUTES_H

/*
 * Rarely called: kept out of its callers, which then need fewer registers. This matters on the path
 * of a look-up: while the processor waits for one key's memory it executes ahead into the next key,
 * by about two hundred instructions.
 */
#define BRY__COLD __attribute__((noinline, cold))

/* Has a large frame: kept out of its callers, which would need that much stack for other calls. */
#define BRY__LARGE_FRAME __attribute__((noinline))

/* For functions that only prefetch. The compiler considers a call of such a function to have no
 * effect and removes it, unless the function is inlined. */
#define BRY__PREFETCHING static inline __attribute__((always_inline))

/* The same for such functions in other files, if the compiler optimizes across files: a statement
 * for their bodies. */
#define BRY__PREFETCHES() __asm__ volatile("")

#endif
