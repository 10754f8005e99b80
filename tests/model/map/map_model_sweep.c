/* The map model's sweeps by value. */
#include "model/map/map_model_pair.h"

#include <string.h>

/* What the sweep makes of a value number: TWIN_NONE, another number, or the same. */
typedef struct rule {
    unsigned value_bits, number;
    uint64_t judged;
} rule;

static unsigned numbers_of(unsigned value_bits)
{
    return value_bits && value_bits < 8 ? 1u << value_bits : TWIN_VALUES;
}

static int outcome(const rule *by, unsigned v)
{
    if (v % 7 == by->number % 7)
        return TWIN_NONE;
    return v % 5 == by->number / 8 % 5 ? (int)((v + 1) % numbers_of(by->value_bits)) : (int)v;
}

static unsigned number_of(const rule *by, bry_map_value value)
{
    uint16_t number = (uint16_t)value.number;
    if (!by->value_bits && value.len)
        memcpy(&number, value.bytes, sizeof number);
    return number;
}

static bry_map_verdict judge(void *opaque, bry_map_value value, bry_map_value *changed)
{
    rule *by = opaque;
    unsigned v = number_of(by, value);
    int becomes = outcome(by, v);
    by->judged++;
    if (becomes == TWIN_NONE)
        return BRY_MAP_DEL;
    if (becomes == (int)v)
        return BRY_MAP_KEEP;
    *changed = map_twin_value((unsigned)becomes, by->value_bits);
    return BRY_MAP_CHANGE;
}

/* A complete sweep in steps. Each key is judged once, even if memory runs out in between: judging
 * twice would be noticed, because a changed value may be changed again. */
void map_do_sweep(map_pair *both, model_reader *reader)
{
    rule by = {both->value_bits, model_byte(reader), 0};
    bry_map_judge judges = {judge, &by};
    uint64_t budget = model_byte(reader), cursor = 0, refused = 0;
    if (both->twin[0].count > 40) /* a call takes a pass over a segment, however few it judges */
        budget = 60 + 4 * budget;
    if (both->hidden[0] || both->wrong)
        return;
    model_say(reader, "sweep by rule %u, %ju at a time", by.number, (uintmax_t)budget);
    if (both->kbf) {
        model_expect(reader,
                     bry_map_sweep(both->map[0], &judges, budget, &cursor) == BRY_E_UNSUPPORTED);
        return;
    }
    do {
        uint64_t judged = by.judged;
        bry_status status = bry_map_sweep(both->map[0], &judges, budget, &cursor);
        if (model_out_of_memory(reader, &both->memory, status)) {
            refused += by.judged > judged;
            both->memory.fail_at = 0;
        } else {
            model_expect(reader, status == BRY_OK);
        }
    } while (cursor != 0 && !reader->failed);
    map_twin *twin = &both->twin[0];
    /* The entry for which memory ran out is judged again. */
    model_expect(reader, by.judged >= twin->count && by.judged <= twin->count + refused);
    for (unsigned key = 0; key < TWIN_KEYS; key++)
        if (twin->value[key] != TWIN_NONE) {
            unsigned v = (unsigned)twin->value[key];
            map_twin_set(twin, key,
                         outcome(&by, number_of(&by, map_twin_value(v, both->value_bits))));
        }
}
