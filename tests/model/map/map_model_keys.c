/* The map model's operations on keys: each on the first map and its twin. */
#include "model/map/map_model_pair.h"

#include <string.h>

map_model_counts map_counts;

/* ---- what a program names ---- */

static unsigned read_key(model_reader *reader)
{
    return model_pair(reader) % TWIN_KEYS;
}

static unsigned read_value(const map_pair *both, model_reader *reader)
{
    /* Mostly few values; sometimes so many that kbf's codes run out. */
    unsigned v = model_pair(reader);
    v = v % 8 ? v % 20 : v / 8 % TWIN_VALUES;
    if (both->value_bits)
        v %= both->value_bits < 16 ? 1u << both->value_bits : 1u << 16;
    return v;
}

static size_t read_batch(map_pair *both, model_reader *reader, const char *what)
{
    unsigned first = model_pair(reader), count = model_byte(reader) % (MAX_BATCH + 1);
    unsigned stride = model_byte(reader), value = read_value(both, reader);
    unsigned step = model_below(reader, 4), most = both->value_bits && both->value_bits < 16
                                                       ? 1u << both->value_bits
                                                       : TWIN_VALUES;
    if (most > TWIN_VALUES)
        most = TWIN_VALUES;
    for (unsigned i = 0; i < count; i++) {
        both->keys[i] = (first + i * stride) % TWIN_KEYS;
        both->hashes[i] = map_twin_key(both->keys[i]);
        both->values[i] = (value + i * step) % most;
        both->given[i] = map_twin_value(both->values[i], both->value_bits);
    }
    memset(both->was, 99, sizeof both->was);
    model_say(reader, "%s %u keys from %u, every %u; values from %u, every %u", what, count, first,
              stride, value, step);
    return count;
}

/* A wrong answer: kbf may give some, and the map cannot be compared any more. */
static void expect_answer(map_pair *both, model_reader *reader, bool right, const char *what)
{
    map_counts.compared++;
    if (both->kbf && !both->wrong)
        map_counts.may_be_wrong[both->error_index] += both->error;
    if (right || both->wrong)
        return;
    if (both->kbf)
        both->wrong = true;
    else
        model_fail(reader, "%s", what);
}

/* Whether kbf refused it as unsure. */
static bool is_unsure(map_pair *both, model_reader *reader, bry_status status)
{
    if (status != BRY_E_UNSURE)
        return false;
    map_counts.unsure++;
    model_expect(reader, both->kbf);
    return true;
}

/* Whether a new value can be refused: kbf has 255 codes and more here. */
static bool codes_may_lack(const map_pair *both)
{
    return both->kbf && both->value_bits == 0 &&
           bry__dictionary_count(both->map[0]->dictionary) + MAX_BATCH >=
               both->map[0]->dictionary->most;
}

static bry_answer twin_answer(const map_pair *both, unsigned key)
{
    return both->twin[0].value[key] == TWIN_NONE ? BRY_ABSENT : BRY_PRESENT;
}

/* ---- single keys ---- */

void map_do_set(map_pair *both, model_reader *reader)
{
    unsigned key = read_key(reader), v = read_value(both, reader);
    map_twin *twin = &both->twin[0];
    bry_answer was = BRY_UNSURE;
    model_say(reader, "set %u to %u", key, v);
    bry_status status =
        bry_map_set(both->map[0], map_twin_key(key), map_twin_value(v, both->value_bits), &was);
    if (model_out_of_memory(reader, &both->memory, status) || is_unsure(both, reader, status)) {
        model_expect(reader, was == BRY_UNSURE);
        return;
    }
    bool full = both->fixed && twin->value[key] == TWIN_NONE && twin->count >= both->capacity[0];
    if (status == BRY_E_FULL) {
        model_expect(reader, full || codes_may_lack(both) || both->hidden[0] || both->wrong);
        return;
    }
    model_expect(reader, status == BRY_OK);
    expect_answer(both, reader, !full && was == twin_answer(both, key), "what set says was there");
    map_twin_set(twin, key, (int)v);
}

void map_do_update(map_pair *both, model_reader *reader)
{
    unsigned key = read_key(reader), v = read_value(both, reader);
    bry_answer was = BRY_UNSURE;
    model_say(reader, "update %u to %u", key, v);
    bry_status status =
        bry_map_update(both->map[0], map_twin_key(key), map_twin_value(v, both->value_bits), &was);
    if (model_out_of_memory(reader, &both->memory, status) || is_unsure(both, reader, status))
        return;
    if (status == BRY_E_FULL) {
        model_expect(reader, codes_may_lack(both));
        return;
    }
    model_expect(reader, status == BRY_OK);
    expect_answer(both, reader, was == twin_answer(both, key), "what update says was there");
    if (twin_answer(both, key) == BRY_PRESENT)
        map_twin_set(&both->twin[0], key, (int)v);
}

/* Only absent keys, as the contract requires. */
void map_do_add(map_pair *both, model_reader *reader)
{
    unsigned key = read_key(reader), v = read_value(both, reader);
    map_twin *twin = &both->twin[0];
    if (twin->value[key] != TWIN_NONE)
        return;
    model_say(reader, "insert %u with %u", key, v);
    bry_status status =
        bry_map_add(both->map[0], map_twin_key(key), map_twin_value(v, both->value_bits));
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    bool full = both->fixed && twin->count >= both->capacity[0];
    if (status == BRY_E_FULL) {
        model_expect(reader, full || codes_may_lack(both) || both->hidden[0] || both->wrong);
        return;
    }
    model_expect(reader, status == BRY_OK && (!full || both->wrong));
    map_twin_set(twin, key, (int)v);
}

void map_do_del(map_pair *both, model_reader *reader)
{
    unsigned key = read_key(reader);
    bry_answer was = BRY_UNSURE;
    model_say(reader, "del %u", key);
    bry_status status = bry_map_del(both->map[0], map_twin_key(key), &was);
    if (is_unsure(both, reader, status))
        return;
    model_expect(reader, status == BRY_OK);
    expect_answer(both, reader, was == twin_answer(both, key), "what del says was there");
    map_twin_set(&both->twin[0], key, TWIN_NONE);
}

/* With kbf only existing pairs. */
void map_do_del_pair(map_pair *both, model_reader *reader)
{
    unsigned key = read_key(reader), v = read_value(both, reader);
    map_twin *twin = &both->twin[0];
    if (twin->value[key] != TWIN_NONE && (both->kbf || model_below(reader, 2)))
        v = (unsigned)twin->value[key];
    bool there = twin->value[key] == (int)v;
    if (both->kbf && !there)
        return;
    bry_answer was = BRY_UNSURE;
    model_say(reader, "remove %u with %u", key, v);
    bry_status status = bry_map_del_pair(both->map[0], map_twin_key(key),
                                         map_twin_value(v, both->value_bits), &was);
    model_expect(reader, status == BRY_OK);
    expect_answer(both, reader, was == (there ? BRY_PRESENT : BRY_ABSENT), "remove");
    if (there)
        map_twin_set(twin, key, TWIN_NONE);
}

/* ---- batches ---- */

/* Applies the batch to the twin, as far as the map was sure; an update changes no absent key.
 * Returns whether the answers are right. */
static bool twin_set_n(map_pair *both, map_twin *twin, size_t n, bool update)
{
    bool right = true;
    for (size_t i = 0; i < n; i++) {
        bool there = twin->value[both->keys[i]] != TWIN_NONE;
        if (both->was[i] == BRY_UNSURE) {
            map_counts.unsure++;
            right = right && both->kbf;
            continue;
        }
        right = right && both->was[i] == (there ? BRY_PRESENT : BRY_ABSENT);
        if (there || !update)
            map_twin_set(twin, both->keys[i], (int)both->values[i]);
    }
    return right;
}

void map_do_set_n(map_pair *both, model_reader *reader)
{
    size_t n = read_batch(both, reader, "set_n");
    bry_status status = bry_map_set_n(both->map[0], both->hashes, both->given, n, both->was);
    model_expect(reader, both->was[n] == 99);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    map_twin after = both->twin[0];
    if (status == BRY_E_FULL) {
        for (size_t i = 0; i < n; i++)
            map_twin_set(&after, both->keys[i], (int)both->values[i]);
        model_expect(reader, (both->fixed && after.count > both->capacity[0]) ||
                                 codes_may_lack(both) || both->hidden[0] || both->wrong);
        return;
    }
    model_expect(reader, status == BRY_OK);
    expect_answer(both, reader, twin_set_n(both, &after, n, false), "what set_n says was there");
    both->twin[0] = after;
}

void map_do_update_n(map_pair *both, model_reader *reader)
{
    size_t n = read_batch(both, reader, "update_n");
    bry_status status = bry_map_update_n(both->map[0], both->hashes, both->given, n, both->was);
    model_expect(reader, both->was[n] == 99);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    model_expect(reader, status == BRY_OK || (status == BRY_E_FULL && codes_may_lack(both)));
    if (status == BRY_OK)
        expect_answer(both, reader, twin_set_n(both, &both->twin[0], n, true),
                      "what update_n says was there");
}

void map_do_add_n(map_pair *both, model_reader *reader)
{
    size_t n = read_batch(both, reader, "add_n");
    map_twin after = both->twin[0];
    for (size_t i = 0; i < n; i++) {
        if (after.value[both->keys[i]] != TWIN_NONE)
            return; /* one is there already */
        map_twin_set(&after, both->keys[i], (int)both->values[i]);
    }
    bry_status status = bry_map_add_n(both->map[0], both->hashes, both->given, n);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    bool full = both->fixed && after.count > both->capacity[0];
    if (status == BRY_E_FULL) {
        model_expect(reader, full || codes_may_lack(both) || both->hidden[0] || both->wrong);
        return;
    }
    model_expect(reader, status == BRY_OK && (!full || both->wrong));
    both->twin[0] = after;
}

void map_do_del_n(map_pair *both, model_reader *reader)
{
    size_t n = read_batch(both, reader, "del_n");
    map_twin *twin = &both->twin[0];
    bry_status status = bry_map_del_n(both->map[0], both->hashes, n, both->was);
    if (model_out_of_memory(reader, &both->memory, status)) {
        model_expect(reader, both->kbf);
        return;
    }
    model_expect(reader, status == BRY_OK && both->was[n] == 99);
    bool right = true;
    for (size_t i = 0; i < n; i++) {
        bool there = twin->value[both->keys[i]] != TWIN_NONE;
        if (both->was[i] == BRY_UNSURE && both->kbf)
            continue;
        right = right && both->was[i] == (there ? BRY_PRESENT : BRY_ABSENT);
        map_twin_set(twin, both->keys[i], TWIN_NONE);
    }
    expect_answer(both, reader, right, "what del_n says was there");
}

/* Looks up n keys from `first` on in one batch; single look-ups give the same. */
void map_compare_keys(map_pair *both, model_reader *reader, unsigned which, unsigned first,
                      size_t n)
{
    const bry_map *map = both->map[which];
    const map_twin *twin = &both->twin[which];
    bry_map_value values[MAX_BATCH];
    for (size_t i = 0; i < n; i++)
        both->hashes[i] = map_twin_key((first + (unsigned)i) % TWIN_KEYS);
    memset(both->was, 99, sizeof both->was);
    bry_map_get_n(map, both->hashes, n, values, both->was);
    model_expect(reader, both->was[n] == 99);
    for (size_t i = 0; i < n; i++) {
        int v = twin->value[(first + i) % TWIN_KEYS];
        bry_map_value value = {NULL, 77, 77};
        bry_answer answer = bry_map_get(map, both->hashes[i], &value);
        model_expect(reader, answer == (bry_answer)both->was[i]);
        if (answer == BRY_PRESENT)
            model_expect(reader, value.bytes == values[i].bytes && value.len == values[i].len &&
                                     value.number == values[i].number);
        else
            model_expect(reader, value.len == 77 && value.number == 77);
        if (answer == BRY_UNSURE && both->kbf) {
            map_counts.unsure++;
            continue;
        }
        bool right = v == TWIN_NONE ? answer == BRY_ABSENT
                                    : answer == BRY_PRESENT &&
                                          map_twin_is(value, (unsigned)v, both->value_bits);
        expect_answer(both, reader, right, "a key's answer");
    }
}

void map_do_get_n(map_pair *both, model_reader *reader)
{
    unsigned first = read_key(reader), n = model_byte(reader) % MAX_BATCH;
    model_say(reader, "get %u keys from %u", n, first);
    map_compare_keys(both, reader, 0, first, n);
}
