/* The options of an index: defaults, ranges, and the engine that plans the rest. */
#include "index/index_object.h"

#include "common/struct_size.h"

const bry__engine_row bry__index_engines[] = {
    BRY__INDEX_ENGINES(BRY__ENGINE_ROW){BRY_ENGINE_AUTO, NULL, NULL}};

static bool index_in_range(const bry_index_options *options)
{
    return bry_engine_name(options->engine) && options->fixed <= 1 && !options->reserved &&
           options->dba.segmented <= 1 &&
           bry__all_zero(options->dba.reserved, sizeof options->dba.reserved) &&
           options->units <= BRY_INDEX_UNITS_MAX && options->unit_capacity <= BRY_CAPACITY_MAX &&
           options->error >= BRY_INDEX_ERROR_MIN && options->error <= BRY_ERROR_MAX &&
           options->dba.stale >= 0 && options->dba.stale <= 1 &&
           (unsigned)options->dba.control <= BRY_INDEX_UNCONTROLLED && options->dba.factor <= 16 &&
           options->dba.factor != 1 && options->dba.hashes <= 64 &&
           (options->dba.unit_bits == 0) == (options->dba.hashes == 0);
}

bry_status bry__index_read_options(const bry_index_options *given, bry_index_options *options,
                                   const bry__index_engine **engine, bry_index_shape *shape)
{
    *options = (bry_index_options)BRY_INDEX_OPTIONS;
    bry_status status = bry__struct_read(options, sizeof *options, given);
    if (status != BRY_OK)
        return status;
    if (options->engine == BRY_ENGINE_AUTO)
        options->engine = BRY_ENGINE_COMPACT;
    if (options->units == 0)
        options->units = 64;
    if (options->unit_capacity == 0)
        options->unit_capacity = 65536;
    if (options->error == 0)
        options->error = 0.001;
    bry_index_dba *dba = &options->dba;
    if (options->engine == BRY_ENGINE_COMPACT &&
        (dba->control != BRY_INDEX_TIGHTER || dba->factor || dba->group || dba->hashes ||
         dba->unit_bits || dba->stale != 0 || dba->segmented))
        return BRY_E_UNSUPPORTED;
    if (options->engine == BRY_ENGINE_DBA && dba->stale == 0)
        dba->stale = BRY__INDEX_STALE;
    if (!index_in_range(options))
        return BRY_E_RANGE;
    *engine = bry__engine_find(bry__index_engines, options->engine);
    if (!*engine)
        return BRY_E_UNSUPPORTED;
    status = (*engine)->plan(options, shape);
    if (status == BRY_OK) {
        uint64_t pages = (options->units + BRY__NUMBERS_PAGE - 1) / BRY__NUMBERS_PAGE;
        shape->bytes +=
            sizeof(bry_index) +
            bry__records_bytes(bry__records_room(options->units), sizeof(bry__index_slot)) +
            pages * (sizeof(bry__numbers_page) + sizeof(bry__numbers_page *));
        shape->bytes_empty += sizeof(bry_index);
    }
    return status;
}

bry__index_kept bry__index_keep(const bry_index_options *options)
{
    return (bry__index_kept){
        .engine = options->engine,
        .fixed = options->fixed,
        .units = options->units,
        .group = options->dba.group,
        .hashes = options->dba.hashes,
        .factor = options->dba.factor,
        .segmented = options->dba.segmented,
        .control = options->dba.control,
        .unit_capacity = options->unit_capacity,
        .unit_bits = options->dba.unit_bits,
        .seed = options->seed,
        .error = options->error,
        .stale = options->dba.stale,
    };
}

bry_index_options bry__index_kept_options(const bry__index_kept *kept)
{
    return (bry_index_options){
        .struct_size = sizeof(bry_index_options),
        .engine = kept->engine,
        .fixed = kept->fixed,
        .units = kept->units,
        .unit_capacity = kept->unit_capacity,
        .error = kept->error,
        .seed = kept->seed,
        .dba = {.control = kept->control,
                .factor = kept->factor,
                .group = kept->group,
                .hashes = kept->hashes,
                .unit_bits = kept->unit_bits,
                .stale = kept->stale,
                .segmented = kept->segmented},
    };
}
