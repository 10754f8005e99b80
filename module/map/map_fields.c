/* MAP.SET, INSERT, GET, DEL, REMOVE, EXISTS: the fields of one map. n fields give n answers, in
 * order. Each command is one batch of the library: a change is made for all fields or for none. */
#include "module/core/item_batch.h"
#include "module/core/replies.h"
#include "module/core/settings.h"
#include "module/map/map_request.h"
#include "text/number_parse.h"

#include <inttypes.h>
#include <string.h>

#define SMALL 64u

/* The fields of a command, in order. */
typedef struct field_batch {
    size_t n;
    uint64_t bytes; /* total of all values */
    bry_hash *hashes;
    bry_map_value *values;
    uint8_t *answers;
    void *heap; /* arrays of a larger batch */
    bry_hash small_hashes[SMALL];
    bry_map_value small_values[SMALL];
    uint8_t small_answers[SMALL];
} field_batch;

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

static bool field_batch_open(field_batch *self, size_t n)
{
    self->n = n;
    self->bytes = 0;
    self->heap = NULL;
    self->hashes = self->small_hashes;
    self->values = self->small_values;
    self->answers = self->small_answers;
    if (n <= SMALL) {
        memset(self->answers, BRY_ABSENT, n);
        return true;
    }
    self->heap = api.TryAlloc(n * (sizeof *self->hashes + sizeof *self->values + 1));
    if (!self->heap)
        return false;
    self->hashes = self->heap;
    self->values = (bry_map_value *)(void *)(self->hashes + n);
    self->answers = (uint8_t *)(self->values + n);
    memset(self->answers, BRY_ABSENT, n);
    return true;
}

static void field_batch_close(field_batch *self)
{
    if (self->heap)
        api.Free(self->heap);
}

static void field_batch_hash(field_batch *self, const bry_map *map, server_string **fields,
                             size_t step)
{
    uint64_t seed = bry_map_seed(map);
    for (size_t i = 0; i < self->n; i++)
        self->hashes[i] = string_hash(seed, fields[i * step]);
}

/* Reads the values of "field value …". False after an error reply. */
static bool field_batch_read_values(const map_change *change, field_batch *self, const bry_map *map)
{
    server_context *context = change->context;
    server_string **pairs = change->argv + change->first;
    char text[QUOTED_SIZE];
    uint32_t bits = bry_map_value_bits(map);
    for (size_t i = 0; i < self->n; i++) {
        const server_string *value = pairs[2 * i + 1];
        size_t len;
        const char *bytes = api.StringPtrLen(value, &len);
        if (bits) {
            uint64_t number;
            const char *problem = text_parse_plain(bytes, len, &number);
            if (problem || number >> bits) {
                bool is_number = !problem || text_is_out_of_range(problem);
                reply_error(context, is_number ? "RANGE" : "ERR",
                            "value %s of field %s is not an integer of %u bits (argument %zu)",
                            quoted(value, text), quoted(pairs[2 * i], (char[QUOTED_SIZE]){0}), bits,
                            change->first + 2 * i + 1);
                return false;
            }
            self->values[i] = bry_map_value_number(number);
            continue;
        }
        if (len > BRY_MAP_VALUE_MAX) {
            reply_error(context, "TOOLONG", "the value of field %s has %zu bytes; the limit is %u",
                        quoted(pairs[2 * i], text), len, BRY_MAP_VALUE_MAX);
            return false;
        }
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
static int map_reply_answers(server_context *context, const field_batch *self, bry_answer yes)
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

/* Looks up a part of the fields. Without a map all stay absent. */
static void map_get_part(const bry_map *map, server_string **fields, field_batch *self)
{
    if (!map)
        return;
    field_batch_hash(self, map, fields, 1);
    bry_map_get_n(map, self->hashes, self->n, self->values, self->answers);
}

static void map_reply_value(server_context *context, const field_batch *self, size_t i, bool raw)
{
    if (self->answers[i] == BRY_ABSENT) {
        api.ReplyWithNull(context);
    } else if (self->answers[i] == BRY_UNSURE) {
        map_family.totals.unsure++;
        reply_status(context, BRY_E_UNSURE);
    } else if (raw) {
        api.ReplyWithLongLong(context, (long long)self->values[i].number);
    } else {
        api.ReplyWithStringBuffer(context, self->values[i].bytes, self->values[i].len);
    }
}

static int map_get_all(server_context *context, server_string **argv, int argc, bool values)
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
    for (size_t done = 0; done < n; done += SMALL) {
        field_batch part;
        field_batch_open(&part, n - done < SMALL ? n - done : SMALL);
        map_get_part(map, argv + 2 + done, &part);
        for (size_t i = 0; i < part.n; i++) {
            if (values || part.answers[i] == BRY_UNSURE)
                map_reply_value(context, &part, i, raw);
            else
                api.ReplyWithLongLong(context, part.answers[i] == BRY_PRESENT);
        }
    }
    object_close(&opened);
    return SERVER_OK;
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
static int map_refused(const map_change *change, const held_object *object, const field_batch *self,
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
    size_t more = change->existing_only ? 0 : answers_count(self->answers, self->n, BRY_ABSENT);
    return map_reply_full(context, map_of(object), more, self->n);
}

/* ---- changing ------------------------------------------------------------------------------ */

/* True if the values may be set within bloomery.max-key-bytes. They add at most what they weigh. At
 * the limit, existing fields may still get other values, up to an eighth above it. */
static bool map_may_set(const map_change *change, const held_object *object, field_batch *self)
{
    server_context *context = change->context;
    uint64_t more = self->n * sizeof(bry_hash) + self->bytes;
    if (object_may_grow(context, object, more))
        return true;
    if (!object_may_grow(context, NULL, object->account.bytes - object->account.bytes / 9))
        return false;
    if (change->existing_only)
        return true;
    bry_map_get_n(map_of(object), self->hashes, self->n, NULL, self->answers);
    return answers_count(self->answers, self->n, BRY_PRESENT) == self->n;
}

static bry_status map_set_batch(const map_change *change, held_object *object, field_batch *self)
{
    bry_map *map = map_of(object);
    object_limit_begin(change->context, object);
    bry_status status =
        change->existing_only
            ? bry_map_update_n(map, self->hashes, self->values, self->n, self->answers)
            : bry_map_set_n(map, self->hashes, self->values, self->n, self->answers);
    return object_limit_end(object, status);
}

/* Sets all fields. `created`: the options of a new object that is not stored in the key yet. */
static int map_set_all(const map_change *change, opened_key *opened, field_batch *self,
                       held_object *object, const bry_map_options *created)
{
    server_context *context = change->context;
    server_string *name = change->argv[1];
    field_batch_hash(self, map_of(object), change->argv + change->first, 2);
    if (!map_may_set(change, object, self))
        return map_refuse_size(context, object);
    bry_status status = map_set_batch(change, object, self);
    if (status != BRY_OK)
        return map_refused(change, object, self, status, created != NULL);
    object_recount(object);
    map_count(object, self->n);
    if (created) {
        object_put(opened, object);
        map_replicate_creation(context, name, created);
        object_changed(context, name, "map.create", false);
    }
    if (!change->existing_only || answers_count(self->answers, self->n, BRY_ABSENT) < self->n)
        map_changed(change, "map.set");
    return map_reply_answers(context, self, change->existing_only ? BRY_PRESENT : BRY_ABSENT);
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
    field_batch batch;
    bry_map_options created;
    server_context *context = change->context;
    if (!object_open(context, &map_family, change->argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (!field_batch_open(&batch, change->words / 2)) {
        object_close(&opened);
        return reply_status(context, BRY_E_NOMEM);
    }
    held_object *object = map_to_set(change, &opened, request, &created);
    if (object && field_batch_read_values(change, &batch, map_of(object)))
        map_set_all(change, &opened, &batch, object, opened.object ? NULL : &created);
    if (!opened.object) /* it was not stored */
        object_free(object);
    field_batch_close(&batch);
    object_close(&opened);
    return SERVER_OK;
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
    if (!map_request_read_insert(context, argv, argc, &request, &first))
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

static void map_del_all(const map_change *change, held_object *object, field_batch *self)
{
    server_context *context = change->context;
    field_batch_hash(self, map_of(object), change->argv + change->first, 1);
    bry_status status = bry_map_del_n(map_of(object), self->hashes, self->n, self->answers);
    if (status != BRY_OK) {
        map_refused(change, object, self, status, false);
        return;
    }
    object_recount(object);
    map_count(object, self->n);
    if (answers_count(self->answers, self->n, BRY_ABSENT) < self->n)
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
    field_batch batch;
    server_context *context = change->context;
    if (!object_open(context, &map_family, change->argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    if (!field_batch_open(&batch, change->words)) {
        reply_status(context, BRY_E_NOMEM);
    } else if (!opened.object) {
        reply_zeros(context, change->words);
    } else {
        map_del_all(change, opened.object, &batch);
        if (drop_empty)
            map_drop_empty(change, &opened);
    }
    field_batch_close(&batch);
    object_close(&opened);
    return SERVER_OK;
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
