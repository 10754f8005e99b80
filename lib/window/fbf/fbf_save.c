/*
 * The engine fbf as frames: the row's numbers, then for each filter, oldest first, its numbers and
 * every piece of its bits that is not all zero, in order. Salts and what follows from the options
 * are recomputed.
 */
#include "common/endian.h"
#include "frame/frame.h"
#include "kernel/kernel.h"
#include "window/fbf/fbf.h"

#define ROW BRY__FOUR('F', 'B', 'F', ' ')
#define FILTER BRY__FOUR('F', 'F', 'I', 'L')
#define PIECE BRY__FOUR('P', 'I', 'E', 'C')

enum { /* the frame FBF */
       AT_FILTERS = 0, /* u64 */
       AT_LAST = 8, /* u64, when an element was stored last */
       AT_CELL_ITEMS = 16, /* u64 */
       AT_ENDED_EARLY = 24, /* u64 */
       AT_RESIZES = 32, /* u64 */
       ROW_SIZE = 40
};

enum { /* the frame FFIL */
       AT_BITS = 0, /* u64 */
       AT_HASHES = 8, /* u32 */
       AT_SUB = 12, /* u32 */
       AT_FROM = 16, /* u64 */
       AT_BEGIN = 24, /* u64 */
       AT_END = 32, /* u64 */
       AT_BEFORE = 40, /* u64 */
       AT_ITEMS = 48, /* u64 */
       AT_LIMIT = 56, /* u64 */
       AT_EARLY = 64, /* u32, 0 or 1 */
       AT_PIECES = 68, /* u32, how many PIEC frames follow */
       FILTER_SIZE = 72
};

#define MOST_ITEMS ((uint64_t)1 << 60)
#define MOST_FILTERS ((uint64_t)1 << 40)

static bool fbf_save_has_bits(const bry__pieces *table, size_t piece)
{
    return table->piece[piece] &&
           bry__kernels()->popcount(table->piece[piece], bry__piece_size(table, piece)) > 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_filter(const bry__fbf_filter *filter, bry__frame_writer *writer)
{
    const bry__pieces *table = &filter->bloom.table;
    uint32_t pieces = 0;
    for (size_t i = 0; i < table->count; i++)
        pieces += fbf_save_has_bits(table, i);
    unsigned char numbers[FILTER_SIZE];
    bry__store64(numbers + AT_BITS, filter->bloom.bits);
    bry__store32(numbers + AT_HASHES, filter->bloom.hashes);
    bry__store32(numbers + AT_SUB, filter->sub);
    bry__store64(numbers + AT_FROM, filter->from);
    bry__store64(numbers + AT_BEGIN, filter->begin);
    bry__store64(numbers + AT_END, filter->end);
    bry__store64(numbers + AT_BEFORE, filter->before);
    bry__store64(numbers + AT_ITEMS, filter->items);
    bry__store64(numbers + AT_LIMIT, filter->limit);
    bry__store32(numbers + AT_EARLY, filter->early);
    bry__store32(numbers + AT_PIECES, pieces);
    bry__frame_writer_write(writer, FILTER, numbers, sizeof numbers);
    for (size_t i = 0; i < table->count; i++) {
        unsigned char index[8];
        if (!fbf_save_has_bits(table, i))
            continue;
        bry__store64(index, i);
        bry__frame_writer_open(writer, PIECE, sizeof index + bry__piece_size(table, i));
        bry__frame_writer_put(writer, index, sizeof index);
        bry__frame_writer_put(writer, table->piece[i], bry__piece_size(table, i));
    }
}

void bry__fbf_write(const void *self, struct bry__frame_writer *writer)
{
    const bry__fbf *fbf = self;
    unsigned char numbers[ROW_SIZE];
    bry__store64(numbers + AT_FILTERS, fbf->row);
    bry__store64(numbers + AT_LAST, fbf->last);
    bry__store64(numbers + AT_CELL_ITEMS, fbf->cell_items);
    bry__store64(numbers + AT_ENDED_EARLY, fbf->ended_early);
    bry__store64(numbers + AT_RESIZES, fbf->resizes);
    bry__frame_writer_write(writer, ROW, numbers, sizeof numbers);
    for (const bry__fbf_filter *filter = fbf->oldest; filter; filter = filter->newer)
        write_filter(filter, writer);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bry_status read_piece(bry__frame_reader *reader, bry__fbf_filter *filter, size_t *lowest,
                             const bry_allocator *allocator)
{
    bry__pieces *table = &filter->bloom.table;
    bry__frame frame;
    unsigned char index_bytes[8];
    bry_status status = bry__frame_reader_next(reader, &frame);
    if (status == BRY_OK && frame.type != PIECE)
        status = bry__frame_reader_bad(reader, "a piece of the bits is missing");
    if (status == BRY_OK)
        status = bry__frame_reader_read(reader, index_bytes, sizeof index_bytes);
    if (status != BRY_OK)
        return status;
    uint64_t index = bry__load64(index_bytes);
    if (index < *lowest || index >= table->count)
        return bry__frame_reader_bad(reader, "a piece of the bits is out of place");
    size_t i = (size_t)index, size = bry__piece_size(table, i);
    if (frame.length != sizeof index_bytes + size)
        return bry__frame_reader_bad(reader, "a piece of the bits has the wrong size");
    status = bry__frame_reader_claim(reader, bry__lines_cost(size));
    if (status == BRY_OK && bry__piece_reach(table, i, allocator) != BRY_OK)
        status = bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the bits");
    if (status == BRY_OK)
        status = bry__frame_reader_read(reader, table->piece[i], size);
    uint64_t set = status == BRY_OK ? bry__kernels()->popcount(table->piece[i], size) : 0;
    if (status == BRY_OK && set == 0)
        status = bry__frame_reader_bad(reader, "a piece of the bits is empty");
    filter->set += set;
    *lowest = i + 1;
    return status;
}

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
    unsigned char numbers[FILTER_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, FILTER, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    status = bry__frame_reader_claim(reader, sizeof(bry__fbf_filter));
    if (status != BRY_OK)
        return status;
    if (bry__fbf_append(fbf, bry__load64(numbers + AT_BITS), bry__load32(numbers + AT_HASHES)) !=
        BRY_OK)
        return bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for a filter");
    bry__fbf_filter *filter = fbf->newest;
    if (!fbf->oldest)
        fbf->oldest = filter;
    filter->sub = bry__load32(numbers + AT_SUB);
    filter->from = bry__load64(numbers + AT_FROM);
    filter->begin = bry__load64(numbers + AT_BEGIN);
    filter->end = bry__load64(numbers + AT_END);
    filter->before = bry__load64(numbers + AT_BEFORE);
    filter->items = bry__load64(numbers + AT_ITEMS);
    filter->limit = bry__load64(numbers + AT_LIMIT);
    uint32_t early = bry__load32(numbers + AT_EARLY), pieces = bry__load32(numbers + AT_PIECES);
    const char *problem = check_numbers(filter, fbf, early);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    filter->early = early != 0;
    filter->salt = bry__fbf_salt(filter->from / fbf->setting.length, filter->sub);
    if (pieces > 0) {
        uint64_t lines = (filter->bloom.bits - 1) / BRY__FBF_LINE_BITS + 1;
        status = bry__frame_reader_claim(
            reader, bry__pieces_bytes_empty_of(lines * BRY__LINE, BRY__BLOOM_PIECE_SHIFT));
        if (status == BRY_OK && bry__fbf_reach(filter, &fbf->allocator) != BRY_OK)
            status =
                bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for a directory");
    }
    size_t lowest = 0;
    for (uint32_t i = 0; i < pieces && status == BRY_OK; i++)
        status = read_piece(reader, filter, &lowest, &fbf->allocator);
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

static bry_status fbf_save_read_row(bry__frame_reader *reader, bry__fbf *fbf,
                                    const unsigned char *numbers)
{
    uint64_t filters = bry__load64(numbers + AT_FILTERS);
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
    unsigned char numbers[ROW_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, ROW, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    if (bry__load64(numbers + AT_FILTERS) > MOST_FILTERS)
        return bry__frame_reader_bad(reader, "the number of filters is out of range");
    status = bry__frame_reader_claim(reader, sizeof(bry__fbf));
    if (status != BRY_OK)
        return status;
    bry__fbf *fbf = bry__alloc(allocator, sizeof *fbf);
    if (!fbf)
        return bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the row");
    *fbf = (bry__fbf){
        .setting = setting,
        .time = time,
        .last = bry__load64(numbers + AT_LAST),
        .cell_items = bry__load64(numbers + AT_CELL_ITEMS),
        .ended_early = bry__load64(numbers + AT_ENDED_EARLY),
        .resizes = bry__load64(numbers + AT_RESIZES),
    };
    fbf->allocator = bry__memory_begin(&fbf->memory, allocator);
    status = fbf_save_read_row(reader, fbf, numbers);
    if (status == BRY_OK)
        *self = fbf;
    else
        bry__fbf_destroy(fbf);
    return status;
}
