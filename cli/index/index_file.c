#include "cli/index/index_file.h"

#include "cli/core/files/note_bytes.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/limits.h"

#include <stdlib.h>

/* ---- making -------------------------------------------------------------------------------- */

int cli_index_create(cli_file_index *index, uint64_t max_bytes, const bry_index_options *options,
                     cli_elements elements)
{
    *index = (cli_file_index){.names = {.elements = elements}};
    cli_memory_init(&index->memory, max_bytes);
    bry_index_options with = *options;
    with.allocator = &index->memory.allocator;
    bry_status status = bry_index_create(&with, &index->index);
    return status == BRY_OK ? CLI_GO_ON : cli_index_refused(status, index, "the index");
}

void cli_index_close(cli_file_index *index)
{
    bry_index_destroy(index->index);
    cli_names_free(&index->names);
    free(index->owners);
    *index = (cli_file_index){0};
}

/* ---- owners -------------------------------------------------------------------------------- */

static const cli_owner nobody = {UINT32_MAX, UINT32_MAX};

static bry_status set_owner(cli_file_index *index, uint32_t unit, cli_owner owner)
{
    if (unit >= index->owner_count) {
        size_t count = index->owner_count ? index->owner_count : 64;
        while (count <= unit)
            count *= 2;
        cli_owner *owners = realloc(index->owners, count * sizeof *owners);
        if (!owners)
            return BRY_E_NOMEM;
        for (size_t i = index->owner_count; i < count; i++)
            owners[i] = nobody;
        index->owners = owners;
        index->owner_count = count;
    }
    index->owners[unit] = owner;
    return BRY_OK;
}

bry_status cli_index_own(cli_file_index *index, size_t file, cli_piece piece)
{
    cli_named_file *owner = &index->names.files[file];
    bry_status status = cli_names_add_piece(owner, piece);
    if (status == BRY_OK)
        status = set_owner(index, piece.unit, (cli_owner){(uint32_t)file, owner->piece_count - 1});
    return status;
}

void cli_index_drop(cli_file_index *index, size_t file)
{
    const cli_named_file *named = &index->names.files[file];
    for (uint32_t i = 0; i < named->piece_count; i++) {
        bry_index_drop(index->index, named->pieces[i].unit);
        index->owners[named->pieces[i].unit] = nobody;
    }
    cli_names_del(&index->names, file);
}

bool cli_index_has_stale(const cli_file_index *index, size_t file)
{
    const cli_named_file *named = &index->names.files[file];
    for (uint32_t i = 0; i < named->piece_count; i++) {
        bry_index_unit_info unit = {0};
        if (bry_index_get_unit_info(index->index, named->pieces[i].unit, &unit) == BRY_OK &&
            unit.dba.stale > 0)
            return true;
    }
    return false;
}

/* ---- loading ------------------------------------------------------------------------------- */

typedef struct unit_by_tag {
    uint64_t tag;
    uint32_t unit;
} unit_by_tag;

static int compare_unit_tags(const void *a, const void *b)
{
    uint64_t x = ((const unit_by_tag *)a)->tag, y = ((const unit_by_tag *)b)->tag;
    return (x > y) - (x < y);
}

/* All units, sorted by tag; NULL if memory runs out. */
static unit_by_tag *units_by_tag(const bry_index *index, size_t *count)
{
    *count = bry_index_units(index, NULL, 0);
    uint32_t *units = malloc((*count + 1) * sizeof *units);
    unit_by_tag *all = malloc((*count + 1) * sizeof *all);
    if (units && all) {
        bry_index_units(index, units, *count);
        for (size_t i = 0; i < *count; i++) {
            bry_index_unit_info unit = {0};
            bry_index_get_unit_info(index, units[i], &unit);
            all[i] = (unit_by_tag){unit.tag, units[i]};
        }
        qsort(all, *count, sizeof *all, compare_unit_tags);
    } else {
        free(all);
        all = NULL;
    }
    free(units);
    return all;
}

/* Finds the unit of each piece. BRY_E_BADDATA: pieces and units do not match one to one. */
static bry_status bind_names(cli_file_index *index)
{
    size_t count, bound = 0;
    unit_by_tag *all = units_by_tag(index->index, &count);
    bry_status status = all ? BRY_OK : BRY_E_NOMEM;
    for (size_t i = 0; i < index->names.count && status == BRY_OK; i++) {
        cli_named_file *file = &index->names.files[i];
        for (uint32_t p = 0; p < file->piece_count && status == BRY_OK; p++) {
            unit_by_tag wanted = {.tag = file->pieces[p].tag};
            const unit_by_tag *found = bsearch(&wanted, all, count, sizeof *all, compare_unit_tags);
            bool taken = found && found->unit < index->owner_count &&
                         index->owners[found->unit].file != nobody.file;
            if (!found || taken) {
                status = BRY_E_BADDATA;
                continue;
            }
            file->pieces[p].unit = found->unit;
            status = set_owner(index, found->unit, (cli_owner){(uint32_t)i, p});
            bound++;
        }
    }
    free(all);
    return status == BRY_OK && bound != count ? BRY_E_BADDATA : status;
}

static bry_status load_index_file(cli_file_index *index, const char *path, bry_load *how)
{
    void *read = NULL;
    bry_status status = cli_load_object(path, BRY_JOB_INDEX, how, &read);
    index->index = read;
    if (status == BRY_OK)
        status = cli_names_read(&index->names, how->note, how);
    if (status != BRY_OK)
        return status;
    status = bind_names(index);
    if (status == BRY_E_BADDATA)
        return cli_note_refuse(how, "damaged: names and units do not agree");
    return status == BRY_OK ? BRY_OK : cli_note_fail(how, status, 0, bry_status_text(status));
}

int cli_index_open(cli_file_index *index, uint64_t max_bytes, const char *path)
{
    *index = (cli_file_index){0};
    cli_memory_init(&index->memory, max_bytes);
    bry_load how = cli_memory_load(&index->memory);
    bry_buffer note = BRY_BUFFER;
    how.note = &note;
    how.note_max = how.max_bytes;
    bry_status status = load_index_file(index, path, &how);
    bry_buffer_free(&note);
    return status == BRY_OK ? CLI_GO_ON
                            : cli_load_failed(status, &how, &index->memory, path, "index");
}

int cli_index_open_to_change(cli_file_index *index, uint64_t max_bytes, const char *path)
{
    int code = cli_target_check(path, true, CLI_LOCK_WAIT);
    return code == CLI_GO_ON ? cli_index_open(index, max_bytes, path) : code;
}

bry_index_options cli_index_options(const bry_index *index)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    bry_index_options_like(index, &options);
    return options;
}

int cli_index_like(const char *path, uint64_t max_bytes, bry_index_options *options,
                   cli_elements *elements)
{
    cli_file_index other;
    int code = cli_index_open(&other, max_bytes, path);
    if (code == CLI_GO_ON) {
        *options = cli_index_options(other.index);
        *elements = other.names.elements;
    }
    cli_index_close(&other);
    return code;
}

/* ---- saving -------------------------------------------------------------------------------- */

int cli_index_save(const cli_file_index *index, const char *path, const char *taken)
{
    bry_buffer note = BRY_BUFFER;
    bry_status status = cli_names_write(&index->names, &note);
    int code = status == BRY_OK ? cli_target_save(path, taken, BRY_JOB_INDEX, index->index, &note)
                                : cli_index_refused(status, index, "the index");
    bry_buffer_free(&note);
    return code;
}

/* ---- refusals ------------------------------------------------------------------------------ */

/* The index is not fixed and has fewer units than are possible. */
static int report_end_of_growth(const bry_index *index, const char *where)
{
    bry_index_shape shape = {0};
    bry_index_options options = cli_index_options(index);
    uint64_t items = bry_index_items(index);
    if (bry_index_plan(&options, &shape) != BRY_OK || shape.grows_to == 0 || items < shape.grows_to)
        return cli_fail("%s: units imported beyond the plan have used up the error of the index; "
                        "build one with more --units",
                        where);
    return cli_fail("%s: the index has %llu elements and cannot have more%s", where,
                    (unsigned long long)items,
                    shape.grows_to < BRY_CAPACITY_MAX
                        ? ": with its error they would need fingerprints of over 62 bits"
                        : "");
}

int cli_index_refused(bry_status status, const cli_file_index *index, const char *where)
{
    if (status == BRY_E_NOMEM && index->memory.refused)
        return cli_fail("%s: the index needs more memory than --max-memory allows (%llu bytes)",
                        where, (unsigned long long)index->memory.most);
    if (status == BRY_E_FULL && index->index && cli_index_options(index->index).fixed)
        return cli_fail("%s: the index is fixed at %u units and is full", where,
                        cli_index_options(index->index).units);
    if (status == BRY_E_FULL && bry_index_units(index->index, NULL, 0) >= BRY_INDEX_UNITS_MAX)
        return cli_fail("%s: the index has " CLI_UNITS_MOST
                        " units and cannot have more; build one with more --unit-capacity",
                        where);
    if (status == BRY_E_FULL)
        return report_end_of_growth(index->index, where);
    return cli_fail("%s: %s", where, bry_status_text(status));
}
