#include "cli/index/index_fill.h"

#define BATCH 256u
#define BUDGET 262144u /* elements per batch */

/* ---- one file ------------------------------------------------------------------------------ */

/* The file that is being added. Until it is read completely its name exists twice: the old entry is
 * removed last. */
typedef struct index_filler {
    cli_file_index *index;
    cli_element_reader reader;
    cli_named_file file; /* its pieces */
    cli_piece piece; /* the piece that takes elements */
    size_t n;
    bry_hash hashes[BATCH];
    uint64_t ends[BATCH];
} index_filler;

static bry_status open_piece(index_filler *f, uint64_t from)
{
    cli_piece piece = {.tag = f->index->names.next_tag, .from = from, .to = from};
    bry_status status = bry_index_open(f->index->index, piece.tag, &piece.unit);
    if (status == BRY_OK) {
        f->index->names.next_tag++;
        f->piece = piece;
    }
    return status;
}

static bry_status close_piece(index_filler *f)
{
    if (f->piece.to > f->reader.facts.size) /* the last line has no end mark */
        f->piece.to = f->reader.facts.size > f->piece.from ? f->reader.facts.size : f->piece.from;
    bry_index_seal(f->index->index, f->piece.unit);
    return cli_names_add_piece(&f->file, f->piece);
}

/* Adds elements one by one; when a piece is full, begins the next one. */
static bry_status add_singly(index_filler *f)
{
    bry_status status = BRY_OK;
    for (size_t i = 0; i < f->n && status == BRY_OK; i++) {
        status = bry_index_add(f->index->index, f->hashes[i], f->piece.unit, NULL, NULL);
        bry_index_unit_info unit = {0};
        if (status == BRY_E_FULL &&
            bry_index_get_unit_info(f->index->index, f->piece.unit, &unit) == BRY_OK &&
            unit.elements >= unit.capacity) {
            status = close_piece(f);
            if (status == BRY_OK)
                status = open_piece(f, f->piece.to);
            if (status == BRY_OK)
                status = bry_index_add(f->index->index, f->hashes[i], f->piece.unit, NULL, NULL);
        }
        if (status == BRY_OK)
            f->piece.to = f->ends[i];
    }
    return status;
}

static bry_status fill_batch(index_filler *f)
{
    bry_status status =
        bry_index_add_n(f->index->index, f->hashes, f->n, f->piece.unit, NULL, NULL);
    if (status == BRY_E_FULL)
        return add_singly(f);
    if (status == BRY_OK && f->n > 0)
        f->piece.to = f->ends[f->n - 1];
    return status;
}

/* Adds all elements. *read: the failure was reading the file. */
static bry_status fill_all_batches(index_filler *f, cli_progress *progress, bool *read)
{
    bool more = true;
    while (more) {
        bry_status status = BRY_OK;
        for (f->n = 0; f->n < BATCH && more; f->n += more) {
            cli_element element;
            status = cli_elements_next(&f->reader, &element, &more);
            if (status != BRY_OK) {
                *read = false;
                return status;
            }
            if (more) {
                f->hashes[f->n] = element.hash;
                f->ends[f->n] = element.end;
            }
        }
        status = fill_batch(f);
        if (status != BRY_OK)
            return status;
        cli_progress_add(progress, f->n);
    }
    return BRY_OK;
}

/* Replaces the pieces of the name by the new ones. */
static bry_status adopt_names(index_filler *f, const char *name)
{
    size_t file = cli_names_find(&f->index->names, name);
    if (file != CLI_NO_FILE)
        cli_index_drop(f->index, file);
    if (f->reader.facts.size == UINT64_MAX) /* a stream has no size and time */
        f->reader.facts.size = f->reader.at;
    bry_status status = cli_names_add(&f->index->names, name, f->reader.facts, &file);
    for (uint32_t i = 0; i < f->file.piece_count && status == BRY_OK; i++)
        status = cli_index_own(f->index, file, f->file.pieces[i]);
    return status;
}

static void undo_filling(index_filler *f)
{
    for (uint32_t i = 0; i < f->file.piece_count; i++)
        bry_index_drop(f->index->index, f->file.pieces[i].unit);
    bry_index_drop(f->index->index, f->piece.unit); /* doing this twice is harmless */
}

int cli_index_put(cli_file_index *index, const char *path, const char *name, cli_fill_options *fill)
{
    index_filler f = {.index = index};
    bool read = true, failed = false;
    uint64_t seed = bry_index_seed(index->index);
    bry_status status = BRY_OK;
    if (fill->stream)
        cli_elements_stream(&f.reader, index->names.elements, seed);
    else
        status = cli_elements_open(&f.reader, path, index->names.elements, seed);
    if (status != BRY_OK) {
        fill->skipped++;
        cli_progress_end(&fill->progress);
        int code = cli_elements_failed(&f.reader, status, path);
        return fill->skip ? CLI_GO_ON : code;
    }
    int code = CLI_GO_ON;
    f.reader.lines.progress = &fill->progress;
    status = open_piece(&f, 0);
    if (status == BRY_OK) {
        status = fill_all_batches(&f, &fill->progress, &read);
        if (status == BRY_OK)
            status = close_piece(&f);
        if (status == BRY_OK)
            status = adopt_names(&f, name);
        else
            failed = true;
    }
    if (status != BRY_OK) {
        cli_progress_end(&fill->progress);
        code = read ? cli_index_refused(status, index, cli_name(path).text)
                    : cli_elements_failed(&f.reader, status, path);
        if (!read && fill->skip) {
            fill->skipped++;
            code = CLI_GO_ON;
        }
    }
    if (failed) /* after the message, which contains the number of units */
        undo_filling(&f);
    cli_elements_close(&f.reader);
    cli_pieces_free(&f.file);
    return code;
}

int cli_index_put_all(cli_file_index *index, char **paths, size_t count, bool skip)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += cli_path_bytes(paths[i]);
    cli_fill_options fill = {.skip = skip, .progress = cli_progress_start(total, false)};
    uint64_t first = index->names.next_tag;
    int code = CLI_GO_ON;
    for (size_t i = 0; i < count && code == CLI_GO_ON; i++) {
        size_t file = cli_names_find(&index->names, paths[i]);
        /* A file that is named twice is read once. */
        if (file == CLI_NO_FILE || index->names.files[file].pieces[0].tag < first)
            code = cli_index_put(index, paths[i], paths[i], &fill);
    }
    cli_progress_end(&fill.progress);
    return code;
}

/* ---- work that was put off ------------------------------------------------------------------- */

/* One file is open and read up to element `next` of a unit. */
typedef struct supply {
    cli_file_index *index;
    cli_element_reader reader;
    bool open;
    uint32_t unit;
    uint64_t next;
    const char *changed; /* the name of a file that has changed */
} supply;

static void close_supply(supply *s)
{
    if (s->open)
        cli_elements_close(&s->reader);
    s->open = false;
}

/* False if the file cannot be read, or has changed. */
static bool open_supply(supply *s, uint32_t unit)
{
    close_supply(s);
    cli_owner owner = s->index->owners[unit];
    const cli_named_file *file = &s->index->names.files[owner.file];
    const cli_piece *piece = &file->pieces[owner.piece];
    s->changed = file->name;
    bry_status status = cli_elements_open(&s->reader, file->name, s->index->names.elements,
                                          bry_index_seed(s->index->index));
    if (status != BRY_OK)
        return false;
    s->open = true;
    s->unit = unit;
    s->next = 0;
    if (!cli_facts_equal(s->reader.facts, file->facts) ||
        cli_elements_seek(&s->reader, piece->from, piece->to) != BRY_OK)
        return false;
    s->changed = NULL;
    return true;
}

static bry_status supply_some(void *opaque, uint32_t unit, uint64_t tag, uint64_t from,
                              bry_hash *hashes, size_t room, size_t *got)
{
    supply *s = opaque;
    bool more = true;
    size_t n = 0;
    (void)tag;
    if ((!s->open || s->unit != unit || s->next > from) && !open_supply(s, unit))
        return BRY_E_STOPPED;
    while (more && n < room) {
        cli_element element;
        if (cli_elements_next(&s->reader, &element, &more) != BRY_OK)
            return BRY_E_STOPPED;
        if (more && s->next++ >= from)
            hashes[n++] = element.hash;
    }
    *got = n;
    return BRY_OK;
}

int cli_index_tidy(cli_file_index *index)
{
    uint64_t left;
    bry_status status;
    do
        status = bry_index_step(index->index, NULL, BUDGET, &left);
    while (status == BRY_OK && left > 0);
    return status == BRY_OK ? CLI_GO_ON : cli_index_refused(status, index, "the index");
}

int cli_index_settle(cli_file_index *index)
{
    supply from = {.index = index};
    bry_index_supplier supplier = {supply_some, &from};
    uint64_t left;
    bry_status status;
    do
        status = bry_index_step(index->index, &supplier, BUDGET, &left);
    while (status == BRY_OK && left > 0);
    const char *changed = from.changed;
    close_supply(&from);
    if (status != BRY_OK && status != BRY_E_STOPPED)
        return cli_index_refused(status, index, "the index");
    bry_index_stats stats = {0};
    bry_index_get_stats(index->index, &stats);
    if (status == BRY_E_STOPPED && changed &&
        stats.full_error > stats.promised_error * (1 + 1e-6)) /* by more than rounding */
        cli_note("%s: changed since it was read, so the index was not rebuilt; its error is "
                 "%.3g instead of the promised %.3g",
                 cli_name(changed).text, stats.full_error, stats.promised_error);
    return CLI_GO_ON;
}
