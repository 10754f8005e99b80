#include "model/index/index_model_pair.h"

#include <string.h>

uint32_t index_pick_unit(index_pair *both, model_reader *reader)
{
    unsigned picked = model_byte(reader);
    if (both->twin.count == 0 || picked >= 250)
        return both->twin.next_number + picked % 3;
    return both->twin.unit[picked % (unsigned)both->twin.count].number;
}

/* ---- adding ---- */

/* Whether the unit is a candidate for the element, and whether that is certain. */
static bool holds(const index_twin_unit *unit, unsigned class)
{
    return unit->held[class] > 0;
}

static bool certain(const index_pair *both, const index_twin_unit *unit, unsigned class)
{
    return holds(unit, class) || !(unit->maybe[class] || both->errs);
}

static void put(index_twin_unit *unit, unsigned class, bry_answer was)
{
    unit->elements += was == BRY_ABSENT;
    index_twin_hold(unit, class);
}

static bool may_be_full(const index_pair *both)
{
    return both->crowded && index_twin_elements(&both->twin) >=
                                (uint64_t)both->options.units * both->options.unit_capacity / 2;
}

static void add_named(index_pair *both, model_reader *reader, unsigned element, uint32_t number)
{
    index_twin *twin = &both->twin;
    unsigned class = index_twin_class(twin, element);
    uint32_t went = 77;
    bry_answer was = BRY_UNSURE;
    bry_status status =
        bry_index_add(both->index, index_twin_element(twin, element), number, &went, &was);
    if (status != BRY_OK)
        model_expect(reader, went == 77 && was == BRY_UNSURE);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    int place = index_twin_find(twin, number);
    if (place == TWIN_NO_UNIT || twin->unit[place].sealed) {
        model_expect(reader, status == (place == TWIN_NO_UNIT ? BRY_E_NOUNIT : BRY_E_SEALED));
        return;
    }
    index_twin_unit *unit = &twin->unit[place];
    bool full = unit->elements >= unit->capacity;
    if (status == BRY_E_FULL) {
        model_expect(reader, (full || may_be_full(both)) && !holds(unit, class));
        return;
    }
    model_expect(reader, status == BRY_OK && went == number);
    if (certain(both, unit, class))
        model_expect(reader, was == (holds(unit, class) ? BRY_PRESENT : BRY_ABSENT));
    model_expect(reader, !full || was == BRY_PRESENT);
    put(unit, class, was);
}

void index_do_add(index_pair *both, model_reader *reader)
{
    unsigned element = model_below(reader, TWIN_ELEMENTS);
    uint32_t number = index_pick_unit(both, reader);
    model_say(reader, "add %u to unit %u", element, number);
    add_named(both, reader, element, number);
}

/* Adds one element to every unit that accepts it. */
void index_do_add_everywhere(index_pair *both, model_reader *reader)
{
    unsigned element = model_below(reader, TWIN_ELEMENTS);
    model_say(reader, "add %u to every unit", element);
    for (int i = 0; i < both->twin.count && !reader->failed; i++)
        add_named(both, reader, element, both->twin.unit[i].number);
}

/* The unit that gets an element added to the newest unit, which may be a new one; TWIN_NO_UNIT:
 * refused. */
static int place_newest(index_pair *both, unsigned class)
{
    index_twin *twin = &both->twin;
    int place = index_twin_newest(twin);
    if (place != TWIN_NO_UNIT) {
        const index_twin_unit *unit = &twin->unit[place];
        if (holds(unit, class) || unit->elements < unit->capacity)
            return place;
    }
    if (both->options.fixed && (uint32_t)twin->count >= both->options.units)
        return TWIN_NO_UNIT;
    if (place != TWIN_NO_UNIT)
        twin->unit[place].sealed = true;
    return index_twin_open(twin, 0, both->options.unit_capacity);
}

void index_do_add_newest(index_pair *both, model_reader *reader)
{
    index_twin *twin = &both->twin;
    unsigned element = model_below(reader, TWIN_ELEMENTS);
    unsigned class = index_twin_class(twin, element);
    model_say(reader, "add %u to the newest unit", element);
    if (twin->count == TWIN_UNITS)
        return;
    uint32_t went = 77;
    bry_answer was = BRY_UNSURE;
    bry_status status = bry_index_add(both->index, index_twin_element(twin, element),
                                      BRY_INDEX_NEWEST, &went, &was);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    if (status == BRY_E_FULL && may_be_full(both))
        return;
    if (!both->exact) {
        model_expect(reader, status == BRY_OK || (status == BRY_E_FULL && both->options.fixed));
        index_learn(both, reader);
        int there = index_twin_find(twin, went);
        if (status == BRY_OK && there != TWIN_NO_UNIT)
            index_twin_hold(&twin->unit[there], class);
        return;
    }
    int place = place_newest(both, class);
    if (place == TWIN_NO_UNIT) {
        model_expect(reader, status == BRY_E_FULL);
        return;
    }
    index_twin_unit *unit = &twin->unit[place];
    bry_answer expected = holds(unit, class) ? BRY_PRESENT : BRY_ABSENT;
    model_expect(reader, status == BRY_OK && went == unit->number && was == expected);
    put(unit, class, expected);
}

/* n elements, some of them repeated. */
static unsigned read_batch(index_pair *both, model_reader *reader)
{
    unsigned n = model_below(reader, MODEL_BATCH), at = model_byte(reader),
             stride = 1 + model_below(reader, 9);
    for (unsigned i = 0; i < n; i++) {
        both->elements[i] = (at + i * stride) % TWIN_ELEMENTS;
        both->hashes[i] = index_twin_element(&both->twin, both->elements[i]);
    }
    return n;
}

/* The unit of each element, as with single calls. */
static void apply_batch(index_pair *both, model_reader *reader, unsigned n, uint32_t number)
{
    index_twin *twin = &both->twin;
    for (unsigned i = 0; i < n && !reader->failed; i++) {
        unsigned class = index_twin_class(twin, both->elements[i]);
        int place =
            number == BRY_INDEX_NEWEST ? place_newest(both, class) : index_twin_find(twin, number);
        model_expect(reader, place != TWIN_NO_UNIT);
        if (place == TWIN_NO_UNIT)
            return;
        index_twin_unit *unit = &twin->unit[place];
        model_expect(reader, both->went[i] == unit->number);
        put(unit, class, holds(unit, class) ? BRY_PRESENT : BRY_ABSENT);
    }
}

/* A supplier may return one element too many, so a unit may exceed its capacity. */
static uint64_t room_in(const index_pair *both, int place)
{
    if (place == TWIN_NO_UNIT)
        return 0;
    const index_twin_unit *unit = &both->twin.unit[place];
    return unit->capacity > unit->elements ? unit->capacity - unit->elements : 0;
}

/* The number of further units that n elements need at most. */
static uint64_t units_needed(const index_pair *both, unsigned n)
{
    uint64_t room = room_in(both, index_twin_newest(&both->twin));
    return n <= room ? 0 : (n - room - 1) / both->options.unit_capacity + 1;
}

void index_do_add_n(index_pair *both, model_reader *reader)
{
    index_twin *twin = &both->twin;
    bool newest = model_below(reader, 3) > 0;
    uint32_t number = newest ? BRY_INDEX_NEWEST : index_pick_unit(both, reader);
    unsigned n = read_batch(both, reader);
    uint64_t needed = newest ? units_needed(both, n) : 0;
    if (needed > (uint64_t)(TWIN_UNITS - twin->count))
        return;
    model_say(reader, "add %u elements to %s %u", n, newest ? "the newest" : "unit",
              newest ? 0 : number);
    bry_status status = bry_index_add_n(both->index, both->hashes, n, number, both->went, NULL);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    int place = newest ? TWIN_NO_UNIT : index_twin_find(twin, number);
    if (!newest && (place == TWIN_NO_UNIT || twin->unit[place].sealed)) {
        model_expect(reader, status == (place == TWIN_NO_UNIT ? BRY_E_NOUNIT : BRY_E_SEALED));
        return;
    }
    bool full = newest ? both->options.fixed &&
                             needed + (uint64_t)twin->count > both->options.units && needed > 0
                       : n > room_in(both, place);
    if (status == BRY_E_FULL) {
        model_expect(reader, full || may_be_full(both));
        return;
    }
    bool larger = both->options.dba.control == BRY_INDEX_LARGER; /* units may get more capacity */
    model_expect(reader, status == BRY_OK && (!full || larger));
    if (both->exact) {
        apply_batch(both, reader, n, number);
        return;
    }
    index_learn(both, reader);
    for (unsigned i = 0; i < n; i++) {
        place = index_twin_find(twin, both->went[i]);
        model_expect(reader, place != TWIN_NO_UNIT);
        if (place != TWIN_NO_UNIT)
            index_twin_hold(&twin->unit[place], index_twin_class(twin, both->elements[i]));
    }
}

/* ---- deleting ---- */

static void del_one(index_pair *both, model_reader *reader, unsigned element, uint32_t number)
{
    index_twin *twin = &both->twin;
    unsigned class = index_twin_class(twin, element);
    int place = index_twin_find(twin, number);
    /* Callers delete only present elements; compact accepts any. */
    if (!both->exact && place != TWIN_NO_UNIT && !holds(&twin->unit[place], class))
        return;
    bry_answer was = BRY_UNSURE;
    bry_status status = bry_index_del(both->index, index_twin_element(twin, element), number, &was);
    if (place == TWIN_NO_UNIT) {
        model_expect(reader, status == BRY_E_NOUNIT && was == BRY_UNSURE);
        return;
    }
    index_twin_unit *unit = &twin->unit[place];
    model_expect(reader, status == BRY_OK);
    model_expect(reader, was == (holds(unit, class) ? BRY_PRESENT : BRY_ABSENT));
    if (both->exact) {
        unit->elements -= unit->held[class];
    } else {
        unit->maybe[class] = 1;
        unit->stale += unit->stale < unit->elements;
    }
    unit->held[class] = 0;
}

void index_do_del(index_pair *both, model_reader *reader)
{
    unsigned element = model_below(reader, TWIN_ELEMENTS);
    uint32_t number = index_pick_unit(both, reader);
    model_say(reader, "delete %u from unit %u", element, number);
    del_one(both, reader, element, number);
}

void index_do_del_many(index_pair *both, model_reader *reader)
{
    uint32_t number = index_pick_unit(both, reader);
    unsigned n = read_batch(both, reader);
    model_say(reader, "delete %u elements from unit %u", n, number);
    for (unsigned i = 0; i < n && !reader->failed; i++)
        del_one(both, reader, both->elements[i], number);
}

/* ---- asking ---- */

/* Asks each unit whether it is a candidate: their number must agree, and include these. */
static void compare_units(const index_pair *both, model_reader *reader, bry_hash hash,
                          const uint32_t *units, size_t listed, size_t total)
{
    const index_twin *twin = &both->twin;
    size_t candidates = 0;
    uint32_t unused = 0;
    for (int i = 0; i < twin->count; i++) {
        candidates += bry_index_unit_has(both->index, hash, twin->unit[i].number) == BRY_PRESENT;
        unused += unused <= twin->unit[i].number ? twin->unit[i].number - unused + 1 : 0;
    }
    for (size_t i = 0; i < listed; i++)
        model_expect(reader, bry_index_unit_has(both->index, hash, units[i]) == BRY_PRESENT);
    model_expect(reader, candidates == total);
    model_expect(reader, bry_index_unit_has(both->index, hash, unused) == BRY_ABSENT);
}

/* The candidates of one element, at most `room` of them in units[]. */
static void compare_candidates(index_pair *both, model_reader *reader, unsigned class,
                               const uint32_t *units, size_t room, size_t total)
{
    const index_twin *twin = &both->twin;
    size_t at = 0, sure = 0, unsure = 0;
    for (int i = twin->count; i-- > 0;) {
        const index_twin_unit *unit = &twin->unit[i];
        bool there = at < room && at < total && units[at] == unit->number;
        sure += holds(unit, class);
        unsure += !certain(both, unit, class);
        if (holds(unit, class) && at < room && !there) {
            model_fail(reader, "unit %u is no candidate of class %u, or not in its place",
                       unit->number, class);
            return;
        }
        if (there && !holds(unit, class) && certain(both, unit, class)) {
            model_fail(reader, "unit %u is a candidate of class %u", unit->number, class);
            return;
        }
        at += there;
    }
    model_expect(reader, total >= sure && total <= sure + unsure);
    model_expect(reader, at == (total < room ? total : room));
}

void index_compare(index_pair *both, model_reader *reader, unsigned first, unsigned n)
{
    const index_twin *twin = &both->twin;
    size_t room = reader->step % (TWIN_UNITS + 1);
    for (unsigned i = 0; i < n; i++) {
        both->elements[i] = (first + i) % TWIN_ELEMENTS;
        both->hashes[i] = index_twin_element(twin, both->elements[i]);
    }
    bry_index_has_n(both->index, both->hashes, n, both->answers);
    memset(both->units, 0xee, sizeof both->units);
    bry_index_locate_n(both->index, both->hashes, n, room ? both->units : NULL, room, both->totals);
    for (unsigned i = 0; i < n && !reader->failed; i++) {
        unsigned class = index_twin_class(twin, both->elements[i]);
        uint32_t units[TWIN_UNITS];
        size_t total = bry_index_locate(both->index, both->hashes[i], units, room);
        model_expect(reader, total == both->totals[i]);
        model_expect(reader, memcmp(units, both->units + i * room,
                                    (total < room ? total : room) * sizeof units[0]) == 0);
        bry_answer any = bry_index_has(both->index, both->hashes[i]);
        model_expect(reader, any == (total ? BRY_PRESENT : BRY_ABSENT) && both->answers[i] == any);
        compare_candidates(both, reader, class, units, room, total);
        compare_units(both, reader, both->hashes[i], units, total < room ? total : room, total);
    }
}
