#include "model/maplet/maplet_calls.h"

#include <string.h>

const char *const call_names[CALL_KINDS] = {"upsert", "insert",       "get",    "get_all",
                                            "remove", "remove_value", "replace"};

#define UNTOUCHED 0xabababab

/* What a call leaves alone is the same on both sides. */
static void prepare(call_answer *answer)
{
    *answer = (call_answer){.was = BRY_UNSURE, .old = UNTOUCHED};
    for (unsigned i = 0; i < CALL_ROOM; i++)
        answer->values[i] = UNTOUCHED;
}

void call_maplet(bry__maplet *maplet, const call *what, call_answer *answer)
{
    prepare(answer);
    switch (what->kind) {
    case CALL_UPSERT:
        answer->status =
            bry__maplet_upsert(maplet, what->hash, what->value, &answer->was, &answer->old);
        break;
    case CALL_INSERT:
        answer->status = bry__maplet_add(maplet, what->hash, what->value);
        break;
    case CALL_GET:
        answer->was = bry__maplet_get(maplet, what->hash, &answer->old);
        break;
    case CALL_GET_ALL:
        answer->count = bry__maplet_get_all(maplet, what->hash, answer->values, what->room);
        break;
    case CALL_REMOVE:
        answer->count = bry__maplet_del(maplet, what->hash);
        break;
    case CALL_REMOVE_VALUE:
        answer->was = bry__maplet_del_value(maplet, what->hash, what->value);
        break;
    default:
        answer->status =
            bry__maplet_replace(maplet, what->hash, what->value, what->to, &answer->was);
    }
    if (answer->was != BRY_PRESENT)
        answer->old = UNTOUCHED; /* says nothing then */
}

void call_twin(maplet_twin *twin, const call *what, call_answer *answer)
{
    prepare(answer);
    switch (what->kind) {
    case CALL_UPSERT:
        answer->status =
            maplet_twin_upsert(twin, what->hash, what->value, &answer->was, &answer->old);
        break;
    case CALL_INSERT:
        answer->status = maplet_twin_add(twin, what->hash, what->value);
        break;
    case CALL_GET: /* the first of all */
        answer->was =
            maplet_twin_get_all(twin, what->hash, &answer->old, 1) ? BRY_PRESENT : BRY_ABSENT;
        break;
    case CALL_GET_ALL:
        answer->count = maplet_twin_get_all(twin, what->hash, answer->values, what->room);
        break;
    case CALL_REMOVE:
        answer->count = maplet_twin_del(twin, what->hash);
        break;
    case CALL_REMOVE_VALUE:
        answer->was = maplet_twin_del_value(twin, what->hash, what->value);
        break;
    default:
        answer->status = maplet_twin_replace(twin, what->hash, what->value, what->to, &answer->was);
    }
}

bool call_answers_agree(const call_answer *a, const call_answer *b)
{
    return a->status == b->status && a->was == b->was && a->old == b->old && a->count == b->count &&
           memcmp(a->values, b->values, sizeof a->values) == 0;
}
