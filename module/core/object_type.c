/*
 * The data type of every family: how an object is saved, logged, copied, compared and freed.
 *
 * RDB payload, encoding 1: 1 if the object is complete, 0 if it is being restored; then any number
 * of 1 followed by a string; then 0. The concatenated strings are the object's frames
 * (doc/format.md), cut every 64 KiB regardless of their meaning, so that no part of an object needs
 * one block of its own size.
 *
 * Append-only file: the same bytes, in as many restore commands as needed.
 *
 * Digest: over the frames. They depend on the contents of an object and on the state that decides
 * its future behaviour, and on nothing that a read changes.
 *
 * There is no defrag method, because pointers to blocks are everywhere inside the library's
 * objects; the blocks are few and large. There is no unlink method, because nothing outside an
 * object refers to it.
 */
#include "module/core/arguments.h"
#include "module/core/object.h"
#include "module/core/replies.h"
#include "module/core/settings.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_SIZE ((size_t)1 << 16)

/* ---- cutting -------------------------------------------------------------------------------- */

/* A sink that emits pieces of equal size and marks the last one. */
typedef struct piece_cutter {
    void (*emit)(const struct piece_cutter *self, bool last);
    void *target;
    server_string *key;
    const command_family *family;
    uint64_t offset; /* of this piece in the payload */
    size_t len;
    char bytes[PIECE_SIZE];
} piece_cutter;

static void cutter_begin(piece_cutter *self, void (*emit)(const piece_cutter *, bool), void *target)
{
    self->emit = emit;
    self->target = target;
    self->key = NULL;
    self->family = NULL;
    self->offset = 0;
    self->len = 0; /* `bytes` is not cleared: that would cost more than saving a small map */
}

static bry_status cutter_write(void *opaque, const void *bytes, size_t len)
{
    piece_cutter *self = opaque;
    const char *from = bytes;
    while (len > 0) {
        if (self->len == PIECE_SIZE) {
            self->emit(self, false);
            self->offset += PIECE_SIZE;
            self->len = 0;
        }
        size_t room = PIECE_SIZE - self->len, here = len < room ? len : room;
        memcpy(self->bytes + self->len, from, here);
        self->len += here;
        from += here;
        len -= here;
    }
    return BRY_OK;
}

/*
 * The cutter accepts everything, but some engines need a little memory to sort their entries. If
 * there is none the process aborts, as the server does when it is out of memory: a failed snapshot
 * is better than a truncated one that is noticed only when it is needed.
 */
static void cutter_save_object(const held_object *object, piece_cutter *cutter)
{
    bry_sink sink = {cutter_write, cutter};
    bry_status status = object_save(object, &sink);
    if (status != BRY_OK) {
        api.Log(NULL, "warning", "bloomery cannot save a key: %s", bry_status_text(status));
        abort();
    }
    cutter->emit(cutter, object->thing != NULL);
}

/* ---- RDB ------------------------------------------------------------------------------------ */

static void rdb_emit_piece(const piece_cutter *self, bool last)
{
    (void)last;
    api.SaveUnsigned(self->target, 1);
    api.SaveStringBuffer(self->target, self->bytes, self->len);
}

static void object_rdb_save(server_io *io, void *value)
{
    const held_object *object = value;
    piece_cutter cutter;
    cutter_begin(&cutter, rdb_emit_piece, io);
    api.SaveUnsigned(io, object->thing != NULL);
    cutter_save_object(object, &cutter);
    api.SaveUnsigned(io, 0);
}

typedef struct rdb_source {
    server_io *io;
    char *bytes;
    size_t len, at;
    bool ended;
} rdb_source;

static void rdb_drop_string(rdb_source *self)
{
    if (self->bytes)
        api.Free(self->bytes);
    self->bytes = NULL;
    self->len = self->at = 0;
}

static bry_status rdb_read(void *opaque, void *bytes, size_t len, size_t *got)
{
    rdb_source *self = opaque;
    while (!self->ended && self->at == self->len) {
        rdb_drop_string(self);
        uint64_t mark = api.LoadUnsigned(self->io);
        if (api.IsIOError(self->io) || mark > 1)
            return mark > 1 ? BRY_E_BADDATA : BRY_E_IO;
        self->ended = mark == 0;
        if (self->ended)
            break;
        self->bytes = api.LoadStringBuffer(self->io, &self->len);
        if (api.IsIOError(self->io) || !self->bytes)
            return BRY_E_IO;
    }
    size_t left = self->len - self->at;
    *got = len < left ? len : left;
    if (*got)
        memcpy(bytes, self->bytes + self->at, *got);
    self->at += *got;
    return BRY_OK;
}

static bry_status rdb_load_pieces(held_object *object, const bry_source *source, bool from_client)
{
    char bytes[4096];
    size_t got;
    bry_status status;
    do {
        status = source->read(source->opaque, bytes, sizeof bytes, &got);
        if (status == BRY_OK)
            status = object_append_piece(object, bytes, got);
        if (from_client && object->account.bytes > settings_load_limit())
            status = BRY_E_LIMIT;
    } while (status == BRY_OK && got > 0);
    return status;
}

/* A client's RESTORE may not create a larger object than the client could have created otherwise.
 * What a server has written, or a primary has accepted, is loaded whatever its size. */
static bool rdb_is_from_client(server_io *io)
{
    int flags = api.GetContextFlags(api.GetContextFromIO(io));
    return (flags & SERVER_IS_MASTER) && !(flags & (SERVER_IS_LOADING | SERVER_IS_LOADING_ASIDE));
}

static bry_status rdb_load_whole(held_object *object, const bry_source *source, bool from_client,
                                 bry_load *load)
{
    load->max_bytes = from_client ? settings_load_limit() : 0;
    bry_status status = object_load(object, source, load);
    char byte;
    size_t got;
    if (status == BRY_OK)
        status = source->read(source->opaque, &byte, 1, &got);
    if (status == BRY_OK && got > 0)
        status = BRY_E_BADDATA;
    if (status != BRY_OK && !load->problem)
        load->problem = "trailing bytes after the object";
    return status;
}

static const char *rdb_key_name(server_io *io, char out[QUOTED_SIZE])
{
    const server_string *key = api.GetKeyNameFromIO(io);
    return key ? quoted(key, out) : "";
}

void *object_rdb_load(server_io *io, int encoding, command_family *family)
{
    char key[QUOTED_SIZE], reason[LOAD_REASON_SIZE];
    if (encoding > family->encoding) {
        api.LogIOError(
            io, "warning",
            "%s %s has encoding %d, but this module reads only up to %d: load a newer module",
            family->name, rdb_key_name(io, key), encoding, family->encoding);
        return NULL;
    }
    bool whole = api.LoadUnsigned(io) != 0;
    held_object *made = api.IsIOError(io) ? NULL : object_new(family);
    if (!made)
        return NULL;
    rdb_source strings = {.io = io};
    bry_source source = {rdb_read, &strings};
    bry_load load = BRY_LOAD;
    bool from_client = rdb_is_from_client(io);
    bry_status status = whole ? rdb_load_whole(made, &source, from_client, &load)
                              : rdb_load_pieces(made, &source, from_client);
    rdb_drop_string(&strings);
    if (status == BRY_OK)
        return made;
    object_free(made);
    api.LogIOError(io, "warning", "%s %s is refused: %s", family->name, rdb_key_name(io, key),
                   object_load_reason(&load, status, reason));
    return NULL;
}

/* ---- log ------------------------------------------------------------------------------------ */

static void aof_emit_piece(const piece_cutter *self, bool last)
{
    const char *command = self->family->restore_command;
    if (last)
        api.EmitAOF(self->target, command, "slbc", self->key, (long long)self->offset, self->bytes,
                    self->len, "LAST");
    else
        api.EmitAOF(self->target, command, "slb", self->key, (long long)self->offset, self->bytes,
                    self->len);
}

static void object_aof_rewrite(server_io *io, server_string *key, void *value)
{
    const held_object *object = value;
    piece_cutter cutter;
    cutter_begin(&cutter, aof_emit_piece, io);
    cutter.key = key;
    cutter.family = object_family(object);
    cutter_save_object(object, &cutter);
}

/* ---- the other methods ---------------------------------------------------------------------- */

static void digest_emit_piece(const piece_cutter *self, bool last)
{
    (void)last;
    api.DigestAddStringBuffer(self->target, self->bytes, self->len);
}

static void object_digest(server_digest *digest, void *value)
{
    piece_cutter cutter;
    cutter_begin(&cutter, digest_emit_piece, digest);
    cutter_save_object(value, &cutter);
    api.DigestEndSequence(digest);
}

static size_t object_mem_usage(const void *value)
{
    return ((const held_object *)value)->account.bytes;
}

/* The server frees a key in another thread if this is above 64: many blocks, or 128 KB in few. */
static size_t object_free_effort(server_string *key, const void *value)
{
    const account *bill = &((const held_object *)value)->account;
    (void)key;
    return bill->blocks + bill->bytes / 2048;
}

static void object_free_value(void *value)
{
    object_free(value);
}

static void *object_copy_value(server_string *from, server_string *to, const void *value)
{
    (void)from;
    (void)to;
    held_object *copy = NULL;
    object_copy(value, &copy);
    return copy;
}

server_type_methods object_type_methods(const command_family *family)
{
    return (server_type_methods){
        .version = SERVER_TYPE_METHODS_VERSION,
        .rdb_load = family->rdb_load,
        .rdb_save = object_rdb_save,
        .aof_rewrite = object_aof_rewrite,
        .mem_usage = object_mem_usage,
        .digest = object_digest,
        .free = object_free_value,
        .free_effort = object_free_effort,
        .copy = object_copy_value,
    };
}
