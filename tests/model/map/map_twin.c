#include "model/map/map_twin.h"

#include "support/generator.h"

#include <string.h>

void map_twin_clear(map_twin *twin)
{
    for (unsigned i = 0; i < TWIN_KEYS; i++)
        twin->value[i] = TWIN_NONE;
    twin->count = 0;
}

void map_twin_set(map_twin *twin, unsigned key, int value)
{
    twin->count += (value != TWIN_NONE) - (twin->value[key] != TWIN_NONE);
    twin->value[key] = (int16_t)value;
}

unsigned map_twin_values(const map_twin *twin)
{
    bool seen[TWIN_VALUES] = {false};
    unsigned count = 0;
    for (unsigned i = 0; i < TWIN_KEYS; i++)
        if (twin->value[i] != TWIN_NONE && !seen[twin->value[i]]) {
            seen[twin->value[i]] = true;
            count++;
        }
    return count;
}

bool map_twin_overlap(const map_twin *a, const map_twin *b)
{
    for (unsigned i = 0; i < TWIN_KEYS; i++)
        if (a->value[i] != TWIN_NONE && b->value[i] != TWIN_NONE)
            return true;
    return false;
}

unsigned map_twin_union(const map_twin *a, const map_twin *b)
{
    unsigned count = 0;
    for (unsigned i = 0; i < TWIN_KEYS; i++)
        count += a->value[i] != TWIN_NONE || b->value[i] != TWIN_NONE;
    return count;
}

bry_hash map_twin_key(unsigned key)
{
    generator numbers = {UINT64_C(0x1000000) + key};
    bry_hash hash = generator_hash(&numbers);
    /* The smallest range is 2^12. Keys differ in their ten upper bits, and the next bit is 0: so
     * they are 2^53 apart at least, which is two fingerprints or more. An odd factor spreads
     * neighbours. */
    uint64_t spread = (uint64_t)key * 397 % TWIN_KEYS;
    hash.hi = hash.hi >> 11 | spread << 54;
    return hash;
}

bry_map_value map_twin_value(unsigned v, unsigned value_bits)
{
    static unsigned char bytes[TWIN_VALUES][TWIN_LONGEST];
    static bool filled[TWIN_VALUES];
    if (value_bits)
        return bry_map_value_number(v % (1u << (value_bits < 16 ? value_bits : 16)));
    /* Number 0 is empty, most are short, a few are long; each begins with its number. */
    size_t len = v == 0 ? 0 : v % 64 == 63 ? 2000 + v * 5 : 2 + v % 29;
    if (!filled[v]) {
        generator numbers = {v};
        generator_fill(&numbers, bytes[v], sizeof bytes[v]);
        memcpy(bytes[v], &(uint16_t){(uint16_t)v}, 2);
        filled[v] = true;
    }
    return bry_map_value_bytes(bytes[v], len);
}

bool map_twin_is(bry_map_value value, unsigned v, unsigned value_bits)
{
    bry_map_value wanted = map_twin_value(v, value_bits);
    return value.len == wanted.len && value.number == wanted.number &&
           (value.len == 0 || memcmp(value.bytes, wanted.bytes, value.len) == 0);
}
