/* The beginning of a step in most models: chooses the operation, and whether an allocation
 * fails. */
#ifndef BRY_TESTS_MODEL_STEPS_H
#define BRY_TESTS_MODEL_STEPS_H

#include "model/model.h"
#include "support/failing_allocator.h"

enum { MODEL_SHARES = 32 };

/* A number below MODEL_SHARES, for the operation. In one step of eight, one of the first `most`
 * allocations fails, if there are that many. */
static inline unsigned model_begin_step(model_reader *reader, failing_allocator *memory,
                                        unsigned most)
{
    unsigned picked = model_byte(reader);
    failing_allocator_restart(memory);
    memory->fail_at = picked / MODEL_SHARES == 7 ? 1 + model_below(reader, most) : 0;
    if (memory->fail_at)
        model_say(reader, "allocation %ju is to fail:", (uintmax_t)memory->fail_at);
    return picked % MODEL_SHARES;
}

/* Whether the chosen allocation has failed. */
static inline bool model_has_failed_one(const failing_allocator *memory)
{
    return memory->fail_at && memory->calls >= memory->fail_at;
}

/* Whether the operation ran out of memory, because the chosen allocation failed: then nothing has
 * changed. */
static inline bool model_out_of_memory(model_reader *reader, const failing_allocator *memory,
                                       bry_status status)
{
    if (status == BRY_E_NOMEM)
        model_expect(reader, model_has_failed_one(memory));
    return status == BRY_E_NOMEM;
}

#endif
