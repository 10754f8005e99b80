#include "apps/dedup/store/units.h"

#include "cli/core/files/note_bytes.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <stdlib.h>

enum {
    UNIT_LEAST = 1 << 16,
    UNIT_MOST = 1 << 19,
    /* The number of the next container, and BY_DIGEST. Without that the elements are hashes of the
     * digests, as they were before 0.1, and the index is built again. */
    NOTE_BYTES = 16,
    BY_DIGEST = 1,
    /* A unit of engine dba has its full size from the beginning. So a small repository has smaller
     * ones, but none smaller than a container, until there are this many. */
    UNIT_SMALL = 1 << 13,
    SMALL_UNITS = 16,
};
_Static_assert((int)UNIT_SMALL >= (int)DEDUP_CONTAINER_CHUNKS, "a unit covers whole containers");

/* Describes a failed call of the library. */
static dedup_status units_failed(bry_status status)
{
    return dedup_problem(status == BRY_E_NOMEM ? DEDUP_NO_MEMORY : DEDUP_FAILED,
                         "the index in memory: %s", bry_status_text(status));
}

bool dedup_units_may_have(const dedup_units *units, const dedup_digest *digest)
{
    return bry_index_has(units->index, bry_hash_digest(digest->bytes)) != BRY_ABSENT;
}

size_t dedup_units_locate(const dedup_units *units, const dedup_digest *digest, uint32_t *unit)
{
    return bry_index_locate(units->index, bry_hash_digest(digest->bytes), unit, 1);
}

dedup_status dedup_units_next(dedup_units *units, uint64_t container)
{
    if (units->open)
        bry_index_seal(units->index, units->unit);
    units->open = false;
    bry_status status = bry_index_open(units->index, container, &units->unit);
    if (status != BRY_OK)
        return units_failed(status);
    units->open = true;
    return DEDUP_OK;
}

dedup_status dedup_units_add(dedup_units *units, const dedup_digest *digest)
{
    if (!units->open)
        return DEDUP_FULL;
    bry_status status =
        bry_index_add(units->index, bry_hash_digest(digest->bytes), units->unit, NULL, NULL);
    if (status == BRY_E_FULL || status == BRY_E_SEALED)
        return DEDUP_FULL;
    return status == BRY_OK ? DEDUP_OK : units_failed(status);
}

/* Adds a complete container, the one with the highest number. */
static dedup_status units_add_container(dedup_units *units, const dedup_directory *directory)
{
    bry_index_unit_info info = {0};
    dedup_status status = DEDUP_OK;
    /* Not in the middle of a container: a unit covers whole ones. */
    if (!units->open || bry_index_get_unit_info(units->index, units->unit, &info) != BRY_OK ||
        info.elements + directory->count > info.capacity)
        status = dedup_units_next(units, directory->number);
    for (uint32_t i = 0; status == DEDUP_OK && i < directory->count; i++)
        status = dedup_units_add(units, &directory->digest[i]);
    return status;
}

/* Adds every container from this number on. */
static dedup_status add_rows_from(dedup_units *units, uint64_t number)
{
    dedup_status status = DEDUP_OK;
    for (size_t i = dedup_rows_first(units->rows, number);
         status == DEDUP_OK && i < units->rows->count; i++) {
        dedup_directory directory;
        status = dedup_directory_of(units->repo->fd, units->rows->row[i].number,
                                    units->repo->config.hash, &directory);
        if (status != DEDUP_OK)
            break;
        status = units_add_container(units, &directory);
        dedup_directory_free(&directory);
    }
    return status;
}

/* For four times the chunks that exist, in at least 64 units of 2^16; or in small ones. */
static bry_index_options units_options(const dedup_repo *repo, const dedup_rows *rows,
                                       bool may_be_small)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    uint64_t chunks = 0;
    for (size_t i = 0; i < rows->count; i++)
        chunks += rows->row[i].chunks;
    options.engine = repo->config.engine;
    options.error = DEDUP_INDEX_ERROR;
    options.units = 64;
    options.unit_capacity = UNIT_LEAST;
    if (may_be_small && repo->config.engine == BRY_ENGINE_DBA &&
        chunks < (uint64_t)UNIT_SMALL * SMALL_UNITS / 4 * 3)
        options.unit_capacity = UNIT_SMALL;
    if (repo->unit_chunks)
        options.unit_capacity = repo->unit_chunks;
    while (options.unit_capacity < UNIT_MOST && options.unit_capacity * options.units < 4 * chunks)
        options.unit_capacity *= 2;
    while (options.units < BRY_INDEX_UNITS_MAX / 2 &&
           options.unit_capacity * options.units < 4 * chunks)
        options.units *= 2;
    return options;
}

static dedup_status build_units(dedup_units *units, const dedup_repo *repo, const dedup_rows *rows,
                                bool may_be_small)
{
    *units = (dedup_units){.repo = repo, .rows = rows, .rebuilt = true};
    bry_index_options options = units_options(repo, rows, may_be_small);
    bry_status created = bry_index_create(&options, &units->index);
    if (created != BRY_OK)
        return units_failed(created);
    dedup_status status = add_rows_from(units, 0);
    if (status != DEDUP_OK)
        dedup_units_close(units);
    return status;
}

dedup_status dedup_units_build(dedup_units *units, const dedup_repo *repo, const dedup_rows *rows)
{
    return build_units(units, repo, rows, true);
}

/* Builds larger units when there are many small ones. Everything is in containers by now. */
static dedup_status enlarge_units(dedup_units *units)
{
    bry_index_stats stats = {0};
    bry_status read = bry_index_get_stats(units->index, &stats);
    if (read != BRY_OK)
        return units_failed(read);
    if (stats.unit_capacity != UNIT_SMALL || stats.units <= SMALL_UNITS || units->repo->unit_chunks)
        return DEDUP_OK;
    dedup_units larger;
    dedup_status status = build_units(&larger, units->repo, units->rows, false);
    if (status == DEDUP_OK) {
        dedup_units_close(units);
        *units = larger;
    }
    return status;
}

/* The newest unit goes on if it has room. */
static void reopen_unit(dedup_units *units)
{
    bry_index_unit_info info = {0};
    units->open = bry_index_units(units->index, &units->unit, 1) > 0 &&
                  bry_index_get_unit_info(units->index, units->unit, &info) == BRY_OK &&
                  !info.sealed;
}

dedup_status dedup_units_load(dedup_units *units, uint64_t *next)
{
    bry_buffer note = BRY_BUFFER;
    bry_load load = BRY_LOAD;
    load.note = &note;
    bry_status status =
        bry_index_load_dir(dedup_place_of(units->repo, "units").text, &load, &units->index);
    bool missing = status == BRY_E_IO && errno == ENOENT;
    if (status == BRY_OK && note.len >= 8)
        *next = cli_get(note.bytes, 8);
    bool earlier = status == BRY_OK && note.len == 8;
    if (status == BRY_OK && (note.len != NOTE_BYTES || cli_get(note.bytes + 8, 8) != BY_DIGEST))
        status = BRY_E_BADDATA;
    bry_buffer_free(&note);
    if (status == BRY_OK)
        return DEDUP_OK;
    units_failed(status);
    return status == BRY_E_NOMEM ? DEDUP_NO_MEMORY
           : missing             ? DEDUP_MISSING
           : earlier             ? DEDUP_VERSION
                                 : DEDUP_DAMAGED;
}

dedup_status dedup_units_open(dedup_units *units, const dedup_repo *repo, const dedup_rows *rows,
                              uint64_t adopted)
{
    uint64_t next = 0;
    *units = (dedup_units){.repo = repo, .rows = rows};
    dedup_status status = dedup_units_load(units, &next);
    if (status == DEDUP_NO_MEMORY)
        return status;
    if (status != DEDUP_OK || (adopted && adopted < next)) {
        dedup_units_close(units);
        if (status != DEDUP_OK && rows->count)
            cli_note("the index in memory %s; rebuilding it from the containers",
                     status == DEDUP_MISSING   ? "is missing"
                     : status == DEDUP_VERSION ? "is of an earlier version"
                                               : "is damaged");
        status = dedup_units_build(units, repo, rows);
        units->next = next;
        return status;
    }
    units->next = next;
    reopen_unit(units);
    status = add_rows_from(units, next);
    if (status != DEDUP_OK)
        dedup_units_close(units);
    return status;
}

void dedup_units_close(dedup_units *units)
{
    bry_index_destroy(units->index);
    units->index = NULL;
}

dedup_status dedup_units_save(dedup_units *units, uint64_t next)
{
    unsigned char note[NOTE_BYTES];
    bry_save save = BRY_SAVE;
    cli_put(note, next, 8);
    cli_put(note + 8, BY_DIGEST, 8);
    save.note = note;
    save.note_len = sizeof note;
    dedup_place place = dedup_place_of(units->repo, "units");
    bry_status status = bry_index_save_dir(units->index, place.text, &save);
    if (status == BRY_E_MISMATCH || status == BRY_E_BADDATA || status == BRY_E_VERSION) {
        /* One that was built again has another seed. The old one goes: it can be rebuilt. */
        dedup_status emptied = dedup_empty_dir(units->repo->fd, "units");
        if (emptied != DEDUP_OK)
            return emptied;
        status = bry_index_save_dir(units->index, place.text, &save);
    }
    return status == BRY_OK     ? DEDUP_OK
           : status == BRY_E_IO ? dedup_problem(DEDUP_FAILED, "units: ")
                                : units_failed(status);
}

typedef struct unit_tag {
    uint64_t tag;
    uint32_t unit;
} unit_tag;

static int compare_tags(const void *a, const void *b)
{
    const unit_tag *x = a, *y = b;
    return x->tag != y->tag ? (x->tag < y->tag ? -1 : 1) : 0;
}

/* All units by their first container; free() them. */
static dedup_status sorted_tags(const dedup_units *units, unit_tag **tags, size_t *count)
{
    *count = bry_index_units(units->index, NULL, 0);
    uint32_t *numbers = malloc((*count + 1) * sizeof *numbers);
    *tags = malloc((*count + 1) * sizeof **tags);
    if (!numbers || !*tags) {
        free(numbers);
        free(*tags);
        return dedup_no_memory();
    }
    bry_index_units(units->index, numbers, *count);
    for (size_t i = 0; i < *count; i++) {
        (*tags)[i].unit = numbers[i];
        bry_index_get_tag(units->index, numbers[i], &(*tags)[i].tag);
    }
    free(numbers);
    if (*count)
        qsort(*tags, *count, sizeof **tags, compare_tags);
    return DEDUP_OK;
}

dedup_status dedup_units_remove(dedup_units *units, const dedup_directory *directory)
{
    unit_tag *tags;
    size_t count, at = 0;
    dedup_status status = sorted_tags(units, &tags, &count);
    if (status != DEDUP_OK)
        return status;
    while (at < count && tags[at].tag <= directory->number)
        at++;
    bry_status removed = BRY_OK;
    for (uint32_t i = 0; at > 0 && removed == BRY_OK && i < directory->count; i++)
        removed = bry_index_del(units->index, bry_hash_digest(directory->digest[i].bytes),
                                tags[at - 1].unit, NULL);
    uint64_t from = at > 0 ? tags[at - 1].tag : 0, to = at < count ? tags[at].tag : UINT64_MAX;
    units->from = units->to == 0 || from < units->from ? from : units->from;
    units->to = to > units->to ? to : units->to;
    free(tags);
    return removed == BRY_OK ? DEDUP_OK : units_failed(removed);
}

static dedup_status mend_container(dedup_units *units, const dedup_directory *directory)
{
    dedup_status status = DEDUP_OK;
    for (uint32_t i = 0; status == DEDUP_OK && i < directory->count; i++) {
        if (dedup_units_may_have(units, &directory->digest[i]))
            continue;
        status = dedup_units_add(units, &directory->digest[i]);
        if (status != DEDUP_FULL)
            continue;
        status = dedup_units_next(units, units->rows->row[units->rows->count - 1].number + 1);
        if (status == DEDUP_OK)
            status = dedup_units_add(units, &directory->digest[i]);
    }
    return status;
}

dedup_status dedup_units_mend(dedup_units *units)
{
    dedup_status status = DEDUP_OK;
    for (size_t i = dedup_rows_first(units->rows, units->from);
         status == DEDUP_OK && i < units->rows->count && units->rows->row[i].number < units->to;
         i++) {
        dedup_directory directory;
        status = dedup_directory_of(units->repo->fd, units->rows->row[i].number,
                                    units->repo->config.hash, &directory);
        if (status != DEDUP_OK)
            break;
        status = mend_container(units, &directory);
        dedup_directory_free(&directory);
    }
    units->from = units->to = 0;
    return status;
}

/* What supplies the elements of a unit: the directories of its containers, one at a time. */
typedef struct unit_source {
    const dedup_units *units;
    const unit_tag *tags;
    size_t count;
    dedup_directory directory; /* The one that was read last. */
    dedup_status status; /* Why it stopped, if it did. */
} unit_source;

/* The containers of the unit with this tag, as rows. */
static void rows_of_tag(const unit_source *source, uint64_t tag, size_t *first, size_t *end)
{
    size_t at = 0;
    while (at < source->count && source->tags[at].tag <= tag)
        at++;
    *first = dedup_rows_first(source->units->rows, tag);
    *end = at < source->count ? dedup_rows_first(source->units->rows, source->tags[at].tag)
                              : source->units->rows->count;
}

static bry_status supply_chunks(void *opaque, uint32_t unit, uint64_t tag, uint64_t from,
                                bry_hash *hashes, size_t room, size_t *got)
{
    unit_source *source = opaque;
    size_t at, end;
    (void)unit;
    rows_of_tag(source, tag, &at, &end);
    const dedup_row *rows = source->units->rows->row;
    for (; at < end && from >= rows[at].chunks; at++)
        from -= rows[at].chunks;
    *got = 0;
    for (; at < end && *got < room; at++, from = 0) {
        if (!source->directory.digest || source->directory.number != rows[at].number) {
            dedup_directory_free(&source->directory);
            source->status =
                dedup_directory_of(source->units->repo->fd, rows[at].number,
                                   source->units->repo->config.hash, &source->directory);
            if (source->status != DEDUP_OK)
                return BRY_E_STOPPED;
        }
        for (; from < source->directory.count && *got < room; from++)
            hashes[(*got)++] = bry_hash_digest(source->directory.digest[from].bytes);
    }
    return BRY_OK;
}

dedup_status dedup_units_settle(dedup_units *units)
{
    unit_tag *tags;
    size_t count;
    dedup_status status = enlarge_units(units);
    if (status == DEDUP_OK)
        status = sorted_tags(units, &tags, &count);
    if (status != DEDUP_OK)
        return status;
    unit_source source = {.units = units, .tags = tags, .count = count};
    for (size_t i = 0; i < count; i++) {
        size_t first, end;
        rows_of_tag(&source, tags[i].tag, &first, &end);
        if (first == end && !(units->open && tags[i].unit == units->unit))
            bry_index_drop(units->index, tags[i].unit);
    }
    const bry_index_supplier supplier = {supply_chunks, &source};
    uint64_t left = 1;
    bry_status stepped = BRY_OK;
    while (stepped == BRY_OK && left > 0)
        stepped = bry_index_step(units->index, &supplier, UNIT_LEAST, &left);
    dedup_directory_free(&source.directory);
    free(tags);
    return source.status != DEDUP_OK ? source.status
           : stepped != BRY_OK       ? units_failed(stepped)
                                     : DEDUP_OK;
}
