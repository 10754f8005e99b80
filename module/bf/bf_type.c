/*
 * The type FILTER. Its payload, encoding 1: the filter as the library saves it (doc/format.md, kind
 * FLTR). The note has capacity and expansion (0: does not scale) as reserved, u64 each, and the
 * requested error, an IEEE double; all little-endian.
 */
#include "module/bf/bf_type.h"

#include "module/core/little_endian.h"
#include "module/core/replies.h"
#include "module/core/settings.h"
#include "text/number_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NOTE_SIZE = 24 };

/* ---- settings ------------------------------------------------------------------------------ */

#define MOST_PRESET 0.99

static long long default_capacity = 100;
static share_setting default_error = {
    .value = 0.01, .least = BRY_FILTER_ERROR_MIN, .most = MOST_PRESET};
static long long default_expansion = 2;

static bool bf_preset_number(const server_string *value, long long least, uint64_t most,
                             long long *preset)
{
    long long number;
    if (api.StringToLongLong(value, &number) != SERVER_OK || number < least ||
        (uint64_t)number > most)
        return false;
    *preset = number;
    return true;
}

bool bf_preset_capacity(const server_string *value)
{
    return bf_preset_number(value, 1, BRY_CAPACITY_MAX, &default_capacity);
}

bool bf_preset_expansion(const server_string *value)
{
    return bf_preset_number(value, 0, BF_MOST_EXPANSION, &default_expansion);
}

bool bf_preset_error(const server_string *value)
{
    double error;
    if (api.StringToDouble(value, &error) != SERVER_OK ||
        !(error >= BRY_FILTER_ERROR_MIN && error <= MOST_PRESET))
        return false;
    default_error.value = error;
    return true;
}

/* The names are RedisBloom's, without the prefix `bloomery.` on servers that allow that. */
static const module_setting bf_settings[] = {
    {"bf-initial-size", SETTING_COUNT, &default_capacity, .least = 1, .most = BRY_CAPACITY_MAX,
     .known = true},
    {"bf-error-rate", SETTING_SHARE, &default_error, .known = true},
    {"bf-expansion-factor", SETTING_COUNT, &default_expansion, .most = BF_MOST_EXPANSION,
     .known = true},
    {"bf", SETTING_CHOICE_AT_START, &bf_choice, .words = bf_choices},
    {0},
};

bf_parameters bf_default_parameters(void)
{
    return (bf_parameters){.capacity = (uint64_t)default_capacity,
                           .expansion = (uint64_t)default_expansion,
                           .error = default_error.value};
}

/* ---- creating ------------------------------------------------------------------------------ */

static bry_filter_options bf_options_of(const bf_parameters *made)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = BRY_ENGINE_COMPACT;
    options.fixed = made->expansion == 0;
    options.capacity = made->capacity;
    if (!options.fixed && options.capacity < BF_LEAST_PLAN)
        options.capacity = BF_LEAST_PLAN;
    options.error = made->error < BRY_ERROR_MAX ? made->error : BRY_ERROR_MAX;
    options.seed = made->seed;
    return options;
}

bf_parameters bf_made(const bf_filter *self)
{
    return (bf_parameters){.capacity = self->capacity,
                           .expansion = self->expansion,
                           .seed = bry_filter_seed(self->filter),
                           .error = self->error};
}

/* Makes the bf_filter of an object. */
static void *bf_hold(account *bill, bry_filter *filter, const bf_parameters *made)
{
    bf_filter *self = object_extra_of(bill);
    *self = (bf_filter){.filter = filter,
                        .capacity = made->capacity,
                        .error = made->error,
                        .expansion = (uint32_t)made->expansion};
    return self;
}

static bry_status bf_create_object(bf_parameters *parameters, const bry_filter_options *options,
                                   held_object **object)
{
    held_object *made = object_new(&filter_family);
    if (!made)
        return BRY_E_NOMEM;
    bry_allocator allocator = account_allocator(&made->account);
    bry_filter_options with_allocator = *options;
    with_allocator.allocator = &allocator;
    bry_filter *filter;
    bry_status status = bry_filter_create(&with_allocator, &filter);
    if (status != BRY_OK) {
        object_free(made);
        return status;
    }
    parameters->seed = bry_filter_seed(filter);
    made->thing = bf_hold(&made->account, filter, parameters);
    *object = made;
    return BRY_OK;
}

held_object *bf_create(server_context *context, bf_parameters *parameters)
{
    bry_filter_options options = bf_options_of(parameters);
    bry_filter_shape shape = {0};
    held_object *made = NULL;
    bry_status status;
    if (parameters->error < BRY_FILTER_ERROR_MIN)
        reply_error(context, "RANGE", "the error rate must be at least %g", BRY_FILTER_ERROR_MIN);
    else if (bry_filter_plan(&options, &shape) != BRY_OK)
        reply_error(context, "RANGE", "the error rate is too small for this capacity");
    else if (!object_may_grow(context, NULL, shape.bytes_empty))
        object_too_large(context, &filter_family);
    else if ((status = bf_create_object(parameters, &options, &made)) != BRY_OK)
        reply_status(context, status);
    return made;
}

void bf_replicate_creation(server_context *context, server_string *name,
                           const bf_parameters *parameters)
{
    char error[TEXT_NUMBER_SIZE], capacity[24], expansion[24], seed[24];
    text_number(parameters->error, error);
    snprintf(capacity, sizeof capacity, "%" PRIu64, parameters->capacity);
    snprintf(expansion, sizeof expansion, "%" PRIu64, parameters->expansion);
    snprintf(seed, sizeof seed, "%" PRIu64, parameters->seed);
    if (parameters->expansion)
        api.Replicate(context, BF_EFFECT_CREATE, "scccccc", name, error, capacity, "EXPANSION",
                      expansion, "SEED", seed);
    else
        api.Replicate(context, BF_EFFECT_CREATE, "sccccc", name, error, capacity, "NONSCALING",
                      "SEED", seed);
}

/* ---- numbers ------------------------------------------------------------------------------- */

static void bf_type_errors(const void *thing, double *promised, double *estimated)
{
    bry_filter_stats stats = {0};
    bry_filter_get_stats(((const bf_filter *)thing)->filter, &stats);
    *promised = ((const bf_filter *)thing)->error;
    *estimated = stats.estimated_error;
}

/* ---- the family ---------------------------------------------------------------------------- */

static bry_status bf_type_save(const void *thing, const bry_sink *sink)
{
    const bf_filter *self = thing;
    unsigned char note[NOTE_SIZE];
    uint64_t error;
    memcpy(&error, &self->error, sizeof error);
    store64(note, self->capacity);
    store64(note + 8, self->expansion);
    store64(note + 16, error);
    bry_save how = BRY_SAVE;
    how.note = note;
    how.note_len = sizeof note;
    return bry_filter_save(self->filter, sink, &how);
}

static bool bf_read_note(const bry_buffer *note, bf_parameters *made)
{
    if (note->len != NOTE_SIZE)
        return false;
    uint64_t error = load64(note->bytes + 16);
    *made = (bf_parameters){.capacity = load64(note->bytes), .expansion = load64(note->bytes + 8)};
    memcpy(&made->error, &error, sizeof error);
    return made->capacity >= 1 && made->capacity <= BRY_CAPACITY_MAX &&
           made->expansion <= BF_MOST_EXPANSION && made->error >= BRY_FILTER_ERROR_MIN &&
           made->error < 1;
}

/* True if these parameters give such a filter, with this version's plan or another's. */
static bool bf_matches_note(const bry_filter *filter, const bf_parameters *made)
{
    bry_filter_options is = BRY_FILTER_OPTIONS, planned = bf_options_of(made);
    bry_filter_options_like(filter, &is);
    return is.engine == planned.engine && is.fixed == planned.fixed && is.error == planned.error &&
           (is.fixed ? is.capacity == made->capacity : is.capacity >= made->capacity);
}

/* load->allocator is that of the object's account (object_load()). */
static bry_status bf_type_load(const bry_source *source, bry_load *load, void **thing)
{
    bry_buffer note = BRY_BUFFER;
    bry_filter *read;
    bf_parameters made;
    load->note = &note;
    load->note_max = NOTE_SIZE;
    bry_status status = bry_filter_load(source, load, &read);
    load->note = NULL;
    if (status == BRY_OK && !(bf_read_note(&note, &made) && bf_matches_note(read, &made))) {
        bry_filter_destroy(read);
        load->problem = "the filter does not match the parameters it was reserved with";
        load->offset = 0;
        status = BRY_E_BADDATA;
    }
    bry_buffer_free(&note);
    if (status == BRY_OK)
        *thing = bf_hold(load->allocator->opaque, read, &made);
    return status;
}

static bry_status bf_type_clone(const void *thing, account *bill, void **copy)
{
    const bf_filter *from = thing;
    bry_allocator allocator = account_allocator(bill);
    bf_parameters made = bf_made(from);
    bry_filter *filter;
    bry_status status = bry_filter_clone(from->filter, &allocator, &filter);
    if (status == BRY_OK)
        *copy = bf_hold(bill, filter, &made);
    return status;
}

FAMILY_RDB_LOAD(filter_family)

command_family filter_family = {
    .name = "filter",
    .type_name = "bloom-flt",
    .encoding = 1,
    .job = BRY_JOB_FILTER,
    .wrapped = true,
    .restore_command = "BLOOMERY.FILTER.LOAD",
    .commands = filter_commands,
    .settings = bf_settings,
    .rdb_load = filter_family_rdb_load,
    .extra = sizeof(bf_filter),
    .save = bf_type_save,
    .load = bf_type_load,
    .clone = bf_type_clone,
    .errors = bf_type_errors,
};
