/* Calls with one key, as data: maplet and twin carry out the same call, and their answers are
 * compared. */
#ifndef BRY_TESTS_MAPLET_CALLS_H
#define BRY_TESTS_MAPLET_CALLS_H

#include "model/maplet/maplet_twin.h"

typedef enum call_kind {
    CALL_UPSERT,
    CALL_INSERT,
    CALL_GET,
    CALL_GET_ALL,
    CALL_REMOVE,
    CALL_REMOVE_VALUE,
    CALL_REPLACE,
    CALL_KINDS
} call_kind;

extern const char *const call_names[CALL_KINDS];

typedef struct call {
    call_kind kind;
    bry_hash hash;
    uint32_t value, to; /* `to` for replace */
    unsigned room; /* for get_all, at most CALL_ROOM */
} call;

enum { CALL_ROOM = 24 };

typedef struct call_answer {
    bry_status status;
    bry_answer was; /* of upsert, get, remove_value, replace */
    uint32_t old; /* of upsert and get, if there was one */
    uint64_t count; /* of get_all and remove */
    uint32_t values[CALL_ROOM];
} call_answer;

void call_maplet(bry__maplet *maplet, const call *what, call_answer *answer);
void call_twin(maplet_twin *twin, const call *what, call_answer *answer);
bool call_answers_agree(const call_answer *a, const call_answer *b);

#endif
