/*
 * The engine fbf as frames: the row's numbers, then for each filter, oldest first, its numbers and
 * every piece of its bits that is not all zero, in order. Salts and what follows from the options
 * are recomputed.
 */
#include "frame/frame_numbers.h"
#include "frame/frame_pieces.h"
#include "window/fbf/fbf.h"

#define ROW BRY__FOUR('F', 'B', 'F', ' ')
#define FILTER BRY__FOUR('F', 'F', 'I', 'L')

#define OF_ROW(field) BRY__NUMBER(bry__fbf, field)
static const bry__number fbf_row_rows[] = {
    OF_ROW(row),         OF_ROW(last),    OF_ROW(cell_items),
    OF_ROW(ended_early), OF_ROW(resizes), BRY__NUMBERS_END,
};

/* The frame FFIL. */
typedef struct fbf_numbers {
    bry__fbf_filter filter;
    uint32_t early; /* 0 or 1 */
    uint32_t pieces; /* how many PIEC frames follow */
} fbf_numbers;

#define OF_FILTER(field) BRY__NUMBER(fbf_numbers, field)
static const bry__number fbf_filter_rows[] = {
    OF_FILTER(filter.bloom.bits),
    OF_FILTER(filter.bloom.hashes),
    OF_FILTER(filter.sub),
    OF_FILTER(filter.from),
    OF_FILTER(filter.begin),
    OF_FILTER(filter.end),
    OF_FILTER(filter.before),
    OF_FILTER(filter.items),
    OF_FILTER(filter.limit),
    OF_FILTER(early),
    OF_FILTER(pieces),
    BRY__NUMBERS_END,
};

#define MOST_ITEMS ((uint64_t)1 << 60)
#define MOST_FILTERS ((uint64_t)1 << 40)

/* ---- writing -------------------------------------------------------------------------------- */

void bry__fbf_write(const void *self, struct bry__frame_writer *writer)
{
    const bry__fbf *fbf = self;
    bry__frame_write_numbers(writer, ROW, fbf_row_rows, fbf);
    for (const bry__fbf_filter *filter = fbf->oldest; filter; filter = filter->newer) {
        const bry__pieces *bits = &filter->bloom.table;
        fbf_numbers numbers = {*filter, filter->early, (uint32_t)bry__frame_pieces(bits)};
        bry__frame_write_numbers(writer, FILTER, fbf_filter_rows, &numbers);
        bry__frame_write_pieces(writer, bits, 1);
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Checks the bits against the number of elements; returns what is wrong, or NULL. */
static const char *check_bits(const bry__fbf_filter *filter)
{
    const bry__bloom *bloom = &filter->bloom;
    const bry__pieces *table = &bloom->table;
    double most = (double)(filter->before + filter->items) * bloom->hashes;
    if ((double)filter->set > most)
        return "a filter has too many bits set for its elements";
    if (filter->set == 0 && most > 0)
        return "a filter has elements but no bits";
    /* The counts decide how large the next filters are, so they must be plausible. */
    double likely = bry__fbf_likely(bloom->bits, bloom->hashes, filter->set);
    if ((double)(filter->before + filter->items) > 2 * BRY__FBF_MOST(likely))
        return "a filter has too many elements for its bits";
    uint64_t past = bloom->bits % BRY__FBF_LINE_BITS;
    if (table->present && past && table->piece[table->count - 1]) {
        size_t size = bry__piece_size(table, table->count - 1);
        const unsigned char *line = table->piece[table->count - 1] + size - BRY__LINE;
        for (uint64_t bit = past; bit < BRY__FBF_LINE_BITS; bit++)
            if (line[bit / 8] >> (bit % 8) & 1)
                return "bits beyond a filter's end are set";
    }
    return NULL;
}

/* Checks the numbers; returns what is wrong with them, or NULL. */
static const char *check_numbers(const bry__fbf_filter *filter, const bry__fbf *fbf, uint32_t early)
{
    const bry__fbf_setting *setting = &fbf->setting;
    if (filter->bloom.bits < 1 || filter->bloom.bits > BRY__FBF_MAX_BITS ||
        filter->bloom.hashes < 1 || filter->bloom.hashes > BRY__FBF_MAX_HASHES ||
        (setting->fixed &&
         (filter->bloom.bits != setting->bits || filter->bloom.hashes != setting->hashes)))
        return "the shape of a filter is out of range";
    if (filter->before > MOST_ITEMS || filter->items > MOST_ITEMS)
        return "a filter has too many elements";
    if (filter->limit < 1 ||
        filter->limit > bry__fbf_holds(setting, filter->bloom.bits, filter->bloom.hashes))
        return "the limit of a period is out of range";
    if (early > 1 || (setting->fixed && early))
        return "invalid flag";
    if (filter->from > fbf->time || filter->from > filter->begin || filter->begin > filter->end)
        return "a filter's times are out of order";
    return NULL;
}

static bry_status fbf_save_read_filter(bry__frame_reader *reader, bry__fbf *fbf)
{
    fbf_numbers numbers;
    bry_status status = bry__frame_read_numbers(reader, FILTER, fbf_filter_rows, &numbers);
    if (status == BRY_OK)
        status = bry__frame_reader_claim(reader, sizeof(bry__fbf_filter));
    if (status != BRY_OK)
        return status;
    const bry__fbf_filter *read = &numbers.filter;
    if (bry__fbf_append(fbf, read->bloom.bits, read->bloom.hashes) != BRY_OK)
        return bry__frame_reader_no_memory(reader);
    bry__fbf_filter *filter = fbf->newest;
    if (!fbf->oldest)
        fbf->oldest = filter;
    filter->sub = read->sub;
    filter->from = read->from;
    filter->begin = read->begin;
    filter->end = read->end;
    filter->before = read->before;
    filter->items = read->items;
    filter->limit = read->limit;
    const char *problem = check_numbers(filter, fbf, numbers.early);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    filter->early = numbers.early != 0;
    filter->salt = bry__fbf_salt(filter->from / fbf->setting.length, filter->sub);
    if (numbers.pieces > 0) {
        uint64_t lines = (filter->bloom.bits - 1) / BRY__FBF_LINE_BITS + 1;
        status = bry__frame_reader_claim(
            reader, bry__pieces_bytes_empty_of(lines * BRY__LINE, BRY__BLOOM_PIECE_SHIFT));
        if (status == BRY_OK && bry__fbf_reach(filter, &fbf->allocator) != BRY_OK)
            status = bry__frame_reader_no_memory(reader);
        if (status == BRY_OK)
            status = bry__frame_read_pieces(reader, &filter->bloom.table, 1, numbers.pieces,
                                            &fbf->allocator);
        filter->set = bry__bloom_bits_set(&filter->bloom);
    }
    if (status == BRY_OK && (problem = check_bits(filter)) != NULL)
        status = bry__frame_reader_bad(reader, problem);
    return status;
}

/* Whether a row without elements is as its time alone makes it. */
static bool fbf_save_is_as_new(bry__fbf *fbf)
{
    if (!bry__fbf_is_new(fbf))
        return false;
    bry__fbf_filter present = *fbf->present, newest = *fbf->newest;
    bry__fbf row = *fbf;
    bry__fbf_relabel(fbf, fbf->time / fbf->setting.length);
    return present.from == fbf->present->from && present.sub == fbf->present->sub &&
           present.begin == fbf->present->begin && present.limit == fbf->present->limit &&
           present.early == fbf->present->early && newest.sub == fbf->newest->sub &&
           newest.limit == fbf->newest->limit && newest.early == fbf->newest->early &&
           row.cell_items == 0;
}

/* Checks the present period and its cell; sets what follows from them. */
static const char *check_cell(bry__fbf *fbf)
{
    uint64_t length = fbf->setting.length;
    fbf->cell = fbf->time / length;
    fbf->sub = fbf->newest->sub;
    if (fbf->present->begin / length != fbf->cell)
        return "the present period does not match the time";
    uint64_t items = 0;
    for (const bry__fbf_filter *filter = fbf->present;
         filter && filter->begin >= fbf->cell * length; filter = filter->older)
        items += filter->items;
    if (fbf->cell_items != items)
        return "a cell does not match its periods";
    if (fbf->present->items > 0 && fbf->last < fbf->present->begin)
        return "the last element precedes its period";
    return NULL;
}

/* Checks neighbours, and the row against its time; returns what is wrong, or NULL. Sets what
 * follows from them. */
static const char *fbf_save_check_row(bry__fbf *fbf)
{
    fbf->present = fbf->newest->older;
    if (fbf->newest->begin != UINT64_MAX || fbf->newest->items != 0 ||
        fbf->present->end != UINT64_MAX || fbf->present->begin > fbf->time)
        return "the newest filters do not match the time";
    fbf->items = fbf->extra = 0;
    for (bry__fbf_filter *filter = fbf->oldest; filter; filter = filter->newer) {
        const bry__fbf_filter *older = filter->older;
        fbf->items += filter->items;
        fbf->extra += bry__fbf_extra(fbf, filter);
        if (fbf->items > MOST_ITEMS)
            return "a filter has too many elements";
        /* After a merge a filter may have elements whose pair is gone, but never elements of a
         * pair in only one of the two. */
        if (older && (filter->from != older->begin || filter->before < older->items))
            return "neighbouring filters do not match";
        /* A full period may end in the millisecond in which the next one begins. */
        if (older && filter != fbf->newest &&
            (older->end > bry__fbf_after(filter->begin, 1) ||
             older->end > bry__fbf_after(fbf->time, 1)))
            return "periods overlap";
    }
    if (fbf->last > fbf->time)
        return "an element is in the future";
    const char *problem = check_cell(fbf);
    if (!problem && fbf->items == 0 && !fbf_save_is_as_new(fbf))
        problem = "an empty row is not in its initial state";
    return problem;
}

/* Whether the filters can have been made under the limit: by time and load, or by a merge. In the
 * build that made them each may have taken slightly less memory. */
static bool is_below_limit(const bry__fbf *fbf)
{
    const bry__fbf_setting *setting = &fbf->setting;
    if (!setting->max_bytes)
        return true;
    uint64_t left = setting->max_bytes - sizeof *fbf, ordinary = bry__fbf_cost(setting->bits);
    left += left / 8;
    uint64_t all = 0;
    for (const bry__fbf_filter *filter = fbf->oldest; filter; filter = filter->newer)
        all += bry__fbf_cost(filter->bloom.bits);
    return all <= left || setting->filters * ordinary + fbf->extra <= left;
}

static bry_status fbf_save_read_row(bry__frame_reader *reader, bry__fbf *fbf, uint64_t filters)
{
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < filters && status == BRY_OK; i++)
        status = fbf_save_read_filter(reader, fbf);
    if (status != BRY_OK)
        return status;
    const char *problem =
        fbf->newest && fbf->newest->older ? fbf_save_check_row(fbf) : "fewer than two filters";
    if (!problem && !is_below_limit(fbf))
        problem = "the filters are larger than the window's memory limit";
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    /* What the next elements will allocate. */
    for (const bry__fbf_filter *filter = fbf->present; filter && status == BRY_OK;
         filter = filter->newer) {
        uint64_t cost = bry__fbf_cost(filter->bloom.bits);
        uint64_t has = sizeof *filter + bry__pieces_bytes_now(&filter->bloom.table);
        if (has < cost)
            status = bry__frame_reader_claim(reader, cost - has);
    }
    return status;
}

bry_status bry__fbf_read(const bry_window_options *options, uint64_t time,
                         struct bry__frame_reader *reader, const bry_allocator *allocator,
                         void **self)
{
    bry__fbf_setting setting;
    if (bry__fbf_set(options, &setting) != BRY_OK)
        return bry__frame_reader_bad(reader, "the window's options are out of range");
    bry__fbf read = {.setting = setting, .time = time};
    bry_status status = bry__frame_read_numbers(reader, ROW, fbf_row_rows, &read);
    if (status != BRY_OK)
        return status;
    uint64_t filters = read.row;
    if (filters > MOST_FILTERS)
        return bry__frame_reader_bad(reader, "the number of filters is out of range");
    bry__fbf *fbf = bry__frame_reader_alloc(reader, allocator, sizeof *fbf);
    if (!fbf)
        return reader->status;
    *fbf = read;
    fbf->row = 0;
    fbf->allocator = bry__memory_begin(&fbf->memory, allocator);
    status = fbf_save_read_row(reader, fbf, filters);
    if (status == BRY_OK)
        *self = fbf;
    else
        bry__fbf_destroy(fbf);
    return status;
}
