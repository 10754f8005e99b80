/*
 * The type COUNTER. Its payload, encoding 1: the table as the library saves it (doc/format.md, kind
 * CNTR). The note has MAXMEM, the number of commands refused with FULL, and SKEW in milliseconds,
 * little-endian u64 each.
 */
#include "module/counter/counter_type.h"

#include "module/core/little_endian.h"
#include "module/core/settings.h"

enum { NOTE_SIZE = 24 };

/* ---- memory --------------------------------------------------------------------------------- */

static account *counter_account(counter_table *self)
{
    return &((held_object *)(void *)self - 1)->account;
}

/* The limit of the command that is running. */
static struct {
    const counter_table *of; /* NULL: no limit */
    uint64_t bytes;
    bool denied;
} limit;

void counter_limit_begin(const counter_table *table, uint64_t bytes)
{
    limit.of = bytes ? table : NULL;
    limit.bytes = bytes;
    limit.denied = false;
}

bool counter_limit_end(void)
{
    limit.of = NULL;
    return limit.denied;
}

/* The real size of a block is known only after it is allocated. */
static void *counter_alloc(void *opaque, size_t size)
{
    account *bill = counter_account(opaque);
    if (limit.of != opaque)
        return account_alloc(bill, size);
    void *block = size <= limit.bytes ? account_alloc(bill, size) : NULL;
    if (size > limit.bytes || (block && bill->bytes > limit.bytes)) {
        if (block)
            account_free(bill, block, size);
        limit.denied = true;
        return NULL;
    }
    return block;
}

static void counter_free(void *opaque, void *block, size_t size)
{
    account_free(counter_account(opaque), block, size);
}

static bry_allocator counter_allocator(counter_table *self)
{
    return (bry_allocator){counter_alloc, counter_free, self};
}

/* ---- settings ------------------------------------------------------------------------------- */

/* Larger than the library's default: a server's tables are large, an id beyond the plan takes one
 * byte more, and memory is allocated only as ids arrive. */
static long long default_capacity = 1000000;

static const module_setting counter_settings[] = {
    {"counter-capacity", SETTING_COUNT, &default_capacity, .least = 1, .most = BRY_CAPACITY_MAX},
    {0},
};

uint64_t counter_default_capacity(void)
{
    return (uint64_t)default_capacity;
}

/* ---- creating ------------------------------------------------------------------------------- */

bry_status counter_create(bry_counters_options *options, held_object **object)
{
    uint64_t max_bytes = options->max_bytes, skew = options->max_skew;
    held_object *made = object_new(&counter_family);
    if (!made)
        return BRY_E_NOMEM;
    counter_table *table = object_extra(made);
    bry_allocator allocator = counter_allocator(table);
    options->allocator = &allocator;
    options->max_bytes = options->max_skew = 0;
    bry_status status = bry_counters_create(options, &table->counters);
    options->allocator = NULL;
    if (status == BRY_OK)
        status = bry_counters_options_like(table->counters, options);
    options->max_bytes = table->max_bytes = max_bytes;
    options->max_skew = table->skew = skew;
    if (status != BRY_OK) {
        object_free(made);
        return status;
    }
    made->thing = table;
    *object = made;
    return BRY_OK;
}

bry_hash counter_id(const counter_table *table, const void *name, size_t name_len,
                    const server_string *id)
{
    size_t len;
    const char *bytes = api.StringPtrLen(id, &len);
    return bry_counters_prepare(table->counters, name, name_len, bytes, len);
}

/* ---- the family ----------------------------------------------------------------------------- */

static bry_status counter_type_save(const void *thing, const bry_sink *sink)
{
    const counter_table *table = thing;
    unsigned char note[NOTE_SIZE];
    store64(note, table->max_bytes);
    store64(note + 8, table->refused);
    store64(note + 16, table->skew);
    bry_save how = BRY_SAVE;
    how.note = note;
    how.note_len = sizeof note;
    return bry_counters_save(table->counters, sink, &how);
}

/* True if the library would enforce limits. Here this module enforces them, and replicas repeat
 * what a primary has accepted without checking. */
static bool counter_has_limits(const bry_counters *counters)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    bry_counters_options_like(counters, &options);
    return options.max_bytes || options.max_skew;
}

/* load->allocator is that of the object's account (object_load()). */
static bry_status counter_type_load(const bry_source *source, bry_load *load, void **thing)
{
    bry_buffer note = BRY_BUFFER;
    const bry_allocator *given = load->allocator;
    counter_table *table = object_extra_of(given->opaque);
    bry_allocator allocator = counter_allocator(table);
    load->allocator = &allocator;
    load->note = &note;
    load->note_max = NOTE_SIZE;
    bry_status status = bry_counters_load(source, load, &table->counters);
    load->allocator = given;
    load->note = NULL;
    if (status == BRY_OK && (note.len != NOTE_SIZE || counter_has_limits(table->counters))) {
        bry_counters_destroy(table->counters);
        load->problem = note.len == NOTE_SIZE
                            ? "the table has limits, which tables of a server do not have"
                            : "the note with the table's MAXMEM is missing";
        status = BRY_E_BADDATA;
    }
    if (status == BRY_OK) {
        table->max_bytes = load64(note.bytes);
        table->refused = load64(note.bytes + 8);
        table->skew = load64(note.bytes + 16);
        *thing = table;
    }
    bry_buffer_free(&note);
    return status;
}

static bry_status counter_type_clone(const void *thing, account *bill, void **copy)
{
    const counter_table *from = thing;
    counter_table *made = object_extra_of(bill);
    bry_allocator allocator = counter_allocator(made);
    bry_status status = bry_counters_clone(from->counters, &allocator, &made->counters);
    if (status != BRY_OK)
        return status;
    made->max_bytes = from->max_bytes;
    made->refused = from->refused;
    made->skew = from->skew;
    *copy = made;
    return BRY_OK;
}

static void counter_type_errors(const void *thing, double *promised, double *estimated)
{
    bry_counters_stats stats = {0};
    bry_counters_get_stats(((const counter_table *)thing)->counters, &stats);
    *promised = stats.promised_error;
    *estimated = stats.estimated_error;
}

FAMILY_RDB_LOAD(counter_family)

command_family counter_family = {
    .name = "counter",
    .type_name = "bloom-cnt",
    .encoding = 1,
    .job = BRY_JOB_COUNTERS,
    .wrapped = true,
    .restore_command = "BLOOMERY.COUNTER.LOAD",
    .created_by = "COUNTER.CREATE",
    .commands = counter_commands,
    .settings = counter_settings,
    .rdb_load = counter_family_rdb_load,
    .extra = sizeof(counter_table),
    .save = counter_type_save,
    .load = counter_type_load,
    .clone = counter_type_clone,
    .errors = counter_type_errors,
};
