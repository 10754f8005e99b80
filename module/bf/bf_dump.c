/*
 * BF.SCANDUMP and BF.LOADCHUNK: a filter in chunks, which a client copies elsewhere.
 *
 * The chunks are the payload of the type (bf_type.c), cut every CHUNK_BYTES. Each chunk has a head,
 * little-endian:
 *
 *      offset  size
 *           0     8  "BRYCHUNK"
 *           8     8  offset of its bytes in the payload
 *          16     8  length of the whole payload
 *          24     8  hash of the whole payload: its state
 *          32     8  hash of the 32 bytes before and of the chunk's bytes
 *
 * The iterator that is returned with a chunk has the number of the chunk, from 1, in its low 20
 * bits and 32 bits of the state above them; together they fit the 53 bits of a JavaScript number.
 * So nothing is stored between calls, replicas return the same chunks, and a change of the filter
 * after the first chunk is noticed: the next iterator is refused. If chunks of two states are mixed
 * all the same, the last one is refused.
 *
 * Until the last chunk arrives, the key holds the chunks so far and other commands on it fail
 * (object.h).
 */
#include "module/bf/bf_type.h"

#include "module/core/little_endian.h"
#include "module/core/replies.h"
#include "module/core/settings.h"

#include <string.h>

#define HEAD_BYTES 40u
#ifndef BLOOMERY_CHUNK_SIZE /* smaller in tests */
#define BLOOMERY_CHUNK_SIZE ((uint64_t)16 << 20) /* the most that clients expect */
#endif
#define CHUNK_BYTES ((uint64_t)BLOOMERY_CHUNK_SIZE - HEAD_BYTES)
#define NUMBER_BITS 20
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)
#define STATE_MASK UINT32_MAX
#define HASHED_BYTES 4096u

static const char magic[8] = {'B', 'R', 'Y', 'C', 'H', 'U', 'N', 'K'};
static const char *const bad_data = "ERR received bad data";

/* ---- passes over a payload ------------------------------------------------------------------ */

/* A sink that hashes its input, independent of how it is split. */
typedef struct state_sink {
    uint64_t length, state;
    size_t len;
    char bytes[HASHED_BYTES];
} state_sink;

static bry_status state_sink_write(void *opaque, const void *bytes, size_t len)
{
    state_sink *self = opaque;
    const char *from = bytes;
    self->length += len;
    while (len > 0) {
        size_t room = HASHED_BYTES - self->len, here = len < room ? len : room;
        memcpy(self->bytes + self->len, from, here);
        self->len += here;
        from += here;
        len -= here;
        if (self->len == HASHED_BYTES) {
            self->state = bry_hash_key(self->state, self->bytes, self->len).lo;
            self->len = 0;
        }
    }
    return BRY_OK;
}

static uint64_t state_sink_end(state_sink *self)
{
    return bry_hash_key(self->state, self->bytes, self->len).lo;
}

static void state_sink_begin(state_sink *self)
{
    self->length = self->state = 0;
    self->len = 0;
}

/* A sink that keeps the bytes from `skip` on, until it is full. */
typedef struct slice_sink {
    uint64_t skip;
    char *bytes;
    size_t len, room;
} slice_sink;

static bry_status slice_sink_write(void *opaque, const void *bytes, size_t len)
{
    slice_sink *self = opaque;
    size_t over = self->skip < len ? (size_t)self->skip : len;
    size_t left = len - over, room = self->room - self->len, here = left < room ? left : room;
    memcpy(self->bytes + self->len, (const char *)bytes + over, here);
    self->skip -= over;
    self->len += here;
    return self->len == self->room ? BRY_E_LIMIT : BRY_OK; /* stop: it is full */
}

/* ---- chunks --------------------------------------------------------------------------------- */

typedef struct chunk_head {
    uint64_t offset, length, state, check;
} chunk_head;

static uint64_t chunk_checksum(const char *sent, size_t len)
{
    uint64_t head = bry_hash_key(0, sent, HEAD_BYTES - 8).lo;
    return bry_hash_key(head, sent + HEAD_BYTES, len).lo;
}

/* The iterator returned with the chunk at this offset, which requests the next one. */
static uint64_t chunk_iterator(uint64_t state, uint64_t offset)
{
    return (state & STATE_MASK) << NUMBER_BITS | (offset / CHUNK_BYTES + 1);
}

static size_t chunk_len(uint64_t length, uint64_t offset)
{
    return (size_t)(length - offset < CHUNK_BYTES ? length - offset : CHUNK_BYTES);
}

static int dump_reply_chunk(server_context *context, uint64_t iterator, const char *bytes,
                            size_t len)
{
    api.ReplyWithArray(context, 2);
    api.ReplyWithLongLong(context, (long long)iterator);
    return api.ReplyWithStringBuffer(context, bytes, len);
}

/* ---- BF.SCANDUMP ---------------------------------------------------------------------------- */

static int dump_chunk_at(server_context *context, const held_object *object,
                         const state_sink *whole, uint64_t state, uint64_t offset)
{
    size_t len = chunk_len(whole->length, offset);
    char *sent = api.TryAlloc(HEAD_BYTES + len);
    if (!sent)
        return reply_status(context, BRY_E_NOMEM);
    slice_sink slice = {.skip = offset, .bytes = sent + HEAD_BYTES, .room = len};
    bry_sink sink = {slice_sink_write, &slice};
    object_save(object, &sink);
    memcpy(sent, magic, sizeof magic);
    store64(sent + 8, offset);
    store64(sent + 16, whole->length);
    store64(sent + 24, state);
    store64(sent + 32, chunk_checksum(sent, len));
    dump_reply_chunk(context, chunk_iterator(state, offset), sent, HEAD_BYTES + len);
    api.Free(sent);
    return SERVER_OK;
}

static int dump_chunk(server_context *context, const held_object *object, uint64_t iterator)
{
    state_sink whole;
    bry_sink sink = {state_sink_write, &whole};
    state_sink_begin(&whole);
    object_save(object, &sink);
    uint64_t state = state_sink_end(&whole);
    uint64_t number = iterator & NUMBER_MASK;
    if (iterator != 0 && iterator >> NUMBER_BITS != (state & STATE_MASK))
        return reply_error(
            context, "ERR",
            "the filter was changed since this dump began: begin again at 0, or dump a COPY of it");
    if (number * CHUNK_BYTES >= whole.length)
        return dump_reply_chunk(context, 0, "", 0);
    return dump_chunk_at(context, object, &whole, state, number * CHUNK_BYTES);
}

int bf_command_scandump(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    long long iterator;
    if (argc != 3)
        return api.WrongArity(context);
    if (!object_open(context, &filter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    if (!opened.object)
        reply_error_text(context, "ERR not found");
    else if (api.StringToLongLong(argv[2], &iterator) != SERVER_OK || iterator < 0)
        reply_error_text(context, "Second argument must be numeric");
    else
        dump_chunk(context, opened.object, (uint64_t)iterator);
    return object_close(&opened);
}

/* ---- BF.LOADCHUNK --------------------------------------------------------------------------- */

/* True if this is a complete chunk and belongs to this iterator. */
static bool loadchunk_parse(const char *sent, size_t len, uint64_t iterator, chunk_head *head)
{
    if (len <= HEAD_BYTES || memcmp(sent, magic, sizeof magic) != 0)
        return false;
    *head = (chunk_head){load64(sent + 8), load64(sent + 16), load64(sent + 24), load64(sent + 32)};
    return head->offset < head->length && head->offset % CHUNK_BYTES == 0 &&
           head->offset / CHUNK_BYTES + 1 < (uint64_t)1 << NUMBER_BITS &&
           len - HEAD_BYTES == chunk_len(head->length, head->offset) &&
           iterator == chunk_iterator(head->state, head->offset) &&
           head->check == chunk_checksum(sent, len - HEAD_BYTES);
}

/* All chunks have arrived: makes the filter from them. */
static bry_status loadchunk_finish(server_context *context, held_object *object,
                                   const chunk_head *head)
{
    char reason[LOAD_REASON_SIZE];
    state_sink whole;
    bry_sink sink = {state_sink_write, &whole};
    state_sink_begin(&whole);
    object_save(object, &sink);
    if (state_sink_end(&whole) != head->state)
        return BRY_E_BADDATA;
    bry_load load = BRY_LOAD;
    load.max_bytes = is_replayed(context) ? 0 : settings_load_limit();
    bry_status status = object_load_pieces(object, &load);
    if (status != BRY_OK)
        api.Log(context, "warning", "a filter is refused: %s",
                object_load_reason(&load, status, reason));
    return status;
}

static int loadchunk_refused(server_context *context, bry_status status)
{
    return status == BRY_E_BADDATA || status == BRY_E_VERSION ? reply_error_text(context, bad_data)
                                                              : reply_status(context, status);
}

static void loadchunk_replicate(server_context *context, server_string **argv)
{
    bf_replicate(context, BF_EFFECT_CHUNK, argv, 4);
    object_changed(context, argv[1], "bf.loadchunk", false);
}

/* The first chunk starts a new object. If it is also the last, it replaces the key's value only
 * after it was checked; otherwise the old value is gone from now on. */
static int loadchunk_first(server_context *context, server_string **argv, opened_key *opened,
                           const chunk_head *head, const char *bytes, size_t len)
{
    if (!object_may_grow(context, NULL, len))
        return object_too_large(context, &filter_family);
    held_object *made = object_new(&filter_family);
    bry_status status = made ? object_append_piece(made, bytes, len) : BRY_E_NOMEM;
    bool last = len == head->length;
    if (status == BRY_OK && last)
        status = loadchunk_finish(context, made, head);
    if (status != BRY_OK) {
        object_free(made);
        return loadchunk_refused(context, status);
    }
    object_put(opened, made);
    loadchunk_replicate(context, argv);
    return reply_ok(context);
}

static int loadchunk_next(server_context *context, server_string **argv, opened_key *opened,
                          const chunk_head *head, const char *bytes, size_t len)
{
    held_object *object = opened->object;
    if (!object || object->thing || object_pieces_len(object) != head->offset)
        return reply_error_text(context, bad_data);
    if (!object_may_grow(context, object, len))
        return object_too_large(context, &filter_family);
    bry_status status = object_append_piece(object, bytes, len);
    if (status != BRY_OK)
        return reply_status(context, status);
    if (object_pieces_len(object) == head->length)
        status = loadchunk_finish(context, object, head);
    if (status != BRY_OK) {
        api.DeleteKey(opened->key);
        api.Replicate(context, "DEL", "s", argv[1]); /* a replica has no limit: no retry there */
        return loadchunk_refused(context, status);
    }
    loadchunk_replicate(context, argv);
    return reply_ok(context);
}

int bf_command_loadchunk(server_context *context, server_string **argv, int argc)
{
    long long iterator;
    size_t len;
    chunk_head head;
    if (argc != 4)
        return reply_wrong_arity(context);
    if (api.StringToLongLong(argv[2], &iterator) != SERVER_OK)
        return reply_error_text(context, "ERR Second argument must be numeric");
    const char *sent = api.StringPtrLen(argv[3], &len);
    opened_key opened = {api.OpenKey(context, argv[1], SERVER_READ | SERVER_WRITE), NULL};
    bool there = api.KeyType(opened.key) != SERVER_KEY_EMPTY;
    if (there && api.ModuleTypeGetType(opened.key) == filter_family.type)
        opened.object = api.ModuleTypeGetValue(opened.key);
    if (there && !opened.object)
        reply_wrong_type(context);
    else if (!there && ((uint64_t)iterator & NUMBER_MASK) != 1)
        reply_error_text(context, "ERR not found"); /* cannot be a first chunk */
    else if (!loadchunk_parse(sent, len, (uint64_t)iterator, &head))
        reply_error_text(context, bad_data);
    else if (head.offset == 0)
        loadchunk_first(context, argv, &opened, &head, sent + HEAD_BYTES, len - HEAD_BYTES);
    else
        loadchunk_next(context, argv, &opened, &head, sent + HEAD_BYTES, len - HEAD_BYTES);
    return object_close(&opened);
}
