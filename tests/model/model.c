#include "model/model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

uint8_t model_byte(model_reader *reader)
{
    return reader->at < reader->len ? reader->bytes[reader->at++] : 0;
}

unsigned model_pair(model_reader *reader)
{
    unsigned low = model_byte(reader);
    return low | (unsigned)model_byte(reader) << 8;
}

unsigned model_below(model_reader *reader, unsigned range)
{
    return model_byte(reader) % range;
}

void model_say(model_reader *reader, const char *format, ...)
{
    if (!reader->listener)
        return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(reader->listener, "  %3zu  ", reader->step);
    vfprintf(reader->listener, format, arguments);
    fputc('\n', reader->listener);
    va_end(arguments);
}

void model_fail(model_reader *reader, const char *format, ...)
{
    if (reader->failed)
        return; /* only the first failure counts */
    reader->failed = true;
    reader->failure->step = reader->step;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->failure->text, sizeof reader->failure->text, format, arguments);
    va_end(arguments);
}

static bool run(const model *which, model_reader *reader)
{
    void *state = which->create(reader);
    if (!reader->failed)
        which->check(state, reader);
    while (!reader->failed && reader->at < reader->len) {
        reader->step++;
        size_t before = reader->at;
        which->step(state, reader);
        if (reader->at == before)
            reader->at++; /* a step that reads nothing would repeat forever */
        if (!reader->failed)
            which->check(state, reader);
    }
    which->destroy(state, reader);
    return !reader->failed;
}

bool model_run(const model *which, const uint8_t *bytes, size_t len, model_failure *failure)
{
    model_failure unread = {0};
    model_reader reader = {.bytes = bytes, .len = len, .failure = failure ? failure : &unread};
    return run(which, &reader);
}

/* ---- shrinking ---- */

typedef struct shrink_state {
    const model *which;
    uint8_t *bytes, *tried;
    size_t len;
    size_t runs_left; /* bounds the time of shrinking */
} shrink_state;

/* Whether tried[0 … len) fails too; if so, it replaces the program. */
static bool keep_if_failing(shrink_state *work, size_t len)
{
    if (work->runs_left == 0)
        return false;
    work->runs_left--;
    if (model_run(work->which, work->tried, len, NULL))
        return false;
    memcpy(work->bytes, work->tried, len);
    work->len = len;
    return true;
}

static bool delete_chunks(shrink_state *work, size_t chunk)
{
    bool shorter = false;
    for (size_t at = 0; at < work->len;) {
        size_t cut = work->len - at < chunk ? work->len - at : chunk;
        memcpy(work->tried, work->bytes, at);
        memcpy(work->tried + at, work->bytes + at + cut, work->len - at - cut);
        if (keep_if_failing(work, work->len - cut))
            shorter = true; /* the rest has moved to `at` */
        else
            at += cut;
    }
    return shorter;
}

static bool lower_bytes(shrink_state *work)
{
    bool simpler = false;
    for (size_t at = 0; at < work->len; at++) {
        uint8_t old = work->bytes[at];
        const uint8_t lower[] = {0, 1, old / 2, (uint8_t)(old - 1)};
        for (size_t i = 0; i < sizeof lower; i++) {
            if (lower[i] >= old)
                continue;
            memcpy(work->tried, work->bytes, work->len);
            work->tried[at] = lower[i];
            if (keep_if_failing(work, work->len)) {
                simpler = true;
                break;
            }
        }
    }
    return simpler;
}

size_t model_shrink(const model *which, uint8_t *bytes, size_t len)
{
    shrink_state work = {which, bytes, malloc(len ? len : 1), len, 20000};
    if (!work.tried || model_run(which, bytes, len, NULL)) {
        free(work.tried);
        return len;
    }
    bool better = true;
    while (better && work.runs_left) {
        better = false;
        for (size_t chunk = work.len / 2; chunk > 0; chunk /= 2)
            better |= delete_chunks(&work, chunk);
        better |= lower_bytes(&work);
    }
    free(work.tried);
    return work.len;
}

/* ---- showing ---- */

void model_show(const model *which, const uint8_t *bytes, size_t len, FILE *out)
{
    fprintf(out, "model %s, %zu bytes:", which->name, len);
    for (size_t i = 0; i < len; i++)
        fprintf(out, "%s%02x", i % 32 ? "" : "\n  ", bytes[i]);
    fprintf(out, "\n");
    model_failure failure = {0};
    model_reader reader = {.bytes = bytes, .len = len, .listener = out, .failure = &failure};
    if (run(which, &reader))
        fprintf(out, "passes\n");
    else
        fprintf(out, "fails in step %zu: %s\n", failure.step, failure.text);
}

bool model_try(const model *which, const uint8_t *bytes, size_t len, FILE *out)
{
    if (model_run(which, bytes, len, NULL))
        return true;
    uint8_t *copy = malloc(len ? len : 1);
    if (copy) {
        memcpy(copy, bytes, len);
        len = model_shrink(which, copy, len);
        bytes = copy;
    }
    model_show(which, bytes, len, out);
    free(copy);
    return false;
}
