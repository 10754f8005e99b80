/* Runs generated programs on a model until enough operations were done; shared by the
 * *_programs. */
#ifndef BRY_TESTS_PROGRAMS_H
#define BRY_TESTS_PROGRAMS_H

#include "model/model.h"
#include "support/generator.h"

#include <errno.h>
#include <stdlib.h>

typedef struct programs {
    uint64_t wanted; /* operations */
    uint64_t length; /* of a program, in bytes, at most */
    uint64_t seed; /* of the next program; default 1 */
} programs;

static inline bool programs_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == 0;
}

/* From OPERATIONS LENGTH [SEED]; false after a message. */
static inline bool programs_read(programs *these, const char *name, int argc, char **argv)
{
    these->seed = 1;
    if ((argc == 3 || argc == 4) && programs_number(argv[1], &these->wanted) &&
        programs_number(argv[2], &these->length) &&
        (argc < 4 || programs_number(argv[3], &these->seed)) && these->length > 0 &&
        these->length <= 1u << 20)
        return true;
    fprintf(stderr, "usage: %s OPERATIONS LENGTH [SEED]\n", name);
    return false;
}

/*
 * Runs programs until *operations is enough, and returns the number of programs; 0 after a failure,
 * which is printed. Each program has its own seed, so that it can be repeated alone.
 */
static inline uint64_t programs_run(programs *these, const char *name, const model *which,
                                    const uint64_t *operations)
{
    uint64_t count = 0;
    bool good = true;
    uint8_t *bytes = malloc(these->length);
    for (; bytes && good && *operations < these->wanted; count++, these->seed++) {
        generator numbers = {these->seed};
        size_t len = 1 + (size_t)generator_below(&numbers, these->length);
        generator_fill(&numbers, bytes, len);
        good = model_try(which, bytes, len, stderr);
        if (!good)
            fprintf(stderr, "again: %s 1 %ju %ju\n", name, (uintmax_t)these->length,
                    (uintmax_t)these->seed);
    }
    free(bytes);
    return good ? count : 0;
}

#endif
