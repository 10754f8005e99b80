/*
 * Many keys at once.
 *
 *   keys ── slab ──► sorted by slab ── at most 1000 fields ──► one command each ──► answers, in the
 *                                                                                  order of the
 *                                                                                  keys
 *
 * A call is divided into turns, which bound its memory. If a turn has several commands for one
 * slab, changes are sent in rounds, the second command of a slab after the first was answered: a
 * key that occurs twice must get its last value even if the cluster changes meanwhile.
 */
#include "clients/c/cluster_map.h"

#include <stdlib.h>
#include <string.h>

#define TURN_KEYS ((size_t)1 << 18)
#define TURN_BYTES ((size_t)64 << 20)
#define FIELDS_MOST 1000u
#define FIELD_BYTES_MOST ((size_t)1 << 20)
#define REREAD_MS 60000u

typedef enum action {
    ACTION_GET,
    ACTION_SET,
    ACTION_UPDATE,
    ACTION_DEL,
} action;

/* The fields order[first] … order[first + count - 1], all of one slab. */
typedef struct chunk {
    uint32_t slab, first, count;
    uint32_t round;
    size_t start; /* of its command in the bytes */
} chunk;

typedef struct bryc__batch {
    size_t keys_capacity, chunks_capacity, sort_capacity;
    uint32_t *slab; /* of each key */
    uint32_t *order; /* keys sorted by slab */
    uint64_t *numbers; /* values or codes */
    uint32_t *starts; /* of the counting sort */
    chunk *chunks;
    bryc__request *requests;
    size_t count; /* chunks */
    uint32_t rounds;
    bryc__bytes bytes;
    /* the call */
    action what;
    const bryc_key *keys;
    size_t n;
    bry_answer *answers;
    uint64_t highest; /* code seen */
    bry_status status;
    bryc_client *client;
    size_t first; /* request of this round */
} bryc__batch;

void bryc__batch_free(bryc__batch *batch)
{
    if (!batch)
        return;
    free(batch->slab);
    free(batch->order);
    free(batch->numbers);
    free(batch->starts);
    free(batch->chunks);
    free(batch->requests);
    free(batch->bytes.at);
    free(batch);
}

static bool reserve_keys(bryc__batch *batch, size_t n)
{
    if (n <= batch->keys_capacity)
        return true;
    free(batch->slab);
    free(batch->order);
    free(batch->numbers);
    batch->slab = malloc(n * sizeof *batch->slab);
    batch->order = malloc(n * sizeof *batch->order);
    batch->numbers = calloc(n, sizeof *batch->numbers);
    batch->keys_capacity = batch->slab && batch->order && batch->numbers ? n : 0;
    return batch->keys_capacity >= n;
}

/* ---- sorting by slab ----------------------------------------------------------------------- */

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* For few keys in many slabs. `numbers` is not in use yet. */
static void sort_few(bryc__batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        batch->numbers[i] = (uint64_t)batch->slab[i] << 32 | i;
    qsort(batch->numbers, batch->n, sizeof batch->numbers[0], compare_words);
    for (size_t i = 0; i < batch->n; i++)
        batch->order[i] = (uint32_t)batch->numbers[i];
}

static bool sort_many(bryc__batch *batch, size_t slabs)
{
    if (slabs + 1 > batch->sort_capacity) {
        free(batch->starts);
        batch->starts = malloc((slabs + 1) * sizeof *batch->starts);
        batch->sort_capacity = batch->starts ? slabs + 1 : 0;
        if (!batch->starts)
            return false;
    }
    memset(batch->starts, 0, (slabs + 1) * sizeof *batch->starts);
    for (size_t i = 0; i < batch->n; i++)
        batch->starts[batch->slab[i] + 1]++;
    for (size_t s = 0; s < slabs; s++)
        batch->starts[s + 1] += batch->starts[s];
    for (size_t i = 0; i < batch->n; i++)
        batch->order[batch->starts[batch->slab[i]]++] = (uint32_t)i;
    return true;
}

static bool sort_by_slab(bryc__batch *batch, const bryc__choice *choice)
{
    for (size_t i = 0; i < batch->n; i++)
        batch->slab[i] =
            (uint32_t)bryc__choose_slab(choice, batch->keys[i].bytes, batch->keys[i].len);
    if (choice->slabs > 4 * batch->n) {
        sort_few(batch);
        return true;
    }
    return sort_many(batch, choice->slabs);
}

/* ---- chunks -------------------------------------------------------------------------------- */

static chunk *add_chunk(bryc__batch *batch)
{
    if (batch->count == batch->chunks_capacity) {
        size_t capacity = batch->chunks_capacity ? 2 * batch->chunks_capacity : 64;
        chunk *chunks = realloc(batch->chunks, capacity * sizeof *chunks);
        if (chunks)
            batch->chunks = chunks;
        bryc__request *requests = realloc(batch->requests, capacity * sizeof *requests);
        if (requests)
            batch->requests = requests;
        if (!chunks || !requests)
            return NULL;
        batch->chunks_capacity = capacity;
    }
    return &batch->chunks[batch->count++];
}

static int compare_rounds(const void *a, const void *b)
{
    const chunk *x = a, *y = b;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Cuts the sorted keys into chunks; those of one slab are numbered by rounds. */
static bool cut_chunks(bryc__batch *batch)
{
    chunk *now = NULL;
    size_t bytes = 0;
    uint32_t round = 0;
    batch->count = 0;
    batch->rounds = 1;
    for (size_t i = 0; i < batch->n; i++) {
        uint32_t key = batch->order[i], slab = batch->slab[key];
        if (!now || now->slab != slab || now->count == FIELDS_MOST || bytes > FIELD_BYTES_MOST) {
            round = now && now->slab == slab && batch->what != ACTION_GET ? round + 1 : 0;
            now = add_chunk(batch);
            if (!now)
                return false;
            *now = (chunk){.slab = slab, .first = (uint32_t)i, .round = round};
            bytes = 0;
        }
        now->count++;
        bytes += batch->keys[key].len;
        if (round + 1 > batch->rounds)
            batch->rounds = round + 1;
    }
    if (batch->rounds > 1)
        qsort(batch->chunks, batch->count, sizeof batch->chunks[0], compare_rounds);
    return true;
}

/* ---- commands ------------------------------------------------------------------------------ */

static const char *const command_names[] = {
    [ACTION_GET] = "MAP.GET",
    [ACTION_SET] = "MAP.INSERT",
    [ACTION_UPDATE] = "MAP.INSERT",
    [ACTION_DEL] = "MAP.REMOVE",
};

/* The option before FIELDS. MAP.GET has neither; ACTION_SET has those in bryc_map.options. */
static const char *const command_options[] = {
    [ACTION_UPDATE] = "XX",
    [ACTION_DEL] = "DROPEMPTY",
};

/* Number of words that encode_options() writes. */
static uint64_t option_words(action what)
{
    enum { CREATION = 11 }; /* CAPACITY n ERROR e ENGINE e RAW b SEED s FIELDS */
    return what == ACTION_SET ? CREATION : what == ACTION_GET ? 0 : 2;
}

static bool encode_options(const bryc_map *map, action what, bryc__bytes *bytes)
{
    if (what == ACTION_GET)
        return true;
    if (what != ACTION_SET)
        return bryc__put_argument(bytes, command_options[what], strlen(command_options[what])) &&
               bryc__put_argument(bytes, "FIELDS", 6);
    if (!bryc__reserve(bytes, map->options.len))
        return false;
    memcpy(bytes->at + bytes->len, map->options.at, map->options.len);
    bytes->len += map->options.len;
    return true;
}

static bool encode_chunk(const bryc_map *map, bryc__batch *batch, chunk *part)
{
    bryc__bytes *bytes = &batch->bytes;
    bool values = batch->what == ACTION_SET || batch->what == ACTION_UPDATE;
    const char *name = command_names[batch->what];
    char key[BRYC__SLAB_KEY_MAX];
    size_t key_len = bryc__slab_key(map, part->slab, key, sizeof key);
    part->start = bytes->len;
    if (!bryc__put_count(bytes, 2 + option_words(batch->what) +
                                    (uint64_t)part->count * (values ? 2 : 1)) ||
        !bryc__put_argument(bytes, name, strlen(name)) ||
        !bryc__put_argument(bytes, key, key_len) || !encode_options(map, batch->what, bytes))
        return false;
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t field = batch->order[part->first + i];
        if (!bryc__put_argument(bytes, batch->keys[field].bytes, batch->keys[field].len) ||
            (values && !bryc__put_number(bytes, batch->numbers[field])))
            return false;
    }
    return true;
}

static bool encode_chunks(const bryc_map *map, bryc__batch *batch)
{
    batch->bytes.len = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (!encode_chunk(map, batch, &batch->chunks[i]))
            return false;
    for (size_t i = 0; i < batch->count; i++) {
        const chunk *part = &batch->chunks[i];
        size_t end = i + 1 < batch->count ? part[1].start : batch->bytes.len;
        batch->requests[i] = (bryc__request){.bytes = batch->bytes.at + part->start,
                                             .len = end - part->start,
                                             .slot = map->slots[part->slab],
                                             .node = BRYC__NONE};
    }
    return true;
}

/* ---- answers ------------------------------------------------------------------------------- */

/* Keeps the first failure of the batch. */
static void fail_batch(bryc__batch *batch, bry_status status, const char *text, size_t len)
{
    if (batch->status != BRY_OK)
        return;
    batch->status = status;
    bryc__fail(batch->client, status, "%s: %.*s", command_names[batch->what],
               (int)(len < 400 ? len : 400), text);
}

/* The server has returned an error. */
static void chunk_failed(bryc__batch *batch, const char *text, size_t len)
{
    fail_batch(batch, bryc__reply_status(text, len), text, len);
}

/* The server has returned something that this command does not return. */
static void chunk_malformed(bryc__batch *batch, const char *problem)
{
    fail_batch(batch, BRY_E_BADDATA, problem, strlen(problem));
}

/* The answer in one element of a reply. */
static bry_answer answer_of(bryc__batch *batch, const bryc__flat *flat, const bryc__item *item,
                            uint32_t field)
{
    if (item->type == REDIS_REPLY_INTEGER) {
        if (batch->what == ACTION_GET) {
            batch->numbers[field] = (uint64_t)item->number;
            if ((uint64_t)item->number > batch->highest)
                batch->highest = (uint64_t)item->number;
            return BRY_PRESENT;
        }
        return (item->number == 1) == (batch->what == ACTION_SET) ? BRY_ABSENT : BRY_PRESENT;
    }
    if (item->type == REDIS_REPLY_NIL)
        return BRY_ABSENT;
    const char *text = bryc__text(flat, item);
    if (item->type == REDIS_REPLY_ERROR && bryc__reply_status(text, item->len) == BRY_E_UNSURE)
        return BRY_UNSURE;
    if (item->type == REDIS_REPLY_ERROR)
        chunk_failed(batch, text, item->len);
    else
        chunk_malformed(batch, "a slab has byte strings instead of integers");
    return BRYC_UNKNOWN;
}

static void deliver_chunk(void *context, uint32_t request, void *reply)
{
    bryc__batch *batch = context;
    const bryc__flat *flat = reply;
    const chunk *part = &batch->chunks[batch->first + request];
    const bryc__item *top = flat->items;
    if (top->type == REDIS_REPLY_ERROR) {
        chunk_failed(batch, bryc__text(flat, top), top->len);
        return;
    }
    if (top->type != REDIS_REPLY_ARRAY || top->number != part->count ||
        flat->count != 1 + (size_t)part->count) {
        chunk_malformed(batch, "unexpected reply type");
        return;
    }
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t field = batch->order[part->first + i];
        bry_answer answer = answer_of(batch, flat, &top[1 + i], field);
        if (batch->answers)
            batch->answers[field] = answer;
    }
}

/* Sends all chunks, a round at a time. */
static void run_rounds(bryc_map *map, bryc__batch *batch)
{
    bool changes = batch->what != ACTION_GET;
    for (size_t first = 0, end; first < batch->count && batch->status == BRY_OK; first = end) {
        for (end = first + 1;
             end < batch->count && batch->chunks[end].round == batch->chunks[first].round;)
            end++;
        batch->first = first;
        bryc__exchange exchange = {.client = map->client,
                                   .requests = batch->requests + first,
                                   .n = (uint32_t)(end - first),
                                   .flat = true,
                                   .wait = changes ? map->wait : 0,
                                   .wait_ms = map->wait_ms,
                                   .deliver = deliver_chunk,
                                   .context = batch};
        bryc__exchange_run(&exchange);
        if (exchange.confirmed < map->confirmed)
            map->confirmed = exchange.confirmed;
        for (size_t i = first; i < end && batch->status == BRY_OK; i++)
            if (batch->requests[i].state == BRYC__FAILED)
                batch->status = batch->requests[i].status;
    }
}

/* ---- turns --------------------------------------------------------------------------------- */

static bry_status run_turn(bryc_map *map, bryc__batch *batch, const bry_map_value *values)
{
    batch->status = BRY_OK;
    batch->highest = 0;
    if (batch->answers)
        memset(batch->answers, BRYC_UNKNOWN, batch->n);
    if (!reserve_keys(batch, batch->n) || !sort_by_slab(batch, &map->choice) || !cut_chunks(batch))
        return bryc__fail(map->client, BRY_E_NOMEM, "out of memory");
    if (values) {
        bry_status status = BRY_OK;
        if (map->record.codes)
            status = bryc__codes_for(map, values, batch->n, batch->numbers);
        for (size_t i = 0; i < batch->n && !map->record.codes; i++)
            batch->numbers[i] = values[i].number;
        if (status != BRY_OK)
            return status;
    }
    if (!encode_chunks(map, batch))
        return bryc__fail(map->client, BRY_E_NOMEM, "out of memory");
    run_rounds(map, batch);
    return batch->status;
}

/* A turn, and once more if the map was created again meanwhile. */
static bry_status take_turn(bryc_map *map, bryc__batch *batch, const bry_map_value *values)
{
    bry_status status = run_turn(map, batch, values);
    if (status != BRY_E_MISMATCH)
        return status;
    char message[sizeof map->client->message];
    memcpy(message, map->client->message, sizeof message);
    bool changed = false, codes = map->record.codes;
    bry_status again = bryc__map_reread(map, &changed);
    if (again == BRY_OK && changed && codes == map->record.codes)
        return run_turn(map, batch, values);
    memcpy(map->client->message, message, sizeof message);
    return status;
}

/* How many keys fit into a turn. */
static size_t turn_size(const bryc_key *keys, size_t n)
{
    size_t bytes = 0, count = 0;
    while (count < n && count < TURN_KEYS && bytes < TURN_BYTES)
        bytes += keys[count++].len;
    return count;
}

static bry_status begin_call(bryc_map *map)
{
    bool changed;
    map->confirmed = UINT32_MAX;
    if (!map->batch && !(map->batch = calloc(1, sizeof *map->batch)))
        return bryc__fail(map->client, BRY_E_NOMEM, "out of memory");
    map->batch->client = map->client;
    return bryc__now() > map->read_at + REREAD_MS ? bryc__map_reread(map, &changed) : BRY_OK;
}

static bry_status change_keys(bryc_map *map, action what, const bryc_key *keys,
                              const bry_map_value *values, size_t n, bry_answer *was)
{
    bry_status status = begin_call(map);
    if (was && n)
        memset(was, BRYC_UNKNOWN, n);
    for (size_t i = 0; i < n && values && status == BRY_OK; i++) {
        if (!map->record.codes && values[i].number >> map->record.bits)
            status = bryc__fail(map->client, BRY_E_RANGE, "value %zu is not an integer of %u bits",
                                i, map->record.bits);
        if (map->record.codes && values[i].len > BRY_MAP_VALUE_MAX)
            status = bryc__fail(map->client, BRY_E_TOOLONG, "value %zu is longer than %u bytes", i,
                                BRY_MAP_VALUE_MAX);
    }
    for (size_t done = 0, count; done < n && status == BRY_OK; done += count) {
        bryc__batch *batch = map->batch;
        count = turn_size(keys + done, n - done);
        batch->what = what;
        batch->keys = keys + done;
        batch->n = count;
        batch->answers = was ? was + done : NULL;
        status = take_turn(map, batch, values ? values + done : NULL);
    }
    return status;
}

bry_status bryc_map_set_n(bryc_map *map, const bryc_key *keys, const bry_map_value *values,
                          size_t n, bry_answer *was)
{
    return change_keys(map, ACTION_SET, keys, values, n, was);
}

bry_status bryc_map_update_n(bryc_map *map, const bryc_key *keys, const bry_map_value *values,
                             size_t n, bry_answer *was)
{
    return change_keys(map, ACTION_UPDATE, keys, values, n, was);
}

bry_status bryc_map_del_n(bryc_map *map, const bryc_key *keys, size_t n, bry_answer *was)
{
    return change_keys(map, ACTION_DEL, keys, NULL, n, was);
}

/* ---- looking up ---------------------------------------------------------------------------- */

/* Replaces numbers by values. A code that was never given comes from a false answer of kbf. */
static bry_status fill_values(bryc_map *map, bryc__batch *batch, bry_map_value *values)
{
    bool codes = map->record.codes;
    bry_status status = codes ? bryc__codes_read(map, batch->highest) : BRY_OK;
    for (size_t i = 0; i < batch->n && status == BRY_OK; i++) {
        if (batch->answers[i] != BRY_PRESENT)
            continue;
        uint64_t number = batch->numbers[i];
        if (codes && number >= map->codes.count) {
            if (map->record.engine != BRY_ENGINE_KBF)
                return bryc__fail(map->client, BRY_E_BADDATA,
                                  "a slab has code %llu, which the list of values lacks",
                                  (unsigned long long)number);
            batch->answers[i] = BRY_ABSENT;
        } else if (values) {
            values[i] = codes ? map->codes.known[number] : bry_map_value_number(number);
        }
    }
    return status;
}

bry_status bryc_map_get_n(bryc_map *map, const bryc_key *keys, size_t n, bry_map_value *values,
                          bry_answer *answers)
{
    bry_status status = begin_call(map);
    if (n)
        memset(answers, BRYC_UNKNOWN, n);
    for (size_t done = 0, count; done < n && status == BRY_OK; done += count) {
        bryc__batch *batch = map->batch;
        count = turn_size(keys + done, n - done);
        batch->what = ACTION_GET;
        batch->keys = keys + done;
        batch->n = count;
        batch->answers = answers + done;
        status = run_turn(map, batch, NULL);
        if (status == BRY_OK)
            status = fill_values(map, batch, values ? values + done : NULL);
    }
    return status;
}
