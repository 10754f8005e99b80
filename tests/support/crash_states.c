#include "support/crash_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING_MAX = 64 };

typedef struct explorer {
    const recording_io *recording;
    crash_check *check;
    void *context;
    size_t states;

    size_t ops; /* the crash comes after this many */
    size_t pending[PENDING_MAX]; /* indices of those that no sync covers */
    size_t pending_count;

    /* The torn write, if any: only its bytes [from, to) are on disk. */
    size_t torn;
    size_t from, to;
} explorer;

#define NONE SIZE_MAX

static bool changes(const recorded_op *op)
{
    return op->kind <= RECORDED_TRUNCATE;
}

static bool is_content(const recorded_op *op)
{
    return op->kind == RECORDED_WRITE || op->kind == RECORDED_TRUNCATE;
}

static bool covered(const explorer *e, size_t index)
{
    const recorded_op *op = &e->recording->ops[index];
    for (size_t i = index + 1; i < e->ops; i++) {
        const recorded_op *later = &e->recording->ops[i];
        if (is_content(op) ? later->kind == RECORDED_SYNC && later->file == op->file
                           : later->kind == RECORDED_SYNC_DIR)
            return true;
    }
    return false;
}

static void find_pending(explorer *e)
{
    e->pending_count = 0;
    for (size_t i = 0; i < e->ops; i++) {
        if (changes(&e->recording->ops[i]) && !covered(e, i)) {
            if (e->pending_count == PENDING_MAX) {
                fputs("crash_states: too many operations without a sync\n", stderr);
                abort();
            }
            e->pending[e->pending_count++] = i;
        }
    }
}

static void restore_base(const recording_io *recording, recording_io *fs)
{
    recording_init(fs);
    for (int i = 0; i < recording->base_file_count; i++) {
        const recorded_file *file = &recording->base_files[i];
        fs->files[i] = *file;
        fs->files[i].room = file->len;
        fs->files[i].bytes = malloc(file->len ? file->len : 1);
        if (!fs->files[i].bytes)
            abort();
        memcpy(fs->files[i].bytes, file->bytes, file->len);
    }
    fs->file_count = recording->base_file_count;
    for (int i = 0; i < RECORDED_NAMES; i++) {
        const recorded_name *name = &recording->base_names[i];
        if (name->path) {
            fs->names[i] = (recorded_name){strdup(name->path), name->file};
            if (!fs->names[i].path)
                abort();
        }
    }
}

/* Builds the state with the pending operations in the mask. */
static void visit(explorer *e, uint64_t mask)
{
    recording_io fs;
    restore_base(e->recording, &fs);
    crash_state state = {.fs = &fs, .ops = e->ops};
    size_t next = 0;
    for (size_t i = 0; i < e->ops; i++) {
        recorded_op op = e->recording->ops[i];
        bool pending = next < e->pending_count && e->pending[next] == i;
        if (pending && !(mask >> next++ & 1))
            continue;
        if (i == e->torn) {
            op.offset += e->from;
            op.bytes += e->from;
            op.len = e->to - e->from;
        }
        if (op.kind == RECORDED_MARK) {
            state.marked = true;
            state.first = op.offset;
            state.second = op.len;
        }
        recording_apply(&fs, &op);
    }
    recording_start(&fs);
    e->states++;
    e->check(e->context, &state);
    recording_free(&fs);
}

/* All masks that include every bit of `always`. */
static void visit_subsets(explorer *e, uint64_t always)
{
    size_t n = e->pending_count;
    uint64_t all = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    if (n <= CRASH_SUBSETS) {
        for (uint64_t mask = 0; mask <= all; mask++)
            if ((mask & always) == always)
                visit(e, mask);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bit = UINT64_C(1) << i;
        visit(e, (bit - 1) | always);
        visit(e, (all & ~bit) | always);
        visit(e, bit | always);
    }
    visit(e, all);
}

static void visit_torn(explorer *e)
{
    size_t n = e->pending_count;
    uint64_t all = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    for (size_t i = 0; i < n; i++) {
        const recorded_op *op = &e->recording->ops[e->pending[i]];
        if (op->kind != RECORDED_WRITE)
            continue;
        uint64_t bit = UINT64_C(1) << i;
        const size_t places[] = {1,  4,  8,  16, 20, 23,          24,
                                 25, 32, 63, 64, 65, op->len / 2, op->len - 1};
        e->torn = e->pending[i];
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            if (places[p] == 0 || places[p] >= op->len)
                continue;
            for (int back = 0; back < 2; back++) {
                e->from = back ? places[p] : 0;
                e->to = back ? op->len : places[p];
                visit(e, all);
                visit(e, bit);
                visit(e, bit | (bit - 1));
            }
        }
        e->torn = NONE;
    }
}

size_t crash_states(const recording_io *recording, crash_check *check, void *context)
{
    explorer e = {.recording = recording, .check = check, .context = context, .torn = NONE};
    for (e.ops = 0; e.ops <= recording->op_count; e.ops++) {
        find_pending(&e);
        const recorded_op *last = e.ops ? &recording->ops[e.ops - 1] : NULL;
        if (last && (last->kind == RECORDED_SYNC || last->kind == RECORDED_SYNC_DIR))
            continue; /* a sync only removes states; its effect is visible after the mark */
        /* A state without the last operation is one of those before it. */
        uint64_t always = 0;
        if (last && changes(last) && e.pending_count) /* the last one */
            always = UINT64_C(1) << (e.pending_count - 1);
        visit_subsets(&e, always);
        visit_torn(&e);
    }
    return e.states;
}

int skip_sync(void *opaque, int fd)
{
    (void)opaque;
    (void)fd;
    return 0;
}

int skip_dir_sync(void *opaque, const char *dir)
{
    (void)opaque;
    (void)dir;
    return 0;
}
