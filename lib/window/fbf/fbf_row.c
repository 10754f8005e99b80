/*
 * The row: creating and filling filters, and undoing a change that failed half way.
 *
 * A change works on the row itself. Filters that it drops stay linked, with all their bits, until
 * the commit; those it creates are appended after the newest one. Of the filters that were there it
 * touches only the present and the newest one, and there only numbers, of which the change keeps a
 * copy; bits are set last, when nothing can fail any more (or, in a batch, recorded, so that they
 * can be cleared again).
 */
#include "hash/derive.h"
#include "window/fbf/fbf.h"

/* ---- changes ------------------------------------------------------------------------------- */

bry__fbf_change bry__fbf_begin(const bry__fbf *fbf)
{
    return (bry__fbf_change){*fbf, *fbf->present, *fbf->newest};
}

void bry__fbf_free_filter(bry__fbf *fbf, bry__fbf_filter *filter)
{
    if (filter->bloom.table.piece)
        bry__bloom_free(&filter->bloom, &fbf->allocator);
    bry__free(&fbf->allocator, filter, sizeof *filter);
}

/* Pieces freed per change, of 8 KiB each: after a pause a whole row of hundreds of megabytes may
 * have been dropped, and one change should not pay for all of it. */
#define RECLAIMED 1024

void bry__fbf_reclaim(bry__fbf *fbf)
{
    size_t left = RECLAIMED;
    while (fbf->trash && left > 0) {
        bry__fbf_filter *filter = fbf->trash;
        left -= bry__pieces_clear_some(&filter->bloom.table, left, &fbf->allocator);
        if (filter->bloom.table.present > 0)
            return;
        fbf->trash = filter->newer;
        bry__fbf_free_filter(fbf, filter);
        left -= left > 0; /* a filter without pieces takes time too */
    }
}

void bry__fbf_commit(bry__fbf *fbf, const bry__fbf_change *change)
{
    bry__fbf_filter *last = fbf->oldest->older;
    if (change->row.oldest != fbf->oldest) {
        last->newer = fbf->trash;
        fbf->trash = change->row.oldest;
    }
    fbf->oldest->older = NULL;
    bry__fbf_reclaim(fbf);
}

static void fbf_restore(bry__fbf_filter *filter, const bry__fbf_filter *was)
{
    bry__bloom bloom = filter->bloom; /* memory that it got meanwhile stays */
    *filter = *was;
    filter->bloom = bloom;
}

void bry__fbf_rollback(bry__fbf *fbf, const bry__fbf_change *change)
{
    bry__fbf_filter *made = change->row.newest->newer;
    while (made) {
        bry__fbf_filter *newer = made->newer;
        bry__fbf_free_filter(fbf, made);
        made = newer;
    }
    bry__memory memory = fbf->memory; /* counts what really happened */
    *fbf = change->row;
    fbf->memory = memory;
    fbf_restore(fbf->present, &change->present);
    fbf_restore(fbf->newest, &change->newest);
}

/* ---- filters ------------------------------------------------------------------------------- */

uint64_t bry__fbf_salt(uint64_t cell, uint32_t sub)
{
    return bry__mix64(bry__mix64(cell + UINT64_C(0x9e3779b97f4a7c15)) + sub);
}

bry_status bry__fbf_append(bry__fbf *fbf, uint64_t bits, uint32_t hashes)
{
    bry__fbf_filter *made = bry__alloc(&fbf->allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    made->bloom.bits = bits;
    made->bloom.hashes = hashes;
    made->begin = made->end = UINT64_MAX;
    made->older = fbf->newest;
    if (fbf->newest)
        fbf->newest->newer = made;
    fbf->newest = made;
    fbf->row++;
    return BRY_OK;
}

uint64_t bry__fbf_extra(const bry__fbf *fbf, const bry__fbf_filter *filter)
{
    uint64_t cost = bry__fbf_cost(filter->bloom.bits), ordinary = bry__fbf_cost(fbf->setting.bits);
    return filter->early ? cost : cost > ordinary ? cost - ordinary : 0;
}

void bry__fbf_drop(bry__fbf *fbf)
{
    fbf->extra -= bry__fbf_extra(fbf, fbf->oldest);
    fbf->oldest = fbf->oldest->newer;
    fbf->row--;
}

bool bry__fbf_is_new(const bry__fbf *fbf)
{
    const bry__bloom *present = &fbf->present->bloom, *newest = &fbf->newest->bloom;
    return fbf->row == 2 && fbf->items == 0 && fbf->present->before == 0 &&
           present->bits == fbf->setting.bits && present->hashes == fbf->setting.hashes &&
           newest->bits == fbf->setting.bits && newest->hashes == fbf->setting.hashes;
}

/* Numbers the two filters of an empty row for its time. */
void bry__fbf_relabel(bry__fbf *fbf, uint64_t cell)
{
    uint64_t length = fbf->setting.length;
    bry__fbf_filter *present = fbf->present, *newest = fbf->newest;
    present->from = cell > 0 ? (cell - 1) * length : 0;
    present->begin = newest->from = cell * length;
    present->end = newest->begin = newest->end = UINT64_MAX;
    /* The future filter has cell 0 then; the present one before it needs another `sub`. */
    present->sub = cell > 0 ? 0 : UINT32_MAX;
    newest->sub = 0;
    present->salt = bry__fbf_salt(cell > 0 ? cell - 1 : 0, present->sub);
    newest->salt = bry__fbf_salt(cell, 0);
    present->limit = newest->limit = fbf->setting.limit;
    present->early = newest->early = false;
    present->before = present->items = newest->before = newest->items = 0;
    fbf->extra = 0;
    fbf->cell = cell;
    fbf->cell_items = 0;
    fbf->sub = 0;
    fbf->items = 0;
}

bry_status bry__fbf_renew(bry__fbf *fbf, uint64_t cell)
{
    if (!bry__fbf_is_new(fbf)) {
        bry_status status = bry__fbf_append(fbf, fbf->setting.bits, fbf->setting.hashes);
        bry__fbf_filter *present = fbf->newest;
        if (status == BRY_OK)
            status = bry__fbf_append(fbf, fbf->setting.bits, fbf->setting.hashes);
        if (status != BRY_OK)
            return status;
        fbf->oldest = fbf->present = present;
        fbf->row = 2;
    }
    bry__fbf_relabel(fbf, cell);
    return BRY_OK;
}

void bry__fbf_empty(bry__fbf *fbf)
{
    while (fbf->oldest != fbf->present) {
        bry__fbf_filter *gone = fbf->oldest;
        bry__fbf_drop(fbf);
        bry__fbf_free_filter(fbf, gone);
    }
    fbf->oldest->older = NULL;
    for (bry__fbf_filter *filter = fbf->present; filter; filter = filter->newer) {
        if (filter->bloom.table.piece)
            bry__bloom_free(&filter->bloom, &fbf->allocator);
        filter->bloom = (bry__bloom){.bits = fbf->setting.bits, .hashes = fbf->setting.hashes};
        filter->set = 0;
    }
    bry__fbf_relabel(fbf, fbf->time / fbf->setting.length);
    fbf->last = 0;
    fbf->ended_early = fbf->resizes = 0;
}

/* ---- bits ---------------------------------------------------------------------------------- */

static bry_hash fbf_salted(const bry__fbf_filter *filter, bry_hash hash)
{
    return (bry_hash){hash.lo + filter->salt, hash.hi};
}

bool bry__fbf_in(const bry__fbf_filter *filter, bry_hash hash)
{
    return filter->bloom.table.present > 0 &&
           bry__bloom_has(&filter->bloom, fbf_salted(filter, hash));
}

bry_status bry__fbf_reach(bry__fbf_filter *filter, const bry_allocator *allocator)
{
    if (filter->bloom.table.piece)
        return BRY_OK;
    return bry__bloom_init(&filter->bloom, filter->bloom.bits, filter->bloom.hashes, allocator);
}

static size_t fbf_piece_of(uint64_t position)
{
    return (size_t)(position >> (BRY__BLOOM_PIECE_SHIFT + 3));
}

static unsigned char *fbf_byte_at(bry__bloom *bloom, uint64_t position)
{
    return bloom->table.piece[fbf_piece_of(position)] +
           ((position >> 3) & (BRY__BLOOM_PIECE_BYTES - 1));
}

static bry_status reach_positions(bry__fbf_filter *filter, bry_hash hash,
                                  const bry_allocator *allocator)
{
    bry_status status = bry__fbf_reach(filter, allocator);
    bry__bloom *bloom = &filter->bloom;
    bry_hash own = fbf_salted(filter, hash);
    for (unsigned i = 0;
         status == BRY_OK && bloom->table.present < bloom->table.count && i < bloom->hashes; i++)
        status = bry__piece_reach(&bloom->table, fbf_piece_of(bry__position(own, i, bloom->bits)),
                                  allocator);
    return status;
}

static uint64_t set_positions(bry__fbf_filter *filter, bry_hash hash)
{
    bry__bloom *bloom = &filter->bloom;
    bry_hash own = fbf_salted(filter, hash);
    uint64_t was_clear = 0;
    for (unsigned i = 0; i < bloom->hashes; i++) {
        uint64_t position = bry__position(own, i, bloom->bits);
        unsigned char *byte = fbf_byte_at(bloom, position),
                      bit = (unsigned char)(1u << (position & 7));
        was_clear |= (uint64_t) !(*byte & bit) << i;
        *byte |= bit;
    }
    filter->set += (uint64_t)__builtin_popcountll(was_clear);
    return was_clear;
}

void bry__fbf_unset(bry__fbf_filter *filter, bry_hash hash, uint64_t mask)
{
    bry__bloom *bloom = &filter->bloom;
    bry_hash own = fbf_salted(filter, hash);
    filter->set -= (uint64_t)__builtin_popcountll(mask);
    for (unsigned i = 0; mask >> i; i++) {
        uint64_t position = bry__position(own, i, bloom->bits);
        if (mask >> i & 1)
            *fbf_byte_at(bloom, position) &= (unsigned char)~(1u << (position & 7));
        if (i == BRY__FBF_MAX_HASHES - 1)
            break;
    }
}

bry_status bry__fbf_store(bry__fbf *fbf, bry_hash hash, uint64_t now, bry__fbf_undo *undo)
{
    bry__fbf_filter *present = fbf->present, *newest = fbf->newest;
    bry_status status = reach_positions(present, hash, &fbf->allocator);
    if (status == BRY_OK)
        status = reach_positions(newest, hash, &fbf->allocator);
    if (status != BRY_OK)
        return status;
    bry__fbf_undo set = {set_positions(present, hash), set_positions(newest, hash)};
    if (undo)
        *undo = set;
    present->items++;
    newest->before++;
    fbf->items++;
    fbf->cell_items++;
    fbf->last = now;
    return BRY_OK;
}

uint64_t bry__fbf_items(const void *self)
{
    return ((const bry__fbf *)self)->items;
}

uint64_t bry__fbf_bytes(const void *self)
{
    const bry__fbf *fbf = self;
    return sizeof *fbf + fbf->memory.bytes;
}
