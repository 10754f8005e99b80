/*
 * Loads streams of every job and engine that were changed frame by frame, with correct checksums
 * (model/save/forge.h), and uses the objects (model/save/forged.h). An input is
 *
 *   byte 0       the job, by its number (saved_job_at()); from 128 on, a unit for an index
 *   bytes 1–8    the seed of the operations
 *   then         the stream
 *
 * and the mutator below makes a new stream of it. If it is not a stream, the mutator starts with an
 * honest one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/endian.h"
#include "model/save/forge.h"
#include "model/save/forged.h"

enum { HEAD = 9 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static bool is_unit(const uint8_t *data)
{
    return data[0] >= 128;
}

static const saved_job *job_of(const uint8_t *data)
{
    if (is_unit(data))
        return saved_job_find(data[0] % 2 ? "index-dba" : "index-compact");
    size_t jobs = 0;
    while (saved_job_at(jobs))
        jobs++;
    return saved_job_at(jobs ? data[0] % jobs : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    bry_buffer stream = {malloc(size - HEAD + 1), size - HEAD, 0};
    if (!stream.bytes)
        abort();
    memcpy(stream.bytes, data + HEAD, stream.len);
    generator operations = {bry__load64(data + 1)};
    model_failure failure = {0};
    bool good =
        (is_unit(data) ? forged_unit : forged_stream)(job_of(data), &stream, &operations, &failure);
    if (!good) {
        fprintf(stderr, "%s: %s\n", job_of(data)->name, failure.text);
        abort();
    }
    free(stream.bytes);
    return 0;
}

/* The seed of the operations is also that of the index in which a unit is imported, so it mostly
 * stays. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    generator numbers = {seed};
    bry_buffer out = BRY_BUFFER;
    if (size < HEAD) {
        if (max_size < HEAD)
            return size;
        generator_fill(&numbers, data, HEAD);
        size = HEAD;
    }
    if (generator_below(&numbers, 8) == 0 && !is_unit(data))
        generator_fill(&numbers, data + 1, 8);
    bool good = generator_below(&numbers, 64) &&
                forge_stream(data + HEAD, size - HEAD, &numbers, &out) &&
                out.len <= max_size - HEAD;
    if (!good) {
        bry_buffer_free(&out);
        out = (bry_buffer)BRY_BUFFER;
        generator_fill(&numbers, data, HEAD);
        generator same = {bry__load64(data + 1)};
        good =
            forged_honest(job_of(data), &same, is_unit(data), &out) && out.len <= max_size - HEAD;
    }
    if (good && out.len)
        memcpy(data + HEAD, out.bytes, out.len);
    size_t len = HEAD + (good ? out.len : 0);
    bry_buffer_free(&out);
    return len;
}
