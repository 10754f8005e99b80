/* BF.ADD, MADD, INSERT, EXISTS, MEXISTS, DEL: the items of one filter. n items give n answers, in
 * order; adding may end early, with an error as the last answer. */
#include "module/bf/bf_type.h"

#include "module/core/arguments.h"
#include "module/core/item_batch.h"
#include "module/core/replicate_as.h"
#include "module/core/replies.h"

#include <string.h>

static bool bf_any_absent(const item_batch *self, size_t n)
{
    return memchr(self->answers, BRY_ABSENT, n) != NULL;
}

static int bf_reply_absent(server_context *context, size_t n)
{
    api.ReplyWithArray(context, (long)n);
    for (size_t i = 0; i < n; i++)
        api.ReplyWithBool(context, 0);
    return SERVER_OK;
}

/* ---- queries ------------------------------------------------------------------------------- */

int bf_command_exists(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    bry_answer answer = BRY_ABSENT;
    if (argc != 3)
        return api.WrongArity(context);
    if (!object_open(context, &filter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    if (opened.object) {
        const bry_filter *filter = bf_of(opened.object)->filter;
        answer = bry_filter_has(filter, string_hash(bry_filter_seed(filter), argv[2]));
        object_count(opened.object, 1);
    }
    object_close(&opened);
    return api.ReplyWithBool(context, answer == BRY_PRESENT);
}

int bf_command_mexists(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc < 3)
        return api.WrongArity(context);
    if (!object_open(context, &filter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    size_t n = (size_t)argc - 2;
    if (!opened.object) {
        object_close(&opened);
        return bf_reply_absent(context, n);
    }
    const bry_filter *filter = bf_of(opened.object)->filter;
    object_count(opened.object, n);
    api.ReplyWithArray(context, (long)n);
    for (size_t done = 0; done < n; done += BATCH_SMALL) {
        item_batch part;
        batch_open_part(&part, argv + 2, n, done);
        batch_hash(&part, bry_filter_seed(filter));
        bry_filter_has_n(filter, part.hashes, part.n, part.answers);
        for (size_t i = 0; i < part.n; i++)
            api.ReplyWithBool(context, part.answers[i] == BRY_PRESENT);
    }
    return object_close(&opened);
}

/* ---- adding -------------------------------------------------------------------------------- */

/* A command that adds. */
typedef struct bf_add_request {
    server_context *context;
    server_string **argv;
    bf_parameters parameters; /* of a filter that does not exist yet */
    bool no_create;
    bool many; /* the reply is an array */
} bf_add_request;

/* Adds in order until one item is refused; *status says why. Returns how many were added. */
static size_t bf_add_in_order(bry_filter *filter, item_batch *batch, bry_status *status)
{
    if (batch->n > 1) {
        *status = bry_filter_add_n(filter, batch->hashes, batch->n, batch->answers);
        if (*status == BRY_OK || *status == BRY_E_NOMEM) /* all or none */
            return *status == BRY_OK ? batch->n : 0;
    }
    for (size_t i = 0; i < batch->n; i++) {
        bry_answer was;
        *status = bry_filter_add(filter, batch->hashes[i], &was);
        if (*status != BRY_OK)
            return i;
        batch->answers[i] = (uint8_t)was;
    }
    return batch->n;
}

/* Replicates the first n items. Most commands have no other arguments than the key and these. */
static void bf_replicate_added(const bf_add_request *self, const item_batch *batch, size_t n)
{
    static kept_name effect = {.text = BF_EFFECT_ADD};
    if (batch->items == self->argv + 2 && n == batch->n)
        replicate_as(self->context, self->argv, (int)n + 2, &effect);
    else
        api.Replicate(self->context, BF_EFFECT_ADD, "sv", self->argv[1], batch->items, n);
}

static void bf_reply_added(const bf_add_request *self, const item_batch *batch, size_t done,
                           bool is_full)
{
    bool all = done == batch->n;
    if (self->many)
        api.ReplyWithArray(self->context, (long)(all ? done : done + 1));
    for (size_t i = 0; i < done; i++)
        api.ReplyWithBool(self->context, batch->answers[i] == BRY_ABSENT);
    if (all)
        return;
    filter_family.totals.refused++;
    reply_error_text(self->context, is_full ? "ERR non scaling filter is full"
                                            : "ERR problem inserting into filter");
}

/* At the limit of bloomery.max-key-bytes, items that are present may still be added. */
static bool bf_may_add(const bf_add_request *self, const held_object *object, item_batch *batch)
{
    if (object_may_grow(self->context, object, batch->n * sizeof(uint64_t)))
        return true;
    bry_filter_has_n(bf_of(object)->filter, batch->hashes, batch->n, batch->answers);
    return !bf_any_absent(batch, batch->n);
}

/* A new object is stored in the key together with its first item. */
static int bf_add_all(const bf_add_request *self, opened_key *opened, held_object *object,
                      item_batch *batch)
{
    bool is_new = !opened->object;
    bf_filter *thing = bf_of(object);
    bry_status status = BRY_OK;
    batch_hash(batch, bry_filter_seed(thing->filter));
    if (!bf_may_add(self, object, batch)) {
        if (is_new)
            object_free(object);
        return object_too_large(self->context, &filter_family);
    }
    object_limit_begin(self->context, object);
    size_t done = bf_add_in_order(thing->filter, batch, &status);
    status = object_limit_end(object, status);
    bool fixed = thing->expansion == 0, changed = bf_any_absent(batch, done);
    /* A filter that grows notices that it is full while it adds; then items that were added and
     * removed again may show in its bytes. */
    bool stirred = !fixed && status == BRY_E_FULL;
    object_count(object, batch->n);
    if (changed) {
        object_recount(object);
        if (is_new) {
            bf_parameters made = bf_made(thing);
            object_put(opened, object);
            bf_replicate_creation(self->context, self->argv[1], &made);
            object_changed(self->context, self->argv[1], "bf.reserve", false);
        }
        object_changed(self->context, self->argv[1], "bf.add", false);
    }
    if (changed || stirred)
        bf_replicate_added(self, batch, stirred ? batch->n : done);
    if (is_new && !changed)
        object_free(object);
    if (done == 0 && status == BRY_E_LIMIT)
        return object_too_large(self->context, &filter_family);
    bf_reply_added(self, batch, done, fixed && status == BRY_E_FULL);
    return SERVER_OK;
}

static int bf_add_items(bf_add_request *self, server_string **items, size_t n)
{
    opened_key opened;
    item_batch batch;
    if (!object_open(self->context, &filter_family, self->argv[1], SERVER_READ | SERVER_WRITE,
                     &opened))
        return SERVER_OK;
    bool missing = !opened.object;
    held_object *made = NULL;
    if (missing && self->no_create)
        reply_error_text(self->context, "ERR not found");
    else if (missing)
        made = bf_create(self->context, &self->parameters);
    held_object *object = missing ? made : opened.object;
    if (object && batch_open(&batch, items, n)) {
        bf_add_all(self, &opened, object, &batch);
        batch_close(&batch);
    } else if (object) {
        object_free(made);
        reply_status(self->context, BRY_E_NOMEM);
    }
    return object_close(&opened);
}

int bf_command_add(server_context *context, server_string **argv, int argc)
{
    bf_add_request adding = {
        .context = context, .argv = argv, .parameters = bf_default_parameters()};
    if (argc != 3)
        return api.WrongArity(context);
    return bf_add_items(&adding, argv + 2, 1);
}

int bf_command_madd(server_context *context, server_string **argv, int argc)
{
    bf_add_request adding = {
        .context = context, .argv = argv, .parameters = bf_default_parameters(), .many = true};
    if (argc < 3)
        return api.WrongArity(context);
    return bf_add_items(&adding, argv + 2, (size_t)argc - 2);
}

/* If the filter was created by the same command, that was replicated before. */
int bf_add_replayed(server_context *context, server_string **argv, int argc)
{
    bf_add_request adding = {.context = context, .argv = argv, .no_create = true, .many = true};
    if (argc < 3)
        return api.WrongArity(context);
    return bf_add_items(&adding, argv + 2, (size_t)argc - 2);
}

/* ---- BF.INSERT ----------------------------------------------------------------------------- */

typedef struct insert_request {
    bf_parameters parameters;
    bool no_create, non_scaling;
} insert_request;

static bool bf_parse_number(const server_string *argument, long long least, uint64_t most,
                            uint64_t *number)
{
    long long read;
    if (api.StringToLongLong(argument, &read) != SERVER_OK || read < least || (uint64_t)read > most)
        return false;
    *number = (uint64_t)read;
    return true;
}

static bool bf_parse_error_rate(const server_string *argument, double *error)
{
    return api.StringToDouble(argument, error) == SERVER_OK && *error > 0 && *error < 1;
}

/* Reads an option with a value. NULL, or what is wrong. */
static const char *bf_insert_read_option(const server_string *name, const server_string *value,
                                         insert_request *request)
{
    if (is_word(name, "CAPACITY"))
        return bf_parse_number(value, 1, BRY_CAPACITY_MAX, &request->parameters.capacity)
                   ? NULL
                   : "Bad capacity";
    if (is_word(name, "ERROR"))
        return bf_parse_error_rate(value, &request->parameters.error) ? NULL : "Bad error rate";
    return bf_parse_number(value, 0, BF_MOST_EXPANSION, &request->parameters.expansion)
               ? NULL
               : "Bad expansion";
}

static bool bf_insert_has_value(const server_string *name)
{
    return is_word(name, "CAPACITY") || is_word(name, "ERROR") || is_word(name, "EXPANSION");
}

/* Reads the options; returns the position of the first item, or 0 after an error reply. */
static int bf_insert_read(server_context *context, server_string **argv, int argc,
                          insert_request *request)
{
    int at = 2;
    for (; at < argc && !is_word(argv[at], "ITEMS"); at++) {
        const char *problem = NULL;
        bool valued = bf_insert_has_value(argv[at]);
        if (valued && at + 1 == argc)
            break;
        if (valued) {
            problem = bf_insert_read_option(argv[at], argv[at + 1], request);
            at++;
        } else if (is_word(argv[at], "NOCREATE")) {
            request->no_create = true;
        } else if (is_word(argv[at], "NONSCALING")) {
            request->non_scaling = true;
        } else {
            problem = "Unknown argument received";
        }
        if (problem) {
            reply_error_text(context, problem);
            return 0;
        }
    }
    if (at + 1 >= argc) {
        api.WrongArity(context);
        return 0;
    }
    if (request->non_scaling) /* overrides EXPANSION */
        request->parameters.expansion = 0;
    return at + 1;
}

int bf_command_insert(server_context *context, server_string **argv, int argc)
{
    insert_request request = {.parameters = bf_default_parameters()};
    if (argc < 4)
        return api.WrongArity(context);
    int from = bf_insert_read(context, argv, argc, &request);
    if (from == 0)
        return SERVER_OK;
    bf_add_request adding = {.context = context,
                             .argv = argv,
                             .parameters = request.parameters,
                             .no_create = request.no_create,
                             .many = true};
    return bf_add_items(&adding, argv + from, (size_t)(argc - from));
}

/* ---- deleting ------------------------------------------------------------------------------ */

static int bf_del_all(server_context *context, server_string **argv, held_object *object,
                      item_batch *batch)
{
    bry_filter *filter = bf_of(object)->filter;
    batch_hash(batch, bry_filter_seed(filter));
    bry_filter_del_n(filter, batch->hashes, batch->n, batch->answers);
    size_t removed = batch_count(batch, BRY_PRESENT);
    object_recount(object);
    object_count(object, batch->n);
    if (removed > 0) {
        bf_replicate(context, BF_EFFECT_DEL, argv, (int)batch->n + 2);
        object_changed(context, argv[1], "bf.del", false);
    }
    api.ReplyWithArray(context, (long)batch->n);
    for (size_t i = 0; i < batch->n; i++)
        api.ReplyWithBool(context, batch->answers[i] == BRY_PRESENT);
    return SERVER_OK;
}

int bf_command_del(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    item_batch batch;
    if (argc < 3)
        return api.WrongArity(context);
    if (!object_open(context, &filter_family, argv[1], SERVER_READ | SERVER_WRITE, &opened))
        return SERVER_OK;
    size_t n = (size_t)argc - 2;
    if (!opened.object) {
        bf_reply_absent(context, n);
    } else if (batch_open(&batch, argv + 2, n)) {
        bf_del_all(context, argv, opened.object, &batch);
        batch_close(&batch);
    } else {
        reply_status(context, BRY_E_NOMEM);
    }
    return object_close(&opened);
}
