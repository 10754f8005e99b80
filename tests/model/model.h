/*
 * Model tests: bytes are a program. A model reads operations from them, applies each to the real
 * object and to an exact twin, and reports where the two differ. The same bytes come from a fuzzer,
 * from a file of the corpus, or from a generator with a fixed seed.
 *
 *     create(reader)   reads the shape, makes object and twin
 *     step(reader)     reads one operation, does it to both, compares the answers
 *     check            after every step: compares all that can be seen, and what cannot
 *     destroy          also after a failure, and of what create returned, be it NULL; it may find
 *                      something wrong too, such as a leak
 *
 * Every program is valid: operands are reduced to their range, and bytes past the end read as 0.
 * The run ends with the bytes.
 *
 * A model describes its operations by model_say(), which costs nothing unless they are printed, and
 * reports errors by model_fail(), after which it returns. A failing program is shrunk by
 * model_shrink() and shown by model_show().
 */
#ifndef BRY_TESTS_MODEL_H
#define BRY_TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct model_failure {
    size_t step; /* number of operations before the one that failed; 0: perhaps create */
    char text[256];
} model_failure;

typedef struct model_reader {
    const uint8_t *bytes;
    size_t len, at;
    FILE *listener; /* NULL: not printed */
    bool failed;
    size_t step;
    model_failure *failure;
} model_reader;

typedef struct model {
    const char *name;
    void *(*create)(model_reader *reader);
    void (*step)(void *state, model_reader *reader);
    void (*check)(void *state, model_reader *reader);
    void (*destroy)(void *state, model_reader *reader);
    /* For generated programs: the operations since the start; and, unless it is NULL, what prints more
     * about them. False: too little of something, or too many errors. */
    const uint64_t *operations;
    bool (*report)(uint64_t programs, uint64_t wanted);
} model;

extern const model counter_model, filter_model, index_model, map_model, maplet_model, window_model;

/* ---- for models ---- */

/* The next byte; 0 past the end. */
uint8_t model_byte(model_reader *reader);

/* The next two bytes, the lower first. */
unsigned model_pair(model_reader *reader);

/* A number below range (1 to 256), from one byte. */
unsigned model_below(model_reader *reader, unsigned range);

__attribute__((format(printf, 2, 3))) void model_say(model_reader *reader, const char *format, ...);
__attribute__((format(printf, 2, 3))) void model_fail(model_reader *reader, const char *format,
                                                      ...);

/* Fails with the text of the condition. Add a return if the step cannot go on. */
#define model_expect(reader, condition)                                                            \
    ((condition) ? (void)0 : model_fail((reader), "%s:%d: %s", __func__, __LINE__, #condition))

/* ---- running programs ---- */

/* True if object and twin agree to the end. Otherwise *failure, which may be NULL, is set. */
bool model_run(const model *which, const uint8_t *bytes, size_t len, model_failure *failure);

/*
 * Shrinks a failing program while it keeps failing: removes chunks, then single bytes, then sets
 * bytes to zero or smaller values. Works in place and returns the new length; the result fails. A
 * program that does not fail is unchanged.
 */
size_t model_shrink(const model *which, uint8_t *bytes, size_t len);

/* Prints the program in hexadecimal and as operations, and the failure. */
void model_show(const model *which, const uint8_t *bytes, size_t len, FILE *out);

/* Runs the program. If it fails, shrinks and prints a copy and returns false. */
bool model_try(const model *which, const uint8_t *bytes, size_t len, FILE *out);

#endif
