#include "bench/peers/exact_table.h"

#include "hash/derive.h"

#include <stdlib.h>

#define LEAST_SLOTS 16u

static uint64_t key_of(const exact_slot *slot)
{
    return (uint64_t)slot->key[1] << 32 | slot->key[0];
}

static uint64_t most_keys(uint64_t slots)
{
    return slots / 10 * 7 + slots % 10 * 7 / 10;
}

static uint64_t table_home_of(const exact_table *table, uint64_t key)
{
    return bry__scale(key, table->size);
}

static uint64_t next_of(const exact_table *table, uint64_t i)
{
    return i + 1 == table->size ? 0 : i + 1;
}

/* The slot of the key, or the empty slot where it belongs; the key is not 0. */
static uint64_t table_find_slot(const exact_table *table, uint64_t key)
{
    uint64_t i = table_home_of(table, key);
    for (;; i = next_of(table, i)) {
        uint64_t here = key_of(&table->slots[i]);
        if (here == key || here == 0)
            return i;
    }
}

static bool table_allocate(exact_table *table, uint64_t size)
{
    if (size > SIZE_MAX / sizeof(exact_slot))
        return false;
    exact_slot *slots = calloc((size_t)size, sizeof *slots);
    if (!slots)
        return false;
    table->slots = slots;
    table->size = size;
    return true;
}

bool exact_table_init(exact_table *table, uint64_t keys)
{
    uint64_t size = keys / 7 * 10 + (keys % 7 * 10 + 6) / 7;
    *table = (exact_table){0};
    return table_allocate(table, size < LEAST_SLOTS ? LEAST_SLOTS : size);
}

void exact_table_free(exact_table *table)
{
    free(table->slots);
    *table = (exact_table){0};
}

exact_table *exact_table_new(uint64_t keys)
{
    exact_table *table = malloc(sizeof *table);
    if (table && !exact_table_init(table, keys)) {
        free(table);
        table = NULL;
    }
    return table;
}

void exact_table_delete(void *table)
{
    exact_table_free(table);
    free(table);
}

uint64_t exact_table_bytes(const exact_table *table)
{
    return sizeof *table + table->size * sizeof *table->slots;
}

static bool table_grow(exact_table *table)
{
    exact_table wider = *table;
    if (!table_allocate(&wider, table->size * 2))
        return false;
    for (uint64_t i = 0; i < table->size; i++) {
        uint64_t key = key_of(&table->slots[i]);
        if (key != 0)
            wider.slots[table_find_slot(&wider, key)] = table->slots[i];
    }
    free(table->slots);
    *table = wider;
    return true;
}

bool exact_table_put(exact_table *table, uint64_t key, uint32_t value, bool *was)
{
    if (key == 0) {
        *was = table->has_zero;
        table->has_zero = true;
        table->zero_value = value;
        return true;
    }
    uint64_t i = table_find_slot(table, key);
    *was = key_of(&table->slots[i]) == key;
    if (!*was) {
        if (table->count >= most_keys(table->size)) {
            if (!table_grow(table))
                return false;
            i = table_find_slot(table, key);
        }
        table->count++;
    }
    table->slots[i] = (exact_slot){{(uint32_t)key, (uint32_t)(key >> 32)}, value};
    return true;
}

bool exact_table_get(const exact_table *table, uint64_t key, uint32_t *value)
{
    if (key == 0) {
        *value = table->zero_value;
        return table->has_zero;
    }
    const exact_slot *slot = &table->slots[table_find_slot(table, key)];
    *value = slot->value;
    return key_of(slot) == key;
}

bool exact_table_remove(exact_table *table, uint64_t key)
{
    if (key == 0) {
        bool was = table->has_zero;
        table->has_zero = false;
        return was;
    }
    uint64_t hole = table_find_slot(table, key);
    if (key_of(&table->slots[hole]) != key)
        return false;
    /* Later entries move up if their probe sequence passes the hole. */
    for (uint64_t i = next_of(table, hole); key_of(&table->slots[i]) != 0; i = next_of(table, i)) {
        uint64_t home = table_home_of(table, key_of(&table->slots[i]));
        bool passes = hole <= i ? home <= hole || home > i : home <= hole && home > i;
        if (!passes)
            continue;
        table->slots[hole] = table->slots[i];
        hole = i;
    }
    table->slots[hole] = (exact_slot){0};
    table->count--;
    return true;
}

void exact_table_prefetch(const exact_table *table, uint64_t key)
{
    __builtin_prefetch(&table->slots[table_home_of(table, key)]);
}
