/*
 * The engines of a job: one row each. A job lists its rows in its …_engine.h, as a macro that
 * applies another to each row:
 *
 *     #define BRY__MAP_ENGINES(X) X(map, COMPACT, compact, "what the help says about it") …
 *
 * for engine BRY_ENGINE_COMPACT, whose calls are bry__compact_map_engine of type bry__map_engine.
 * All else that depends on the engines of a job reads the table that is made from the rows, through
 * bry_job_engine() outside of the library.
 */
#ifndef BRY_COMMON_ENGINE_ROW_H
#define BRY_COMMON_ENGINE_ROW_H

#include <bloomery/base.h>

typedef struct bry__engine_row {
    bry_engine engine; /* BRY_ENGINE_AUTO after the last row */
    const char *text;
    const void *calls;
} bry__engine_row;

#define BRY__ENGINE_EXTERN(job, number, name, text)                                                \
    extern const bry__##job##_engine bry__##name##_##job##_engine;
#define BRY__ENGINE_ROW(job, number, name, text)                                                   \
    {BRY_ENGINE_##number, text, &bry__##name##_##job##_engine},

/* The calls of an engine. NULL: the job has no such engine. */
static inline const void *bry__engine_find(const bry__engine_row *row, bry_engine engine)
{
    while (row->engine != BRY_ENGINE_AUTO && row->engine != engine)
        row++;
    return row->calls;
}

#endif
