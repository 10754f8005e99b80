/* The contents of the golden streams and logs, for the program that writes them and the test that
 * reads them.
 */
#ifndef BRY_TESTS_GOLDEN_CONTENT_H
#define BRY_TESTS_GOLDEN_CONTENT_H

#include <bloomery/hash.h>

#include "common/endian.h"
#include "frame/frame_header.h"

#define GOLDEN_KIND BRY__FOUR('G', 'O', 'L', 'D')
#define GOLDEN_LOG_KIND BRY__FOUR('G', 'L', 'O', 'G')
#define GOLDEN_SEED UINT64_C(0x0123456789abcdef)

/* Lengths around those at which XXH3 changes its algorithm: 16, 128, 240. */
enum { GOLDEN_FRAMES = 8, GOLDEN_RECORDS = 6, GOLDEN_PAYLOAD_MAX = 300 };

static inline uint32_t golden_type(unsigned i)
{
    return i % 2 ? BRY__FOUR('O', 'D', 'D', ' ') : BRY__FOUR('E', 'V', 'E', 'N');
}

static inline size_t golden_payload(unsigned i, unsigned char payload[GOLDEN_PAYLOAD_MAX])
{
    static const size_t lengths[GOLDEN_FRAMES] = {0, 1, 7, 16, 17, 129, 241, 300};
    for (size_t at = 0; at < lengths[i]; at++)
        payload[at] = (unsigned char)(i * 31 + at * 7);
    return lengths[i];
}

/* The filter holds keys 0, 1, 2 … as four bytes. */
enum { GOLDEN_FILTER_CAPACITY = 100, GOLDEN_FILTER_KEYS = 60 };

/* filter_note.bry has the payload of the last golden frame as its note. */
enum { GOLDEN_NOTE = GOLDEN_FRAMES - 1 };

static inline bry_hash golden_key(uint32_t i)
{
    unsigned char bytes[4];
    bry__store32(bytes, i);
    return bry_hash_key(GOLDEN_SEED, bytes, sizeof bytes);
}

/* The maplet holds keys 0, 1, 2 … with value i mod 128, more than fit in its first table, and key 0
 * with so many further values that some are in the overflow. */
enum { GOLDEN_MAPLET_CAPACITY = 200, GOLDEN_MAPLET_KEYS = 300, GOLDEN_MAPLET_CROWD = 12 };

/* The maps hold keys 0, 1, 2 … with value i mod 7, as "v0", "v1" … "v6" or as a number; more than
 * fit in their first table. */
enum { GOLDEN_MAP_CAPACITY = 40, GOLDEN_MAP_KEYS = 50, GOLDEN_MAP_VALUES = 7 };

static inline void golden_map_value(uint32_t i, char bytes[2])
{
    bytes[0] = 'v';
    bytes[1] = (char)('0' + i % GOLDEN_MAP_VALUES);
}

/* The windows were given keys 0, 1, 2 … one each 10 ms, more than they are planned for; those of the
 * last window are remembered, and a few more. */
enum {
    GOLDEN_WINDOW_KEYS = 300,
    GOLDEN_WINDOW_CAPACITY = 40,
    GOLDEN_WINDOW_WINDOW = 1000,
    GOLDEN_WINDOW_GENERATIONS = 8,
    GOLDEN_WINDOW_FBF_GENERATIONS = 4, /* the first periods end because they are full */
    GOLDEN_WINDOW_FBF_KEYS = 100, /* and are still remembered */
    GOLDEN_WINDOW_TIME = 7777,
    GOLDEN_WINDOW_STEP = 10
};

/* The indexes hold keys 0, 1, 2 … in units of seven, tagged 100, 101 …, more than they are planned
 * for; key 0 is in all units, so that some are in the overflow, and unit 1 has been dropped. */
enum { GOLDEN_INDEX_KEYS = 84, GOLDEN_INDEX_UNITS = 12, GOLDEN_INDEX_CAPACITY = 8 };

/* The counters: operation i, with key i as its id, adds i to counter i mod 5, at a time of its own.
 */
enum {
    GOLDEN_COUNTER_OPS = 40,
    GOLDEN_COUNTER_NAMES = 5,
    GOLDEN_COUNTER_WINDOW = 1000,
    GOLDEN_COUNTER_TIME = 5000
};

static inline void golden_counter_name(uint32_t i, char bytes[2])
{
    bytes[0] = 'c';
    bytes[1] = (char)('0' + i % GOLDEN_COUNTER_NAMES);
}

/* The value of counter `name` after that many operations. */
static inline int64_t golden_counter_value(uint32_t name, uint32_t operations)
{
    int64_t sum = 0;
    for (uint32_t i = name; i < operations; i += GOLDEN_COUNTER_NAMES)
        sum += i;
    return sum;
}

#endif
