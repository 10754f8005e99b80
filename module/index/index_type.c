#include "module/index/index_type.h"

#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "module/core/settings.h"

#include <inttypes.h>

/* ---- settings ------------------------------------------------------------------------------ */

static long long default_units = 64, default_capacity = 65536;
static share_setting default_error = {.least = BRY_INDEX_ERROR_MIN, .most = BRY_ERROR_MAX};
static int default_engine = BRY_ENGINE_AUTO;

static const module_setting index_settings[] = {
    {"index-units", SETTING_COUNT, &default_units, .least = 1, .most = BRY_INDEX_UNITS_MAX},
    {"index-capacity", SETTING_COUNT, &default_capacity, .least = 1, .most = BRY_CAPACITY_MAX},
    {"index-error", SETTING_SHARE, &default_error, .preset = "0.001"},
    {"index-engine", SETTING_ENGINE, &default_engine, .job = BRY_JOB_INDEX},
    {0},
};

bry_index_options index_options_default(void)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    options.units = (uint32_t)default_units;
    options.unit_capacity = (uint64_t)default_capacity;
    options.error = default_error.value;
    options.engine = (bry_engine)default_engine;
    return options;
}

/* The library's options_like() describes the shape of the next unit, which differs beyond the
 * planned units. The shape that an index starts with follows from the other options. */
bry_index_options index_options_of(const held_index *held)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    bry_index_options_like(held->index, &options);
    options.dba.unit_bits = 0;
    options.dba.hashes = 0;
    return options;
}

/* ---- creating ------------------------------------------------------------------------------ */

static void index_release(held_index *held, const bry_allocator *allocator)
{
    index_numbers_free(&held->numbers);
    bry_index_destroy(held->index);
    allocator->free(allocator->opaque, held, sizeof *held);
}

static void index_type_destroy(void *thing)
{
    held_index *held = thing;
    bry_allocator allocator = held->numbers.allocator;
    index_release(held, &allocator);
}

/* Takes ownership of the index. NULL, with the index destroyed, if out of memory. */
static held_index *index_wrap(bry_index *index, const bry_allocator *allocator)
{
    held_index *held = allocator->alloc(allocator->opaque, sizeof *held);
    if (!held) {
        bry_index_destroy(index);
        return NULL;
    }
    *held = (held_index){.index = index, .dba = bry_index_engine(index) == BRY_ENGINE_DBA};
    held->untidy = held->dba;
    held->numbers = (index_numbers){.allocator = *allocator, .seed = bry_index_seed(index)};
    return held;
}

static void index_refresh_errors(held_object *object)
{
    held_index *held = index_of(object);
    bry_index_stats stats = {0};
    bry_index_get_stats(held->index, &stats);
    object->promised = (float)stats.promised_error;
    object->estimated = (float)stats.estimated_error;
    held->looked_at = object->items;
}

bry_status index_create(bry_index_options *options, held_object **object)
{
    held_object *made = object_new(&index_family);
    if (!made)
        return BRY_E_NOMEM;
    bry_allocator allocator = account_allocator(&made->account);
    bry_index_options with_allocator = *options;
    with_allocator.allocator = &allocator;
    bry_index *index = NULL;
    bry_status status = bry_index_create(&with_allocator, &index);
    if (status == BRY_OK && !(made->thing = index_wrap(index, &allocator)))
        status = BRY_E_NOMEM;
    if (status != BRY_OK) {
        object_free(made);
        return status;
    }
    *options = index_options_of(index_of(made));
    index_refresh_errors(made);
    *object = made;
    return BRY_OK;
}

/* ---- units and numbers --------------------------------------------------------------------- */

bool index_takes_unit(server_context *context, held_index *held, uint64_t number)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    bry_index_options_like(held->index, &options);
    uint64_t most = options.fixed ? options.units : BRY_INDEX_UNITS_MAX;
    if (held->numbers.used < most)
        return true;
    index_family.totals.refused++;
    return reply_false(context, "FULL",
                       "unit %" PRIu64 " cannot be opened: the index has all %" PRIu64
                       " units that it can have%s",
                       number, most, held->dba ? " (engine dba cannot grow on a server)" : "");
}

int index_refused(server_context *context, const held_object *object, size_t n, bry_status status)
{
    if (status != BRY_E_FULL)
        return object_refused(context, &index_family, status);
    bry_index_options options = BRY_INDEX_OPTIONS;
    bry_index_shape shape = {0};
    bry_index_options_like(index_of(object)->index, &options);
    bry_index_plan(&options, &shape);
    api.ReplicateVerbatim(context);
    index_family.totals.refused++;
    return object_reply_full(context, object->items + n, shape.grows_to,
                             "units imported beyond UNITS have used up the ERROR of the index: "
                             "create one for more UNITS");
}

int index_reply_no_unit(server_context *context, uint64_t number)
{
    return reply_error(context, "NOUNIT", "there is no unit %" PRIu64, number);
}

bool index_read_unit(server_context *context, const server_string *argument, uint64_t *number)
{
    return read_plain(context, argument, "unit", 0, INDEX_MOST_NUMBER, number);
}

#define LEAST_WORK UINT64_C(4096) /* engine dba: as much as copying a megabyte */
#define WORK_AN_ITEM UINT64_C(16)
#define SWEEP_AN_ITEM UINT64_C(128)
#define SWEEP_MOST UINT64_C(524288) /* entries, about two milliseconds */
#define SMALL_UNIT 32u

void index_tidy(held_index *held, size_t n)
{
    uint64_t left = 0;
    if (held->untidy &&
        bry_index_step(held->index, NULL, LEAST_WORK + WORK_AN_ITEM * n, &left) == BRY_OK)
        held->untidy = left != 0;
}

/*
 * The library sweeps at least one segment of some hundred entries, which is much for a unit of a
 * few items: then only one such unit in SMALL_UNIT sweeps. Additions sweep by themselves. If memory
 * runs out, the sweep is left for the next time.
 */
bool index_sweep(held_index *held, uint64_t n)
{
    if (held->dba || (n < SMALL_UNIT && held->numbers.used % SMALL_UNIT != 0))
        return true;
    uint64_t most = SWEEP_MOST / SWEEP_AN_ITEM;
    return bry_index_step(held->index, NULL, n < most ? n * SWEEP_AN_ITEM + 1 : SWEEP_MOST, NULL) ==
           BRY_OK;
}

/* Lists all units. NULL: there are none, or out of memory. */
static uint32_t *index_list_units(const held_index *held, size_t *count)
{
    const bry_allocator *allocator = &held->numbers.allocator;
    *count = bry_index_units(held->index, NULL, 0);
    uint32_t *units = *count ? allocator->alloc(allocator->opaque, *count * sizeof *units) : NULL;
    if (units)
        bry_index_units(held->index, units, *count);
    return units;
}

static void index_free_list(const held_index *held, uint32_t *units, size_t count)
{
    const bry_allocator *allocator = &held->numbers.allocator;
    if (units)
        allocator->free(allocator->opaque, units, count * sizeof *units);
}

bool index_drop(held_object *object, uint64_t number, uint32_t unit, bool sweep)
{
    held_index *held = index_of(object);
    bry_index_unit_info was = {0};
    bry_index_get_unit_info(held->index, unit, &was);
    index_numbers_del(&held->numbers, number);
    bry_index_drop(held->index, unit);
    held->untidy = held->dba;
    index_tidy(held, 0);
    bool swept = !sweep || index_sweep(held, was.elements);
    index_changed(object);
    return swept;
}

void index_changed(held_object *object)
{
    held_index *held = index_of(object);
    object_recount(object);
    uint64_t now = object->items, then = held->looked_at;
    uint64_t difference = now > then ? now - then : then - now;
    if (difference > then / 16 + 64)
        index_refresh_errors(object);
}

void index_count(held_object *object, size_t n)
{
    if (object->promised == 0) /* it was loaded or copied, and its error not estimated yet */
        index_refresh_errors(object);
    object_count(object, n);
}

/* ---- the family ---------------------------------------------------------------------------- */

/* Enters the numbers of all units; *problem says what is wrong. */
static bry_status index_enter_numbers(held_index *held, const uint32_t *units, size_t count,
                                      const char **problem)
{
    for (size_t i = 0; i < count; i++) {
        bry_index_unit_info unit = {0};
        bry_index_get_unit_info(held->index, units[i], &unit);
        if (unit.tag > INDEX_MOST_NUMBER ||
            index_numbers_find(&held->numbers, unit.tag) != INDEX_NO_UNIT) {
            *problem = "the number of a unit is out of range or a duplicate";
            return BRY_E_BADDATA;
        }
        if (index_numbers_reserve(&held->numbers) != BRY_OK) {
            *problem = "out of memory for the numbers of the units";
            return BRY_E_NOMEM;
        }
        index_numbers_put(&held->numbers, unit.tag, units[i]);
    }
    return BRY_OK;
}

static bry_status index_read_units(held_index *held, const char **problem)
{
    size_t count;
    uint32_t *units = index_list_units(held, &count);
    if (!units && count > 0) {
        *problem = "out of memory for the numbers of the units";
        return BRY_E_NOMEM;
    }
    bry_status status = index_enter_numbers(held, units, count, problem);
    index_free_list(held, units, count);
    return status;
}

/* load->allocator is that of the object's account (object_load()). */
static bry_status index_type_load(const bry_source *source, bry_load *load, void **thing)
{
    const bry_allocator *allocator = load->allocator;
    bry_index *index;
    bry_status status = bry_index_load(source, load, &index);
    if (status != BRY_OK)
        return status;
    held_index *held = index_wrap(index, allocator);
    if (!held) {
        load->problem = "out of memory for the index";
        return BRY_E_NOMEM;
    }
    status = index_read_units(held, &load->problem);
    if (status == BRY_OK)
        *thing = held;
    else
        index_release(held, allocator);
    return status;
}

static bry_status index_type_clone(const void *thing, account *bill, void **copy)
{
    const held_index *from = thing;
    bry_allocator allocator = account_allocator(bill);
    bry_index *index;
    bry_status status = bry_index_clone(from->index, &allocator, &index);
    if (status != BRY_OK)
        return status;
    held_index *held = index_wrap(index, &allocator);
    if (!held)
        return BRY_E_NOMEM;
    status = index_numbers_clone(&from->numbers, &held->numbers);
    if (status == BRY_OK)
        *copy = held;
    else
        index_release(held, &allocator);
    return status;
}

FAMILY_RDB_LOAD(index_family)

command_family index_family = {
    .name = "index",
    .type_name = "bloom-idx",
    .encoding = 1,
    .job = BRY_JOB_INDEX,
    .wrapped = true,
    .restore_command = "BLOOMERY.INDEX.LOAD",
    .created_by = "INDEX.CREATE",
    .commands = index_commands,
    .settings = index_settings,
    .rdb_load = index_family_rdb_load,
    .load = index_type_load,
    .clone = index_type_clone,
    .destroy = index_type_destroy,
};
