#include "module/core/object.h"
#include "module/core/replies.h"
#include "module/core/settings.h"

#include <inttypes.h>
#include <string.h>

/* ---- blocks ---------------------------------------------------------------------------------- */

/*
 * Bytes in a list of blocks: frames on their way from one object to another, or arriving in pieces,
 * without one block of the total size. Reading the list as a source frees it block by block, so
 * that the frames and the object made from them do not both exist in full.
 */
typedef struct chunk chunk;

struct chunks {
    bry_allocator allocator;
    chunk *first, *last;
    size_t at; /* bytes already read of the first block */
    uint64_t len; /* bytes left in all blocks */
};

#define CHUNK_SIZE ((size_t)1 << 16)

struct chunk {
    chunk *next;
    size_t len, capacity;
    unsigned char bytes[];
};

/* NULL: out of memory. */
static chunks *chunks_new(bry_allocator allocator)
{
    chunks *self = allocator.alloc(allocator.opaque, sizeof *self);
    if (self)
        *self = (chunks){.allocator = allocator};
    return self;
}

static void chunks_drop_first(chunks *self)
{
    chunk *gone = self->first;
    self->first = gone->next;
    if (!self->first)
        self->last = NULL;
    self->len -= gone->len - self->at;
    self->at = 0;
    self->allocator.free(self->allocator.opaque, gone, sizeof *gone + gone->capacity);
}

static void chunks_free(chunks *self)
{
    if (!self)
        return;
    while (self->first)
        chunks_drop_first(self);
    self->allocator.free(self->allocator.opaque, self, sizeof *self);
}

/* BRY_E_NOMEM leaves the list unchanged. */
static bry_status chunks_append(chunks *self, const void *bytes, size_t len)
{
    size_t room = self->last ? self->last->capacity - self->last->len : 0;
    size_t here = len < room ? len : room;
    if (len > here) { /* allocate the block for the rest first: that may fail */
        size_t capacity = len - here > CHUNK_SIZE ? len - here : CHUNK_SIZE;
        chunk *more = NULL;
        if (capacity <= SIZE_MAX - sizeof *more)
            more = self->allocator.alloc(self->allocator.opaque, sizeof *more + capacity);
        if (!more)
            return BRY_E_NOMEM;
        more->next = NULL;
        more->len = len - here;
        more->capacity = capacity;
        memcpy(more->bytes, (const unsigned char *)bytes + here, more->len);
        if (here)
            memcpy(self->last->bytes + self->last->len, bytes, here);
        if (self->last) {
            self->last->len += here;
            self->last->next = more;
        } else {
            self->first = more;
        }
        self->last = more;
    } else if (len) {
        memcpy(self->last->bytes + self->last->len, bytes, len);
        self->last->len += len;
    }
    self->len += len;
    return BRY_OK;
}

static bry_status chunks_source_read(void *opaque, void *bytes, size_t len, size_t *got)
{
    chunks *self = opaque;
    while (self->first && self->at == self->first->len)
        chunks_drop_first(self);
    if (!self->first) {
        *got = 0;
        return BRY_OK;
    }
    size_t left = self->first->len - self->at;
    *got = len < left ? len : left;
    memcpy(bytes, self->first->bytes + self->at, *got);
    self->at += *got;
    self->len -= *got;
    return BRY_OK;
}

/* Writes the whole list without consuming it: for an object that is still being restored. */
static bry_status chunks_write(const chunks *self, const bry_sink *sink)
{
    bry_status status = BRY_OK;
    size_t at = self->at;
    for (const chunk *each = self->first; each && status == BRY_OK; each = each->next, at = 0)
        status = sink->write(sink->opaque, each->bytes + at, each->len - at);
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Upper bound of the library's buffers while it loads an object. */
enum { LOAD_BUFFERS = 1 << 20 };
/* Bytes read of a note to notice that there is one. */
enum { FOREIGN_NOTE = 1024 };

held_object *object_new(command_family *family)
{
    held_object *made = account_open(sizeof *made + family->extra, &family->totals.bytes);
    if (!made)
        return NULL;
    atomic_fetch_add_explicit(&family->totals.keys, 1, memory_order_relaxed);
    return made;
}

/* ---- what the job does, or the family ------------------------------------------------------- */

void *object_inside(const held_object *self)
{
    return object_family(self)->wrapped ? *(void **)self->thing : self->thing;
}

static bry_status object_save_thing(const held_object *self, const bry_sink *sink)
{
    const command_family *family = object_family(self);
    return family->save ? family->save(self->thing, sink)
                        : bry_job_save(family->job, object_inside(self), sink, NULL);
}

static bry_status object_load_thing(held_object *self, const bry_source *source, bry_load *load)
{
    const command_family *family = object_family(self);
    return family->load ? family->load(source, load, &self->thing)
                        : bry_job_load(family->job, source, load, &self->thing);
}

static bry_status object_clone_thing(const held_object *self, held_object *copy)
{
    const command_family *family = object_family(self);
    bry_allocator allocator = account_allocator(&copy->account);
    return family->clone ? family->clone(self->thing, &copy->account, &copy->thing)
                         : bry_job_clone(family->job, self->thing, &allocator, &copy->thing);
}

static void object_destroy_thing(held_object *self)
{
    const command_family *family = object_family(self);
    if (family->destroy)
        family->destroy(self->thing);
    else
        bry_job_destroy(family->job, object_inside(self));
}

/* ---- numbers -------------------------------------------------------------------------------- */

static void object_set_items(held_object *self, uint64_t items)
{
    /* a sum of differences modulo 2^64 */
    atomic_fetch_add_explicit(&object_totals(self)->items, items - self->items,
                              memory_order_relaxed);
    self->items = items;
}

void object_recount(held_object *self)
{
    object_set_items(self, bry_job_items(object_family(self)->job, object_inside(self)));
}

void object_count_among(held_object *self, family_totals *totals)
{
    uint64_t items = self->items;
    object_set_items(self, 0);
    totals->family = object_family(self);
    atomic_fetch_sub_explicit(&object_totals(self)->keys, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&totals->keys, 1, memory_order_relaxed);
    account_move(&self->account, &totals->bytes);
    object_set_items(self, items);
}

/* Asking the library takes some microseconds, so it is done before a command with many items, and
 * once for many commands with few. The larger an object, the less its error changes meanwhile. */
#define LOOK_LEAST 256u
#define LOOK_MOST 4096u

static void object_refresh_errors(held_object *self, size_t n)
{
    uint64_t after = LOOK_LEAST + self->items / 64;
    if (after > LOOK_MOST)
        after = LOOK_MOST;
    if (self->promised > 0 && self->account.noted + n < after) {
        self->account.noted += (uint32_t)n;
        return;
    }
    double promised, estimated;
    object_family(self)->errors(self->thing, &promised, &estimated);
    self->promised = (float)promised;
    self->estimated = (float)estimated;
    self->account.noted = 0;
}

void object_count(held_object *self, size_t n)
{
    family_totals *totals = object_totals(self);
    if (totals->family->errors)
        object_refresh_errors(self, n);
    totals->operations += n;
    totals->judged += n;
    totals->promised += (double)n * (double)self->promised;
    totals->estimated += (double)n * (double)self->estimated;
}

void object_free(held_object *self)
{
    if (!self)
        return;
    if (self->thing) {
        object_set_items(self, 0);
        object_destroy_thing(self);
    } else {
        chunks_free(self->pieces);
    }
    atomic_fetch_sub_explicit(&object_totals(self)->keys, 1, memory_order_relaxed);
    account_close(self);
}

bry_status object_save(const held_object *self, const bry_sink *sink)
{
    if (self->thing)
        return object_save_thing(self, sink);
    return self->pieces ? chunks_write(self->pieces, sink) : BRY_OK;
}

/* ---- pieces --------------------------------------------------------------------------------- */

bry_status object_append_piece(held_object *self, const void *bytes, size_t len)
{
    if (!self->pieces)
        self->pieces = chunks_new(account_allocator(&self->account));
    return self->pieces ? chunks_append(self->pieces, bytes, len) : BRY_E_NOMEM;
}

uint64_t object_pieces_len(const held_object *self)
{
    return self->pieces ? self->pieces->len : 0;
}

static bry_status object_piece_write(void *opaque, const void *bytes, size_t len)
{
    return object_append_piece(opaque, bytes, len);
}

bry_status object_load_pieces(held_object *self, bry_load *load)
{
    if (!self->pieces) {
        load->problem = "it is empty";
        return BRY_E_BADDATA;
    }
    chunks *pieces = self->pieces;
    self->pieces = NULL;
    bry_source source = {chunks_source_read, pieces};
    bry_status status = object_load(self, &source, load);
    if (status == BRY_OK && pieces->len > 0) {
        object_set_items(self, 0);
        object_destroy_thing(self);
        self->thing = NULL;
        status = BRY_E_BADDATA;
        load->problem = "trailing bytes after the object";
    }
    chunks_free(pieces);
    return status;
}

/* ---- loading and copying -------------------------------------------------------------------- */

/* Checks the size of a loaded object, including what a family keeps besides the library's, and that
 * it has no note left: a family with notes has taken its own. */
static bry_status object_check_loaded(held_object *self, bry_load *load, size_t before,
                                      const bry_buffer *note)
{
    bry_status status = BRY_OK;
    if (note->len > 0) {
        status = BRY_E_BADDATA;
        load->problem = "keys of this type have no note";
    } else if (load->max_bytes && self->account.bytes > before + load->max_bytes) {
        status = BRY_E_LIMIT;
        load->problem = "the object exceeds the memory limit";
    }
    if (status != BRY_OK) {
        object_destroy_thing(self);
        self->thing = NULL;
    }
    return status;
}

bry_status object_load(held_object *self, const bry_source *source, bry_load *load)
{
    size_t before = self->account.bytes;
    bry_allocator allocator = account_allocator(&self->account);
    bry_buffer note = BRY_BUFFER;
    load->allocator = &allocator;
    load->note = &note;
    load->note_max = FOREIGN_NOTE;
    if (load->max_bytes)
        account_limit_begin(&self->account, before + load->max_bytes + LOAD_BUFFERS, NULL);
    bry_status status = object_load_thing(self, source, load);
    load->allocator = NULL;
    load->note = NULL;
    status = object_limit_end(self, status);
    if (status == BRY_OK)
        status = object_check_loaded(self, load, before, &note);
    bry_buffer_free(&note);
    if ((status == BRY_E_NOMEM || status == BRY_E_LIMIT) && !load->problem)
        load->problem = "out of memory"; /* in the family's own part */
    if (status == BRY_OK)
        object_recount(self);
    return status;
}

bry_status object_copy(const held_object *self, held_object **copy)
{
    held_object *made = object_new(object_family(self));
    if (!made)
        return BRY_E_NOMEM;
    bry_status status;
    if (self->thing) {
        status = object_clone_thing(self, made);
    } else {
        bry_sink sink = {object_piece_write, made};
        status = object_save(self, &sink);
    }
    if (status != BRY_OK) {
        object_free(made);
        return status;
    }
    if (made->thing)
        object_recount(made);
    *copy = made;
    return BRY_OK;
}

/* ---- keys ----------------------------------------------------------------------------------- */

bool object_open(server_context *context, command_family *family, server_string *name, int mode,
                 opened_key *opened)
{
    opened->key = api.OpenKey(context, name, mode);
    opened->object = NULL;
    if (!opened->key)
        return true;
    if (api.ModuleTypeGetType(opened->key) != family->type) {
        if (api.KeyType(opened->key) == SERVER_KEY_EMPTY)
            return true;
        object_close(opened);
        reply_wrong_type(context);
        return false;
    }
    opened->object = api.ModuleTypeGetValue(opened->key);
    if (!opened->object->thing) {
        object_close(opened);
        return reply_false(context, "BADDATA", "this %s is damaged, or still being restored",
                           family->name);
    }
    return true;
}

int object_close(opened_key *opened)
{
    if (opened->key)
        api.CloseKey(opened->key);
    opened->key = NULL;
    return SERVER_OK;
}

bool object_open_made(server_context *context, command_family *family, server_string *name,
                      int mode, opened_key *opened)
{
    if (!object_open(context, family, name, mode, opened))
        return false;
    if (opened->object)
        return true;
    object_close(opened);
    family_reply_missing(context, family);
    return false;
}

bool object_open_free(server_context *context, command_family *family, server_string *name,
                      opened_key *opened)
{
    if (!object_open(context, family, name, SERVER_READ | SERVER_WRITE, opened))
        return false;
    if (!opened->object)
        return true;
    object_close(opened);
    return reply_false(context, "BUSYKEY", "Target key name already exists.");
}

const held_object *object_like(server_context *context, command_family *family, server_string *name)
{
    char text[QUOTED_SIZE];
    opened_key other;
    if (!object_open(context, family, name, SERVER_READ, &other))
        return NULL;
    object_close(&other);
    if (!other.object)
        reply_error(context, "ERR", "LIKE %s: no such key", quoted(name, text));
    return other.object;
}

void object_put(opened_key *opened, held_object *object)
{
    void *old = NULL;
    server_type *type = object_family(object)->type;
    if (!opened->object) {
        api.ModuleTypeSetValue(opened->key, type, object);
    } else {
        api.ModuleTypeReplaceValue(opened->key, type, object, &old);
        object_free(old);
    }
    opened->object = object;
}

void object_changed(server_context *context, server_string *name, const char *event, bool verbatim)
{
    if (verbatim)
        api.ReplicateVerbatim(context);
    api.NotifyKeyspaceEvent(context, SERVER_NOTIFY_MODULE, event, name);
}

int object_put_like(server_context *context, server_string *name, opened_key *target,
                    held_object *made, const char *event)
{
    if (!object_may_grow(context, made, 0)) {
        command_family *family = object_family(made);
        object_free(made);
        return object_too_large(context, family);
    }
    object_put(target, made);
    object_changed(context, name, event, true);
    return reply_ok(context);
}

int object_describe(server_context *context, server_string **argv, int argc, command_family *family,
                    void (*describe)(pair_reply *pairs, const held_object *object))
{
    opened_key opened;
    if (argc != 2)
        return api.WrongArity(context);
    if (!object_open_made(context, family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    pair_reply pairs = reply_pairs_begin(context);
    describe(&pairs, opened.object);
    reply_pairs_end(&pairs);
    return object_close(&opened);
}

int object_refused_here(server_context *context, command_family *family, bry_status status)
{
    if (status == BRY_E_LIMIT)
        return object_too_large(context, family);
    family->totals.refused++;
    return reply_status(context, status);
}

int object_refused(server_context *context, command_family *family, bry_status status)
{
    if (status == BRY_E_FULL || status == BRY_E_UNSURE)
        api.ReplicateVerbatim(context);
    return object_refused_here(context, family, status);
}

bool object_may_grow(server_context *context, const held_object *object, uint64_t more)
{
    uint64_t limit = settings_max_key_bytes(), now = object ? object->account.bytes : 0;
    return (now <= limit && more <= limit - now) || is_replayed(context);
}

void object_limit_begin(server_context *context, held_object *object)
{
    uint64_t limit = settings_max_key_bytes(), now = object->account.bytes;
    account_limit_begin(&object->account, (now > limit ? now : limit) + limit / 8, context);
}

bry_status object_limit_end(held_object *object, bry_status status)
{
    bool denied = account_limit_end(&object->account);
    return denied && status == BRY_E_NOMEM ? BRY_E_LIMIT : status;
}

int object_reply_full(server_context *context, uint64_t n, uint64_t most, const char *otherwise)
{
    if (most == 0 || n <= most)
        return reply_error(context, "FULL", "%s", otherwise);
    return reply_error(context, "FULL", "the key cannot have more than %" PRIu64 " items%s", most,
                       most < BRY_CAPACITY_MAX
                           ? ": with its error, they would need fingerprints of over 62 bits"
                           : "");
}

int object_too_large(server_context *context, command_family *family)
{
    family->totals.refused++;
    return reply_error(context, "FULL",
                       "the key would exceed bloomery.max-key-bytes, which is %" PRIu64,
                       settings_max_key_bytes());
}
