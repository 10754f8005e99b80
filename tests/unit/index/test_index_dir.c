/* Indexes in directories: only changed parts are written, and after a crash or failure the
 * directory loads as the old or the new index. */
#include "index/index_save.h"
#include "support/crash_states.h"
#include "support/dir_helpers.h"
#include "support/index_helpers.h"
#include "support/index_parts_count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DIR "f"

static bry_index *load(const recording_io *disk)
{
    bry_index *index = NULL;
    bry_load how = BRY_LOAD;
    assert_int_equal(bry__index_load_dir(&disk->io, DIR, &how, &index), BRY_OK);
    return index;
}

static void save(const recording_io *disk, const bry_index *index)
{
    assert_int_equal(bry__index_save_dir(&disk->io, index, DIR, NULL), BRY_OK);
}

/* Loading gives this index. */
static void assert_dir_has(const recording_io *disk, const bry_index *index, uint64_t elements)
{
    bry_index *found = load(disk);
    assert_same_index(found, index, elements);
    bry_index_destroy(found);
}

/* An index of three units in a directory, until index_dir_end(). */
static recording_io fs;
static bry_index *index_dir_begin(bry_engine engine)
{
    recording_init(&fs);
    bry_index *index = exact(engine, 4, 60);
    add_many(index, 0, 170, BRY_INDEX_NEWEST);
    save(&fs, index);
    return index;
}

static void index_dir_end(bry_index *index)
{
    bry_index_destroy(index);
    recording_free(&fs);
}

static bry_index *copy_of(const bry_index *index)
{
    bry_index *copy = NULL;
    assert_int_equal(bry_index_clone(index, NULL, &copy), BRY_OK);
    return copy;
}

/* Files that were created since the recording began. */
static size_t created(const recording_io *disk)
{
    size_t n = 0;
    for (size_t i = 0; i < disk->op_count; i++)
        n += disk->ops[i].kind == RECORDED_CREATE;
    return n;
}

/* Small changes of a large index write little. */
TEST(test_only_what_changed)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        recording_init(&fs);
        bry_index *index = exact(index_engines[e], 12, 40000);
        add_many(index, 0, 420000, BRY_INDEX_NEWEST);
        save(&fs, index);
        uint64_t parts = index_parts_count(index);
        assert_true(parts >= 4);
        assert_int_equal(recording_names(&fs), parts + 1);

        recording_start(&fs);
        save(&fs, index);
        assert_int_equal(created(&fs), 1); /* only the list */
        recording_start(&fs);
        assert_int_equal(bry_index_set_tag(index, 1, 99), BRY_OK);
        assert_int_equal(bry_index_seal(index, 10), BRY_OK);
        save(&fs, index);
        assert_int_equal(created(&fs), 1);
        recording_start(&fs);
        add(index, 1000000, open_unit(index, 1));
        save(&fs, index);
        assert_true(created(&fs) <= 3);

        /* The same for an index that was loaded from there, and for a clone of it. */
        bry_index *loaded = load(&fs), *copy = copy_of(loaded);
        assert_int_equal(unit_of(loaded, 1).tag, 99);
        recording_start(&fs);
        save(&fs, loaded);
        assert_int_equal(created(&fs), 1);
        add(loaded, 1000001, BRY_INDEX_NEWEST);
        add(copy, 1000002, BRY_INDEX_NEWEST);
        recording_start(&fs);
        save(&fs, loaded);
        assert_true(created(&fs) > 1 && created(&fs) <= 3);
        recording_start(&fs);
        save(&fs, copy); /* the two differ by as much */
        assert_true(created(&fs) > 1 && created(&fs) <= 4);
        bry_index *last = load(&fs);
        assert_int_equal(bry_index_has(last, element(1000001)), BRY_ABSENT);
        assert_int_equal(bry_index_has(last, element(1000002)), BRY_PRESENT);
        for (uint64_t i = 0; i < 420000; i += 101)
            assert_int_equal(bry_index_has(last, element(i)), BRY_PRESENT);
        assert_int_equal(recording_names(&fs), index_parts_count(last) + 1);
        bry_index_destroy(last);
        bry_index_destroy(copy);
        bry_index_destroy(loaded);
        index_dir_end(index);
    }
}

/* ---- crashes -------------------------------------------------------------------------------- */

typedef struct expected {
    const bry_index *old, *new;
    size_t as_old, as_new;
} expected;

static bool is_like(const bry_index *a, const bry_index *b)
{
    bry_index_stats x = stats_of(a), y = stats_of(b);
    return x.units == y.units && x.elements == y.elements;
}

/* A mark says that the save has returned: from then on it is the new index. */
static void check_crash(void *context, const crash_state *state)
{
    expected *wanted = context;
    bry_index *found = load(state->fs);
    bool old = is_like(found, wanted->old);
    if (state->marked)
        assert_false(old);
    wanted->as_old += old;
    wanted->as_new += !old;
    assert_same_index(found, old ? wanted->old : wanted->new, 400);
    /* The directory can be used, and leftovers of the crash are removed. */
    add(found, 5000, BRY_INDEX_NEWEST);
    save(state->fs, found);
    assert_int_equal(recording_names(state->fs), index_parts_count(found) + 1);
    assert_dir_has(state->fs, found, 400);
    bry_index_destroy(found);
}

TEST(test_crashes)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = index_dir_begin(index_engines[e]);
        bry_index *old = copy_of(index);
        /* A part that grows, a new part, and one that is removed. */
        add_many(index, 200, 60, BRY_INDEX_NEWEST);
        for (uint32_t i = 0; i < 10; i++)
            add(index, 399, open_unit(index, i));
        assert_int_equal(bry_index_drop(index, 0), BRY_OK);
        recording_start(&fs);
        save(&fs, index);
        recording_mark(&fs, 1, 1);
        expected wanted = {old, index, 0, 0};
        size_t states = crash_states(&fs, check_crash, &wanted);
        assert_true(states > 100);
        assert_true(wanted.as_old > 10 && wanted.as_new > 3);
        bry_index_destroy(old);
        index_dir_end(index);
    }
}

/* Every file system call fails once, with all later ones: the directory contains the old or the new
 * index. */
TEST(test_failing_io)
{
    for (int e = 0; e < INDEX_ENGINES; e++)
        for (int keep = 0; keep < 2; keep++) {
            bry_index *old = exact(index_engines[e], 4, 60);
            add_many(old, 0, 170, BRY_INDEX_NEWEST);
            bry_index *new = copy_of(old);
            add_many(new, 200, 55, BRY_INDEX_NEWEST);
            assert_int_equal(bry_index_drop(new, 0), BRY_OK);
            uint64_t failed = 0;
            for (uint64_t at = 1;; at++) {
                recording_init(&fs);
                save(&fs, old);
                fs.calls = 0;
                fs.fail_at = at;
                fs.keep_failing = keep;
                errno = 0;
                bry_status status = bry__index_save_dir(&fs.io, new, DIR, NULL);
                bool reached = fs.calls >= at;
                fs.fail_at = 0;
                if (status != BRY_OK) {
                    assert_int_equal(status, BRY_E_IO);
                    assert_int_equal(errno, EIO);
                    failed++;
                }
                assert_int_equal(recording_open_files(&fs), 0);
                bry_index *found = load(&fs);
                if (status == BRY_OK)
                    assert_same_index(found, new, 400);
                else
                    assert_same_index(found, is_like(found, old) ? old : new, 400);
                bry_index_destroy(found);
                save(&fs, new); /* and the next save cleans up */
                assert_int_equal(recording_names(&fs), index_parts_count(new) + 1);
                assert_dir_has(&fs, new, 400);
                recording_free(&fs);
                if (!reached)
                    break;
            }
            assert_true(failed > 8);
            bry_index_destroy(new);
            bry_index_destroy(old);
        }
}

TEST(test_failing_load)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = index_dir_begin(index_engines[e]);
        bry_index *found = NULL;
        fs.interrupt = true;
        fs.at_most = 7;
        assert_dir_has(&fs, index, 200);
        fs.interrupt = false;
        fs.at_most = 0;
        uint64_t failed = 0;
        for (uint64_t at = 1;; at++) {
            bry_load how = BRY_LOAD;
            found = NULL;
            fs.calls = 0;
            fs.fail_at = at;
            bry_status status = bry__index_load_dir(&fs.io, DIR, &how, &found);
            bool reached = fs.calls >= at;
            fs.fail_at = 0;
            if (status != BRY_OK) {
                assert_int_equal(status, BRY_E_IO);
                assert_non_null(how.problem);
                assert_null(found);
                failed++;
            }
            bry_index_destroy(found);
            assert_int_equal(recording_open_files(&fs), 0);
            if (!reached)
                break;
        }
        assert_true(failed > 3);
        index_dir_end(index);
    }
}

/* ---- what does not belong there ------------------------------------------------------------- */

/* Damage in any file of the directory is detected. */
TEST(test_damage)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = index_dir_begin(index_engines[e]), *found = NULL;
        for (int f = 0; f < RECORDED_NAMES; f++) {
            if (!fs.names[f].path)
                continue;
            recorded_file *file = &fs.files[fs.names[f].file];
            for (size_t i = 0; i < file->len; i += 1 + file->len / 150) {
                bry_load how = BRY_LOAD;
                file->bytes[i] ^= 0x10;
                assert_int_equal(bry__index_load_dir(&fs.io, DIR, &how, &found), BRY_E_BADDATA);
                assert_non_null(how.problem);
                file->bytes[i] ^= 0x10;
                size_t len = file->len;
                file->len = i;
                assert_int_equal(bry__index_load_dir(&fs.io, DIR, NULL, &found), BRY_E_BADDATA);
                file->len = len;
            }
        }
        assert_null(found);
        for (int f = 0; f < RECORDED_NAMES; f++) { /* one file missing */
            if (!fs.names[f].path)
                continue;
            char *kept = fs.names[f].path;
            fs.names[f].path = NULL;
            errno = 0;
            assert_int_equal(bry__index_load_dir(&fs.io, DIR, NULL, &found), BRY_E_IO);
            assert_int_equal(errno, ENOENT);
            fs.names[f].path = kept;
        }
        /* A damaged list is not replaced. */
        recorded_file *list = (recorded_file *)recording_get(&fs, DIR "/index.bry");
        list->bytes[list->len - 1] ^= 1;
        assert_int_equal(bry__index_save_dir(&fs.io, index, DIR, NULL), BRY_E_BADDATA);
        list->bytes[list->len - 1] ^= 1;
        assert_dir_has(&fs, index, 200);
        index_dir_end(index);
    }
}

/* A part of an earlier state or of another index, instead of the right one. */
TEST(test_exchanged_parts)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = index_dir_begin(index_engines[e]), *found = NULL;
        char part[128] = "";
        for (int f = 0; f < RECORDED_NAMES; f++)
            if (fs.names[f].path && strstr(fs.names[f].path, "part-"))
                snprintf(part, sizeof part, "%s", fs.names[f].path);
        const recorded_file *before = recording_get(&fs, part);
        size_t len = before->len;
        unsigned char *kept = malloc(len);
        memcpy(kept, before->bytes, len);
        bry_index *other = exact(index_engines[e], 4, 60);
        add_many(other, 1000, 170, BRY_INDEX_NEWEST);
        recording_free(&fs);
        recording_init(&fs);
        save(&fs, other);
        assert_non_null(recording_get(&fs, part)); /* of the same name */
        recording_put(&fs, part, kept, len);
        assert_int_equal(bry__index_load_dir(&fs.io, DIR, NULL, &found), BRY_E_BADDATA);
        assert_null(found);
        free(kept);
        bry_index_destroy(other);
        index_dir_end(index);
    }
}

TEST(test_mismatch_and_limit)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        bry_index *index = index_dir_begin(index_engines[e]), *found = NULL;
        bry_index *other = make((bry_index_options){.engine = index_engines[e], .seed = 2});
        assert_int_equal(bry__index_save_dir(&fs.io, other, DIR, NULL), BRY_E_MISMATCH);
        bry_index_destroy(other);
        other = make((bry_index_options){.engine = index_engines[1 - e]});
        assert_int_equal(bry__index_save_dir(&fs.io, other, DIR, NULL), BRY_E_MISMATCH);
        bry_index_destroy(other);
        assert_dir_has(&fs, index, 200);
        found = NULL;
        uint64_t size = stats_of(index).bytes;
        for (uint64_t limit = 1; limit < size / 2; limit += size / 19) {
            bry_load how = BRY_LOAD;
            how.max_bytes = limit;
            assert_int_equal(bry__index_load_dir(&fs.io, DIR, &how, &found), BRY_E_LIMIT);
            assert_non_null(how.problem);
        }
        bry_load how = BRY_LOAD;
        how.max_bytes = size * 5 / 4;
        assert_int_equal(bry__index_load_dir(&fs.io, DIR, &how, &found), BRY_OK);
        bry_index_destroy(found);
        /* Files of others stay. */
        recording_put(&fs, DIR "/notes.txt", "hello", 5);
        recording_put(&fs, DIR "/part-0000000000000000-00000000000000ff.bry", "orphan", 6);
        add(index, 500, BRY_INDEX_NEWEST);
        save(&fs, index);
        assert_non_null(recording_get(&fs, DIR "/notes.txt"));
        assert_null(recording_get(&fs, DIR "/part-0000000000000000-00000000000000ff.bry"));
        index_dir_end(index);
    }
}

/* ---- a real directory ------------------------------------------------------------------------ */

TEST(test_real_dir)
{
    for (int e = 0; e < INDEX_ENGINES; e++) {
        char base[] = "index-directory-XXXXXX", path[64];
        assert_non_null(mkdtemp(base));
        snprintf(path, sizeof path, "%s/index", base);
        bry_index *index = exact(index_engines[e], 4, 60), *found = NULL;
        bry_load how = BRY_LOAD;
        bry_buffer note = {(unsigned char *)strdup("old"), 3, 4};
        how.note = &note;
        assert_int_equal(bry_index_load_dir(path, &how, &found), BRY_E_IO);
        assert_int_equal(errno, ENOENT);
        assert_int_equal(note.len, 0);
        add_many(index, 0, 170, BRY_INDEX_NEWEST);
        bry_save wrong = BRY_SAVE;
        wrong.note_len = BRY_NOTE_MAX + 1;
        assert_int_equal(bry_index_save_dir(index, path, &wrong), BRY_E_TOOLONG);
        wrong.struct_size = 7;
        assert_int_equal(bry_index_save_dir(index, path, &wrong), BRY_E_RANGE);
        assert_int_equal(access(path, F_OK), -1); /* not created */
        assert_int_equal(bry_index_save_dir(index, path, NULL), BRY_OK);
        add_many(index, 200, 50, BRY_INDEX_NEWEST);
        assert_int_equal(bry_index_drop(index, 1), BRY_OK);
        bry_save noted = BRY_SAVE;
        noted.note = "new", noted.note_len = 3;
        assert_int_equal(bry_index_save_dir(index, path, &noted), BRY_OK);
        assert_int_equal(bry_index_load_dir(path, &how, &found), BRY_OK);
        assert_int_equal(note.len, 3);
        bry_buffer_free(&note);
        assert_null(how.problem);
        assert_same_index(index, found, 300);
        bry_index_destroy(found);
        char inside[80];
        snprintf(inside, sizeof inside, "%s/none/index", base);
        assert_int_equal(bry_index_save_dir(index, inside, NULL), BRY_E_IO);
        assert_int_equal(errno, ENOENT);
        snprintf(inside, sizeof inside, "%s/index/index.bry", base);
        assert_int_equal(bry_index_save_dir(index, inside, NULL), BRY_E_IO); /* a file */
        bry_index_destroy(index);
        remove_dir(path);
        assert_int_equal(rmdir(base), 0);
    }
}
