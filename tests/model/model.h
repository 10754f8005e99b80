/*
 * Model tests: bytes are a program. A model reads operations from them, carries each out on the
 * real object and on an exact twin, and says where the two part. The same bytes come from a fuzzer,
 * from a file of the corpus, or from a generator with a fixed seed.
 *
 *     create(reader)   reads the shape, makes object and twin
 *     step(reader)     reads one operation, does it to both, compares the answers
 *     check            after every step: compares all that can be seen, and what cannot
 *     destroy          also after a failure, and of what create returned, be it NULL; it may find
 *                      something wrong too, such as a leak
 *
 * Every program is valid: operands are brought into range, and past the end of the bytes come
 * zeros. The run ends when the bytes do.
 *
 * A model tells what it does by model_say(), which costs nothing unless somebody listens, and that
 * something is wrong by model_fail(), after which it returns. A failing program is shrunk by
 * model_shrink() and shown by model_show().
 */
#ifndef BRY_TESTS_MODEL_H
#define BRY_TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct model_failure {
    size_t step; /* number of operations done before the one that failed; 0 may be create too */
    char text[256];
} model_failure;

typedef struct model_reader {
    const uint8_t *bytes;
    size_t len, at;
    FILE *listener; /* NULL: nobody */
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
} model;

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

/* Fails with the condition's text. To be followed by a return where going on makes no sense. */
#define model_expect(reader, condition)                                                            \
    ((condition) ? (void)0 : model_fail((reader), "%s:%d: %s", __func__, __LINE__, #condition))

/* ---- for whoever runs them ---- */

/* True when object and twin agreed to the end. *failure is written otherwise; may be NULL. */
bool model_run(const model *which, const uint8_t *bytes, size_t len, model_failure *failure);

/*
 * Makes a failing program shorter and simpler for as long as it keeps failing: takes out chunks,
 * then single bytes, then sets bytes to zero or makes them smaller. Works in place and returns the
 * new length; the result fails. A program that does not fail is returned as it is.
 */
size_t model_shrink(const model *which, uint8_t *bytes, size_t len);

/* Prints the program as hexadecimal and as the operations it stands for, and the failure. */
void model_show(const model *which, const uint8_t *bytes, size_t len, FILE *out);

/* Runs, and when it fails shrinks a copy, shows it, and returns false. */
bool model_try(const model *which, const uint8_t *bytes, size_t len, FILE *out);

#endif
