/* MAP.SET, INSERT, GET, DEL, REMOVE, EXISTS: the fields of one map. n fields give n answers, in
 * order. Each command is one batch of the library: a change is made for all fields or for none. */
#include "module/core/item_batch.h"
#include "module/core/replies.h"
#include "module/core/settings.h"
#include "module/map/map_request.h"
#include "text/number_parse.h"

#include <inttypes.h>

/* Fields and the values that they get. */
typedef struct field_values {
    item_batch fields;
    uint64_t bytes; /* total of all values */
    bry_map_value *values;
    bry_map_value small_values[BATCH_SMALL];
} field_values;

/* A command that changes fields. */
typedef struct map_change {
    server_context *context;
    server_string **argv;
    size_t first; /* position of the first field */
    size_t words; /* number of arguments from there on */
    const char *effect; /* replicated instead: EFFECT KEY and these arguments; NULL: the command */
    bool existing_only; /* XX: sets only fields that exist */
} map_change;

static void map_change_replicate(const map_change *change)
{
    if (change->effect)
        api.Replicate(change->context, change->effect, "sv", change->argv[1],
                      change->argv + change->first, change->words);
    else
        api.ReplicateVerbatim(change->context);
}

/* Replicates the change and sends its keyspace event. */
static void map_changed(const map_change *change, const char *event)
{
    map_change_replicate(change);
    object_changed(change->context, change->argv[1], event, false);
}

/* Opens n "field value" pairs. False: out of memory. field_values_close() may be called all the
 * same. */
static bool field_values_open(field_values *self, server_string **pairs, size_t n)
{
    self->bytes = 0;
    self->values = self->small_values;
    if (n > BATCH_SMALL)
        self->values = api.TryAlloc(n * sizeof *self->values);
    bool opened = batch_open(&self->fields, pairs, n);
    self->fields.step = 2;
    return opened && self->values;
}

static void field_values_close(field_values *self)
{
    if (self->values != self->small_values && self->values)
        api.Free(self->values);
    batch_close(&self->fields);
}

/* Reads the values of "field value …". False after an error reply. */
static bool field_values_read(const map_change *change, field_values *self, const bry_map *map)
{
    server_context *context = change->context;
    server_string **pairs = self->fields.items;
    char text[QUOTED_SIZE];
    uint32_t bits = bry_map_value_bits(map);
    for (size_t i = 0; i < self->fields.n; i++) {
        const server_string *value = pairs[2 * i + 1];
        size_t len;
        const char *bytes = api.StringPtrLen(value, &len);
        if (bits) {
            uint64_t number;
            const char *problem = text_parse_plain(bytes, len, &number);
            if (problem || number >> bits) {
                bool is_number = !problem || text_is_out_of_range(problem);
                return reply_false(
                    context, is_number ? "RANGE" : "ERR",
                    "value %s of field %s is not an integer of %u bits (argument %zu)",
                    quoted(value, text), quoted(pairs[2 * i], (char[QUOTED_SIZE]){0}), bits,
                    change->first + 2 * i + 1);
            }
            self->values[i] = bry_map_value_number(number);
            continue;
        }
        if (len > BRY_MAP_VALUE_MAX)
            return reply_false(context, "TOOLONG",
                               "the value of field %s has %zu bytes; the limit is %u",
                               quoted(pairs[2 * i], text), len, BRY_MAP_VALUE_MAX);
        self->values[i] = bry_map_value_bytes(bytes, len);
        self->bytes += len;
    }
    return true;
}

static void map_count(held_object *object, size_t n)
{
    object_count(object, n);
    *map_queries(object) += n;
}

/* Replies 1 for each answer that is `yes`, else 0. */
static int map_reply_answers(server_context *context, const item_batch *self, bry_answer yes)
{
    api.ReplyWithArray(context, (long)self->n);
    for (size_t i = 0; i < self->n; i++) {
        if (self->answers[i] == BRY_UNSURE) {
            map_family.totals.unsure++;
            reply_status(context, BRY_E_UNSURE);
        } else {
            api.ReplyWithLongLong(context, self->answers[i] == yes);
        }
    }
    return SERVER_OK;
}

/* ---- queries ------------------------------------------------------------------------------- */

static void map_reply_value(server_context *context, bry_answer answer, bry_map_value value,
                            bool raw)
{
    if (answer == BRY_ABSENT) {
        api.ReplyWithNull(context);
    } else if (answer == BRY_UNSURE) {
        map_family.totals.unsure++;
        reply_status(context, BRY_E_UNSURE);
    } else if (raw) {
        api.ReplyWithLongLong(context, (long long)value.number);
    } else {
        api.ReplyWithStringBuffer(context, value.bytes, value.len);
    }
}

static int map_get_all(server_context *context, server_string **argv, int argc, bool with_values)
{
    opened_key opened;
    if (argc < 3)
        return api.WrongArity(context);
    if (!object_open(context, &map_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    const bry_map *map = opened.object ? map_of(opened.object) : NULL;
    bool raw = map && bry_map_value_bits(map) != 0;
    size_t n = (size_t)argc - 2;
    if (opened.object)
        map_count(opened.object, n);
    else
        map_family.totals.operations += n;
    api.ReplyWithArray(context, (long)n);
    for (size_t done = 0; done < n; done += BATCH_SMALL) {
        item_batch part;
        bry_map_value values[BATCH_SMALL];
        batch_open_part(&part, argv + 2, n, done);
        if (map) { /* else all stay absent */
            batch_hash(&part, bry_map_seed(map));
            bry_map_get_n(map, part.hashes, part.n, values, part.answers);
        }
        for (size_t i = 0; i < part.n; i++) {
            if (with_values || part.answers[i] == BRY_UNSURE)
                map_reply_value(context, part.answers[i], values[i], raw);
            else
                api.ReplyWithLongLong(context, part.answers[i] == BRY_PRESENT);
        }
    }
    return object_close(&opened);
}

int map_command_get(server_context *context, server_string **argv, int argc)
{
    return map_get_all(context, argv, argc, true);
}

int map_command_exists(server_context *context, server_string **argv, int argc)
{
    return map_get_all(context, argv, argc, false);
}

/* ---- refusing ------------------------------------------------------------------------------ */

/* Names the limit that was reached. `more`: number of fields that would have been new. */
static int map_reply_full(server_context *context, const bry_map *map, size_t more, size_t values)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    bry_map_options_like(map, &options);
    bry_map_stats stats = {0};
    bry_map_get_stats(map, &stats);
    if (options.fixed && stats.items + more > options.capacity)
        return reply_error(context, "FULL",
                           "the map was created with NOGROW and has %" PRIu64 " of %" PRIu64
                           " fields; %zu new ones do not fit",
                           stats.items, options.capacity, more);
    if (stats.engine == BRY_ENGINE_KBF && values > stats.values_left)
        return reply_error(context, "FULL",
                           "the map has used %" PRIu64 " of the %" PRIu64
                           " different values that VALUES "
                           "allows; engine kbf frees values only when the map is empty",
                           stats.values, stats.values + stats.values_left);
    bry_map_shape shape = {0};
    bry_map_plan(&options, &shape);
    return object_reply_full(context, stats.items + more, shape.grows_to,
                             "maps merged into this one have used up its ERROR: create maps that "
                             "will be merged with a CAPACITY for the fields of all of them");
}

/* Refuses because of bloomery.max-key-bytes, and says what may help. */
static int map_refuse_size(server_context *context, const held_object *object)
{
    const bry_map *map = map_of(object);
    const char *help = "";
    if (bry_map_value_bits(map) == 0 && object->items > 0)
        help = bry_map_engine(map) == BRY_ENGINE_KBF
                   ? "; engine kbf frees values only when the map is empty"
                   : "; MAP.COMPRESS may free memory";
    map_family.totals.refused++;
    return reply_error(context, "FULL",
                       "the key would exceed bloomery.max-key-bytes, which is %" PRIu64 "%s",
                       settings_max_key_bytes(), help);
}

/* Replies to a refusal by the library, and replicates it unless the map is new (see object.h). */
static int map_refused(const map_change *change, const held_object *object, const item_batch *self,
                       bry_status status, bool is_new)
{
    server_context *context = change->context;
    if (status == BRY_E_LIMIT)
        return map_refuse_size(context, object);
    if (!is_new && (status == BRY_E_FULL || status == BRY_E_UNSURE))
        map_change_replicate(change);
    if (status != BRY_E_FULL)
        return object_refused_here(context, &map_family, status);
    map_family.totals.refused++;
    bry_map_get_n(map_of(object), self->hashes, self->n, NULL, self->answers);
    size_t more = change->existing_only ? 0 : batch_count(self, BRY_ABSENT);
    return map_reply_full(context, map_of(object), more, self->n);
}

/* ---- changing ------------------------------------------------------------------------------ */

/* True if the values may be set within bloomery.max-key-bytes. They add at most what they weigh. At
 * the limit, existing fields may still get other values, up to an eighth above it. */
static bool map_may_set(const map_change *change, const held_object *object, field_values *self)
{
    server_context *context = change->context;
    uint64_t more = self->fields.n * sizeof(bry_hash) + self->bytes;
    if (object_may_grow(context, object, more))
        return true;
    if (!object_may_grow(context, NULL, object->account.bytes - object->account.bytes / 9))
        return false;
    if (change->existing_only)
        return true;
    bry_map_get_n(map_of(object), self->fields.hashes, self->fields.n, NULL, self->fields.answers);
    return batch_count(&self->fields, BRY_PRESENT) == self->fields.n;
}

static bry_status map_set_batch(const map_change *change, held_object *object, field_values *self)
{
    bry_map *map = map_of(object);
    const item_batch *fields = &self->fields;
    object_limit_begin(change->context, object);
    bry_status status =
        change->existing_only
            ? bry_map_update_n(map, fields->hashes, self->values, fields->n, fields->answers)
            : bry_map_set_n(map, fields->hashes, self->values, fields->n, fields->answers);
    return object_limit_end(object, status);
}

/* Sets all fields. `created`: the options of a new object that is not stored in the key yet. */
static int map_set_all(const map_change *change, opened_key *opened, field_values *self,
                       held_object *object, const bry_map_options *created)
{
    server_context *context = change->context;
    server_string *name = change->argv[1];
    item_batch *fields = &self->fields;
    batch_hash(fields, bry_map_seed(map_of(object)));
    if (!map_may_set(change, object, self))
        return map_refuse_size(context, object);
    bry_status status = map_set_batch(change, object, self);
    if (status != BRY_OK)
        return map_refused(change, object, fields, status, created != NULL);
    object_recount(object);
    map_count(object, fields->n);
    if (created) {
        object_put(opened, object);
        map_replicate_creation(context, name, created);
        object_changed(context, name, "map.create", false);
    }
    if (!change->existing_only || batch_count(fields, BRY_ABSENT) < fields->n)
        map_changed(change, "map.set");
    return map_reply_answers(context, fields, change->existing_only ? BRY_PRESENT : BRY_ABSENT);
}

/* The map to set fields of: `created` is the options of a new one. NULL after a reply: an error or,
 * with XX, that no field exists. */
static held_object *map_to_set(const map_change *change, const opened_key *opened,
                               map_request *request, bry_map_options *created)
{
    held_object *made = NULL;
    if (opened->object)
        return !request || map_request_fits(change->context, request, map_of(opened->object))
                   ? opened->object
                   : NULL;
    if (request && request->no_create) {
        reply_no_key(change->context);
        return NULL;
    }
    if (change->existing_only) {
        reply_zeros(change->context, change->words / 2);
        return NULL;
    }
    if (request) {
        made = map_request_make(change->context, request);
        *created = request->options;
        return made;
    }
    *created = map_options_default();
    bry_status status = map_create(created, &made);
    if (status != BRY_OK)
        reply_status(change->context, status);
    return made;
}

/* Sets fields and, if necessary, creates the map: with the options of the request or, without one,
 * the defaults. */
static int map_set(const map_change *change, map_request *request)
{
    opened_key opened;
    field_values batch;
    bry_map_options created;
    server_context *context = change->context;
    if (!object_open(context, &map_family, change->argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (!field_values_open(&batch, change->argv + change->first, change->words / 2)) {
        field_values_close(&batch);
        object_close(&opened);
        return reply_status(context, BRY_E_NOMEM);
    }
    held_object *object = map_to_set(change, &opened, request, &created);
    if (object && field_values_read(change, &batch, map_of(object)))
        map_set_all(change, &opened, &batch, object, opened.object ? NULL : &created);
    if (!opened.object) /* it was not stored */
        object_free(object);
    field_values_close(&batch);
    return object_close(&opened);
}

int map_command_set(server_context *context, server_string **argv, int argc)
{
    if (argc < 4 || argc % 2 != 0)
        return api.WrongArity(context);
    map_change change = {.context = context, .argv = argv, .first = 2, .words = (size_t)argc - 2};
    return map_set(&change, NULL);
}

/* Replicated as MAP.SET, which depends on the map only; with XX, as it is. */
int map_command_insert(server_context *context, server_string **argv, int argc)
{
    map_request request;
    int first;
    if (argc < 3)
        return api.WrongArity(context);
    if (!map_request_read(context, argv, argc, &request, &first))
        return SERVER_OK;
    if ((argc - first) % 2 != 0)
        return api.WrongArity(context);
    map_change change = {.context = context,
                         .argv = argv,
                         .first = (size_t)first,
                         .words = (size_t)(argc - first),
                         .effect = request.existing_only ? NULL : "MAP.SET",
                         .existing_only = request.existing_only};
    return map_set(&change, &request);
}

/* ---- deleting ------------------------------------------------------------------------------ */

static void map_del_all(const map_change *change, held_object *object, item_batch *self)
{
    server_context *context = change->context;
    batch_hash(self, bry_map_seed(map_of(object)));
    bry_status status = bry_map_del_n(map_of(object), self->hashes, self->n, self->answers);
    if (status != BRY_OK) {
        map_refused(change, object, self, status, false);
        return;
    }
    object_recount(object);
    map_count(object, self->n);
    if (batch_count(self, BRY_ABSENT) < self->n)
        map_changed(change, "map.del");
    map_reply_answers(context, self, BRY_PRESENT);
}

/* Deletes the key of an empty map. */
static void map_drop_empty(const map_change *change, opened_key *opened)
{
    server_string *name = change->argv[1];
    if (opened->object->items > 0)
        return;
    api.DeleteKey(opened->key);
    opened->object = NULL;
    api.Replicate(change->context, "DEL", "s", name);
    api.NotifyKeyspaceEvent(change->context, SERVER_NOTIFY_GENERIC, "del", name);
}

static int map_del(const map_change *change, bool drop_empty)
{
    opened_key opened;
    item_batch batch;
    server_context *context = change->context;
    if (!object_open(context, &map_family, change->argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (!batch_open(&batch, change->argv + change->first, change->words)) {
        reply_status(context, BRY_E_NOMEM);
    } else if (!opened.object) {
        reply_zeros(context, change->words);
    } else {
        map_del_all(change, opened.object, &batch);
        if (drop_empty)
            map_drop_empty(change, &opened);
    }
    batch_close(&batch);
    return object_close(&opened);
}

int map_command_del(server_context *context, server_string **argv, int argc)
{
    if (argc < 3)
        return api.WrongArity(context);
    map_change change = {.context = context, .argv = argv, .first = 2, .words = (size_t)argc - 2};
    return map_del(&change, false);
}

int map_command_remove(server_context *context, server_string **argv, int argc)
{
    uint32_t drop_empty = 0;
    command_option options[] = {option_flag("DROPEMPTY", &drop_empty)};
    int first;
    if (argc < 3)
        return api.WrongArity(context);
    if (!options_read_until(context, argv, argc, 2, options, 1, "FIELDS", &first))
        return SERVER_OK;
    map_change change = {.context = context,
                         .argv = argv,
                         .first = (size_t)first,
                         .words = (size_t)(argc - first),
                         .effect = "MAP.DEL"};
    return map_del(&change, drop_empty);
}
