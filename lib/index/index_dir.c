/*
 * An index in a directory; a save writes only what has changed.
 *
 *   index.bry                    options, units, the engine's head, and the list of parts
 *   part-<id>-<generation>.bry   one part each, written by the save of that generation
 *   index.tmp                    the next index.bry, while it is being written
 *
 * A save reads the list, writes the parts whose stamps are not in it under names that are not in it
 * either, syncs them and the directory, and then replaces index.bry: at this moment the new index
 * replaces the old one. Before it, nothing refers to the new parts; after it, nothing refers to the
 * old ones. Unreferenced files are removed at the end of a save, and at the beginning of the next
 * one after a crash.
 *
 * Two saves of an index only need to agree on the stamps (index_engine.h): an index that was loaded
 * from the directory, its clone, or the one that was saved, each writes what differs from what is
 * there.
 */
#include "index/index_save.h"

#include "frame/file.h"
#include "frame/frame_numbers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND BRY__FOUR('I', 'F', 'L', 'D')
#define KIND_VERSION 1
#define KIND_PART BRY__FOUR('I', 'P', 'R', 'T')
#define PART_VERSION 1

enum { TRIES = 4 };

/* ---- names --------------------------------------------------------------------------------- */

#define MANIFEST "index.bry"
#define TEMPORARY "index.tmp"
#define PART_PREFIX "part-"

static bry_status index_dir_join(char to[PATH_MAX], const char *dir, const char *name)
{
    int len = snprintf(to, PATH_MAX, "%s/%s", dir, name);
    if (len >= 0 && len < PATH_MAX)
        return BRY_OK;
    errno = ENAMETOOLONG;
    return BRY_E_IO;
}

static void index_dir_name_part(char to[64], uint64_t id, uint64_t written)
{
    snprintf(to, 64, PART_PREFIX "%016llx-%016llx.bry", (unsigned long long)id,
             (unsigned long long)written);
}

/* ---- the list of parts ----------------------------------------------------------------------- */

#define PART BRY__FOUR('P', 'A', 'R', 'T')
#define PART_RECORD 40u /* bytes of a part's record in a file */

typedef struct kept_part {
    bry__index_part part;
    uint64_t written; /* the generation in its file name */
    uint64_t sum; /* the last checksum of the file */
} kept_part;

typedef struct parts_list {
    bry_allocator allocator;
    uint64_t generation;
    uint64_t count;
    kept_part *part; /* by rising id */
    size_t room;
} parts_list;

#define LIST BRY__FOUR('L', 'I', 'S', 'T')

static const bry__number list_rows[] = {
    BRY__NUMBER(parts_list, generation),
    BRY__NUMBER(parts_list, count),
    BRY__NUMBERS_END,
};

/* A record of the frame PART; a part's file begins with its own, sum 0. */
static const bry__number part_rows[] = {
    BRY__NUMBER(kept_part, part.id),       BRY__NUMBER(kept_part, part.stamp[0]),
    BRY__NUMBER(kept_part, part.stamp[1]), BRY__NUMBER(kept_part, written),
    BRY__NUMBER(kept_part, sum),           BRY__NUMBERS_END,
};

enum { PARTS_A_FRAME = 1024 };

/* An empty list with room for that many parts. Uses malloc: a save does not change the index, so it
 * does not use the index's allocator. BRY_E_NOMEM. */
static bry_status parts_init(parts_list *list, uint64_t room)
{
    list->allocator = bry__allocator_or_default(NULL);
    list->count = 0;
    list->room = (size_t)room;
    list->part = room <= SIZE_MAX / sizeof *list->part
                     ? bry__alloc(&list->allocator, (size_t)room * sizeof *list->part)
                     : NULL;
    return list->part ? BRY_OK : BRY_E_NOMEM;
}

static void parts_free(parts_list *list)
{
    if (list->part)
        bry__free(&list->allocator, list->part, list->room * sizeof *list->part);
    list->part = NULL;
}

/* The part of that id, or NULL. */
static const kept_part *parts_find(const parts_list *list, uint64_t id)
{
    uint64_t low = 0, high = list->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (list->part[middle].part.id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->part[low].part.id == id ? &list->part[low] : NULL;
}

static void part_store(unsigned char to[PART_RECORD], const kept_part *part)
{
    bry__numbers_store(to, part_rows, part);
}

static void parts_write(const parts_list *list, bry__frame_writer *writer)
{
    bry__frame_write_numbers(writer, LIST, list_rows, list);
    for (uint64_t i = 0; i < list->count; i++) {
        if (i % PARTS_A_FRAME == 0) {
            uint64_t here = list->count - i < PARTS_A_FRAME ? list->count - i : PARTS_A_FRAME;
            bry__frame_writer_open(writer, PART, (size_t)here * PART_RECORD);
        }
        unsigned char bytes[PART_RECORD];
        part_store(bytes, &list->part[i]);
        bry__frame_writer_put(writer, bytes, sizeof bytes);
    }
}

/* The records of one frame. */
static bry_status parts_read_records(bry__frame_reader *reader, parts_list *list, size_t length)
{
    for (size_t at = 0; at < length; at += PART_RECORD) {
        unsigned char bytes[PART_RECORD];
        bry_status status = bry__frame_reader_read(reader, bytes, sizeof bytes);
        if (status != BRY_OK)
            return status;
        kept_part part;
        bry__numbers_load(bytes, part_rows, &part);
        if (part.written > list->generation ||
            (list->count > 0 && part.part.id <= list->part[list->count - 1].part.id))
            return bry__frame_reader_bad(reader, "the list of parts is out of order");
        list->part[list->count++] = part;
    }
    return BRY_OK;
}

/* Memory grows with what was read, so that a false count costs nothing. */
static bry_status parts_list_grow(parts_list *list, size_t more)
{
    if (list->count + more <= list->room)
        return BRY_OK;
    parts_list larger = *list;
    if (parts_init(&larger, list->count + more + list->count / 2) != BRY_OK)
        return BRY_E_NOMEM;
    larger.count = list->count;
    if (list->count)
        memcpy(larger.part, list->part, (size_t)list->count * sizeof *list->part);
    parts_free(list);
    *list = larger;
    return BRY_OK;
}

/* Reads into a zeroed list. */
static bry_status parts_read(bry__frame_reader *reader, parts_list *list)
{
    parts_list head;
    bry_status status = bry__frame_read_numbers(reader, LIST, list_rows, &head);
    if (status != BRY_OK)
        return status;
    list->generation = head.generation;
    if (list->generation == UINT64_MAX)
        return bry__frame_reader_bad(reader, "the generation is out of range");
    while (list->count < head.count && status == BRY_OK) {
        uint64_t left = head.count - list->count;
        size_t length = 0;
        status = bry__frame_reader_expect(
            reader, PART, "parts are missing", PART_RECORD,
            (left < PARTS_A_FRAME ? left : PARTS_A_FRAME) * PART_RECORD, &length);
        if (length % PART_RECORD != 0)
            status = bry__frame_reader_bad(reader, "a frame has the wrong length");
        if (status == BRY_OK && parts_list_grow(list, length / PART_RECORD) != BRY_OK)
            status = bry__frame_reader_no_memory(reader);
        if (status == BRY_OK)
            status = parts_read_records(reader, list, length);
    }
    return status;
}

static int parts_compare(const void *a, const void *b)
{
    uint64_t x = ((const kept_part *)a)->part.id, y = ((const kept_part *)b)->part.id;
    return (x > y) - (x < y);
}

/* ---- saving -------------------------------------------------------------------------------- */

typedef struct index_dir_writer {
    const bry__io *io;
    const bry_index *index;
    const bry_save *how;
    const char *dir;
    parts_list before, after;
    void *parts; /* the engine's state while parts are written */
    uint64_t place; /* of the current part */
    uint64_t sum; /* checksum of the last file written */
} index_dir_writer;

/* Reads the list of parts in the directory; reads no further. */
static bry_status read_before(void *context, const bry_source *source, bry_load *load)
{
    index_dir_writer *save = context;
    bry__frame_reader reader;
    bry_index *found = NULL;
    uint64_t units;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND, KIND_VERSION);
    if (status == BRY_OK)
        status = bry__index_read_numbers(&reader, &found, &units);
    if (status == BRY_OK &&
        (found->options.seed != save->index->options.seed || found->engine != save->index->engine))
        status = BRY_E_MISMATCH;
    bry_index_destroy(found);
    if (status == BRY_OK)
        status = parts_read(&reader, &save->before);
    while (status == BRY_OK && !reader.ended) { /* to the end, to detect damage */
        bry__frame frame;
        unsigned char skipped[4096];
        status = bry__frame_reader_next(&reader, &frame);
        while (status == BRY_OK && reader.left > 0)
            status = bry__frame_reader_read(
                &reader, skipped, reader.left < sizeof skipped ? reader.left : sizeof skipped);
    }
    bry__frame_reader_close(&reader);
    return status;
}

static bry_status find_before(index_dir_writer *save)
{
    char path[PATH_MAX];
    bry_status status = index_dir_join(path, save->dir, MANIFEST);
    if (status != BRY_OK)
        return status;
    errno = 0;
    status = bry__file_load(save->io, path, read_before, save, NULL);
    return status == BRY_E_IO && errno == ENOENT ? BRY_OK : status;
}

/* Removes a file that no list contains. */
typedef struct part_cleaner {
    const index_dir_writer *save;
    const parts_list *list;
} part_cleaner;

/* name starts with PART_PREFIX. */
static bool index_dir_is_named(const parts_list *list, const char *name)
{
    const kept_part *part = parts_find(list, strtoull(name + strlen(PART_PREFIX), NULL, 16));
    char named[64];
    if (!part)
        return false;
    index_dir_name_part(named, part->part.id, part->written);
    return strcmp(name, named) == 0;
}

static void remove_unnamed(void *context, const char *name)
{
    const part_cleaner *work = context;
    char path[PATH_MAX];
    if (strncmp(name, PART_PREFIX, strlen(PART_PREFIX)) != 0 ||
        index_dir_is_named(work->list, name) ||
        index_dir_join(path, work->save->dir, name) != BRY_OK)
        return;
    work->save->io->unlink(work->save->io->opaque, path);
}

/* A file that cannot be removed now is removed the next time: failures here are ignored. */
static void index_dir_clean(const index_dir_writer *save, const parts_list *list)
{
    part_cleaner work = {save, list};
    int kept = errno;
    save->io->list(save->io->opaque, save->dir, remove_unnamed, &work);
    errno = kept;
}

static bry_status write_part(void *context, const bry_sink *sink)
{
    index_dir_writer *save = context;
    const bry_index *index = save->index;
    kept_part part = save->after.part[save->after.count];
    unsigned char bytes[PART_RECORD];
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, sink, NULL, KIND_PART, PART_VERSION, index->options.seed);
    part.sum = 0;
    part_store(bytes, &part);
    bry__frame_writer_write(&writer, PART, bytes, sizeof bytes);
    index->engine->write_part(index->elements, save->parts, save->place, &writer);
    bry_status status = bry__frame_writer_end(&writer);
    save->sum = writer.chain;
    return status;
}

/* Writes the parts that are not in the directory. */
static bry_status write_parts(index_dir_writer *save)
{
    const bry_index *index = save->index;
    uint64_t count = index->engine->parts(index->elements, save->parts);
    bry_status status = parts_init(&save->after, count);
    save->after.generation = save->before.generation + 1;
    for (save->place = 0; save->place < count && status == BRY_OK; save->place++) {
        kept_part *part = &save->after.part[save->after.count];
        status = index->engine->part(index->elements, save->parts, save->place, &part->part);
        if (status != BRY_OK)
            break;
        const kept_part *old = parts_find(&save->before, part->part.id);
        if (old && memcmp(old->part.stamp, part->part.stamp, sizeof part->part.stamp) == 0) {
            *part = *old;
        } else {
            char name[64], path[PATH_MAX];
            part->written = save->after.generation;
            index_dir_name_part(name, part->part.id, part->written);
            status = index_dir_join(path, save->dir, name);
            if (status == BRY_OK)
                status = bry__file_write(save->io, path, write_part, save);
            part->sum = save->sum;
        }
        save->after.count += status == BRY_OK;
    }
    if (status == BRY_OK) /* engines list their parts in any order */
        qsort(save->after.part, (size_t)save->after.count, sizeof *save->after.part, parts_compare);
    return status;
}

static bry_status write_manifest(void *context, const bry_sink *sink)
{
    const index_dir_writer *save = context;
    const bry_index *index = save->index;
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, sink, save->how, KIND, KIND_VERSION, index->options.seed);
    bry__index_write_numbers(index, &writer);
    parts_write(&save->after, &writer);
    bry__index_write_units(index, &writer);
    index->engine->write_head(index->elements, save->parts, &writer);
    return bry__frame_writer_end(&writer);
}

static bry_status replace_manifest(index_dir_writer *save)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    bry_status status = index_dir_join(path, save->dir, MANIFEST);
    if (status == BRY_OK)
        status = index_dir_join(temporary, save->dir, TEMPORARY);
    if (status == BRY_OK && save->io->sync_dir(save->io->opaque, save->dir) < 0)
        status = BRY_E_IO;
    if (status == BRY_OK)
        status = bry__file_save_via(save->io, path, temporary, write_manifest, save);
    return status;
}

static bry_status make_dir(const bry__io *io, const char *path)
{
    if (io->make_dir(io->opaque, path) == 0)
        return bry__io_sync_parent(io, path);
    return errno == EEXIST ? BRY_OK : BRY_E_IO;
}

bry_status bry__index_save_dir(const bry__io *io, const bry_index *index, const char *path,
                               const bry_save *how)
{
    index_dir_writer save = {.io = io, .index = index, .how = how, .dir = path};
    bry_status status = bry__save_check(how);
    if (status == BRY_OK)
        status = make_dir(io, path);
    if (status == BRY_OK)
        status = find_before(&save);
    if (status == BRY_OK && index->engine->begin_parts)
        status = index->engine->begin_parts(index->elements, &save.parts);
    if (status == BRY_OK) {
        index_dir_clean(&save, &save.before);
        status = write_parts(&save);
        if (status == BRY_OK)
            status = replace_manifest(&save);
        /* The failure may have come after the replacement: then no file that it refers to is
         * removed. */
        if (status == BRY_OK)
            index_dir_clean(&save, &save.after);
    }
    if (save.parts)
        index->engine->end_parts(save.parts);
    parts_free(&save.before);
    parts_free(&save.after);
    return status;
}

bry_status bry_index_save_dir(const bry_index *index, const char *path, const bry_save *save)
{
    return bry__index_save_dir(bry__io_posix(), index, path, save);
}

/* ---- loading ------------------------------------------------------------------------------- */

typedef struct index_dir_reader {
    parts_list list;
    bry_index *index;
    const kept_part *part; /* the current part */
    uint64_t claimed; /* by all files so far */
} index_dir_reader;

static bry_status read_manifest(void *context, const bry_source *source, bry_load *load)
{
    index_dir_reader *from = context;
    bry__frame_reader reader;
    uint64_t units;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND, KIND_VERSION);
    if (status == BRY_OK)
        status = bry__index_read_numbers(&reader, &from->index, &units);
    if (status == BRY_OK)
        status = parts_read(&reader, &from->list);
    if (status == BRY_OK)
        status = bry__index_read_units(&reader, from->index, units);
    if (status == BRY_OK) {
        bry_index_options options = bry__index_kept_options(&from->index->options);
        status = from->index->engine->read_head(&options, &from->index->slots, &reader,
                                                &reader.allocator, &from->index->elements);
    }
    if (status == BRY_OK)
        status = bry__frame_reader_end(&reader);
    from->claimed = reader.claimed;
    bry__frame_reader_close(&reader);
    return status;
}

static bry_status read_part_frames(index_dir_reader *from, bry__frame_reader *reader)
{
    unsigned char bytes[PART_RECORD], wanted[PART_RECORD];
    kept_part part = *from->part;
    bry_status status = bry__frame_reader_read_frame(reader, PART, bytes, sizeof bytes);
    if (status != BRY_OK)
        return status;
    part.sum = 0;
    part_store(wanted, &part);
    if (reader->header.seed != from->index->options.seed ||
        memcmp(bytes, wanted, sizeof bytes) != 0)
        return bry__frame_reader_bad(reader, "the part does not match the index");
    status = from->index->engine->read_part(from->index->elements, &part.part, reader);
    if (status == BRY_OK)
        status = bry__frame_reader_end(reader);
    if (status == BRY_OK && reader->chain != from->part->sum)
        status = bry__frame_reader_bad(reader, "the part does not match the index");
    return status;
}

static bry_status index_dir_read_part(void *context, const bry_source *source, bry_load *load)
{
    index_dir_reader *from = context;
    bry__frame_reader reader;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND_PART, PART_VERSION);
    if (status == BRY_OK)
        status = read_part_frames(from, &reader);
    from->claimed += reader.claimed;
    bry__frame_reader_close(&reader);
    return status;
}

/* The part's file, without a note, within what the files before it left of the limit. */
static bry_status index_dir_load_part(const bry__io *io, const char *path, bry_load *load,
                                      index_dir_reader *from)
{
    bry_load limited = BRY_LOAD;
    if (load && load->max_bytes)
        limited.max_bytes = load->max_bytes > from->claimed ? load->max_bytes - from->claimed : 1;
    errno = 0;
    bry_status status = bry__file_load(io, path, index_dir_read_part, from, &limited);
    return status == BRY_OK ? BRY_OK
                            : bry__load_fail(load, status, limited.offset, limited.problem);
}

static bry_status index_dir_read_all(const bry__io *io, const char *dir, bry_load *load,
                                     index_dir_reader *from)
{
    char path[PATH_MAX];
    bry_status status = index_dir_join(path, dir, MANIFEST);
    if (status != BRY_OK)
        return bry__load_fail(load, status, 0, "the file cannot be opened");
    status = bry__file_load(io, path, read_manifest, from, load);
    for (uint64_t i = 0; i < from->list.count && status == BRY_OK; i++) {
        char name[64];
        from->part = &from->list.part[i];
        index_dir_name_part(name, from->part->part.id, from->part->written);
        status = index_dir_join(path, dir, name);
        if (status != BRY_OK)
            return bry__load_fail(load, status, 0, "the file cannot be opened");
        status = index_dir_load_part(io, path, load, from);
    }
    if (status != BRY_OK)
        return status;
    const char *problem = NULL;
    status = from->index->engine->read_done(from->index->elements, &from->index->slots, &problem);
    return status == BRY_OK ? BRY_OK : bry__load_fail(load, status, 0, problem);
}

bry_status bry__index_load_dir(const bry__io *io, const char *path, bry_load *load,
                               bry_index **index)
{
    bry_status status = bry__load_begin(load);
    if (status != BRY_OK)
        return status;
    for (unsigned i = 0; i < TRIES; i++) {
        index_dir_reader from = {.part = NULL};
        status = index_dir_read_all(io, path, load, &from);
        int kept = errno;
        bool part_gone = status == BRY_E_IO && kept == ENOENT && from.part;
        parts_free(&from.list);
        if (status == BRY_OK) {
            *index = from.index;
            return BRY_OK;
        }
        bry_index_destroy(from.index);
        errno = kept;
        if (!part_gone) /* else a save has replaced the index meanwhile: load that one */
            break;
    }
    return status;
}

bry_status bry_index_load_dir(const char *path, bry_load *load, bry_index **index)
{
    return bry__index_load_dir(bry__io_posix(), path, load, index);
}
