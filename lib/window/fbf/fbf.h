/*
 * Internals of the engine fbf: a row of Bloom filters, each for two periods of time. fbf.c explains
 * it; fbf_plan.c sizes filters, fbf_row.c creates and fills them, fbf_time.c moves the row in time.
 */
#ifndef BRY_WINDOW_FBF_H
#define BRY_WINDOW_FBF_H

#include "bloom/bloom_standard.h"
#include "window/window_engine.h"

#define BRY__FBF_MAX_HASHES 64u
/* 32 GB; the directory of such a filter takes 32 MB. More elements make more filters. */
#define BRY__FBF_MAX_BITS ((uint64_t)1 << 38)
#define BRY__FBF_LINE_BITS ((uint64_t)BRY__LINE * 8) /* sizes are multiples of this */

/*
 * Filter number j of a row and period number j. The filter holds the elements of periods j - 1 and
 * j: it is the future one during the former and the present one during the latter. The newest
 * filter's own period has not begun.
 */
typedef struct bry__fbf_filter {
    struct bry__fbf_filter *older, *newer;
    bry__bloom bloom; /* no memory until the first element */
    uint64_t set; /* number of bits set, so that the filter need not be read */
    uint64_t salt;
    uint64_t from; /* when period j - 1 began */
    uint64_t begin; /* of period j; UINT64_MAX: not begun */
    uint64_t end; /* end of period j, exclusive; UINT64_MAX: not over */
    uint64_t before, items; /* elements of period j - 1 and j */
    uint64_t limit; /* items that the filter is planned for */
    uint32_t sub; /* number of the period within the cell of `from`; part of the salt */
    bool early; /* made because the period before was full */
} bry__fbf_filter;

/* Derived from the options. */
typedef struct bry__fbf_setting {
    bool refuse, fixed, refresh;
    uint32_t generations;
    uint64_t window; /* ms that elements must be remembered */
    uint64_t length; /* ms of a cell, and of a period that does not end early */
    double error;
    uint64_t max_bytes; /* 0: none */
    bool given; /* the options say how many bits */
    uint64_t bits; /* of a filter of ordinary size */
    uint32_t hashes;
    uint64_t limit; /* elements of a period that two such filters are planned for */
    uint32_t filters; /* of a row in which no period ends early */
} bry__fbf_setting;

typedef struct bry__fbf {
    bry_allocator allocator; /* that of `memory` */
    bry__memory memory; /* all but this struct */
    bry__fbf_setting setting;
    bry__fbf_filter *oldest, *present, *newest;
    bry__fbf_filter *trash; /* dropped filters, to be freed in steps */
    uint64_t row; /* filters from oldest to newest */
    uint64_t extra; /* their cost beyond that of an ordinary row */
    uint64_t time;
    uint64_t last; /* time of the last element that was stored */
    uint64_t items; /* in all periods that are still remembered */
    uint64_t cell; /* the current cell of the grid of time */
    uint64_t cell_items; /* the elements that came in that cell */
    uint32_t sub; /* how many periods ended early in that cell */
    uint64_t ended_early, resizes;
} bry__fbf;

/* ---- fbf_plan.c ----------------------------------------------------------------------------- */

/* BRY_E_RANGE. */
bry_status bry__fbf_set(const bry_window_options *options, bry__fbf_setting *setting);
void bry__fbf_shape(const bry__fbf_setting *setting, uint64_t capacity, bry_window_shape *shape);

/* The most bytes of a row with one element. */
uint64_t bry__fbf_bytes_first(const bry__fbf_setting *setting);

typedef struct bry__fbf_size {
    uint64_t bits;
    uint32_t hashes;
    uint64_t present_limit, limit; /* of the period that begins with it, and of the next */
} bry__fbf_size;

/*
 * The size of the next filter: number `place` of the row, for a period of `present` elements and
 * one of `wanted`, in at most max_cost bytes, but at least of the ordinary size.
 */
bry__fbf_size bry__fbf_size_for(const bry__fbf_setting *setting, uint64_t place, uint64_t present,
                                uint64_t wanted, uint64_t max_cost);

/* The most elements that any filter of this size is planned for. */
uint64_t bry__fbf_holds(const bry__fbf_setting *setting, uint64_t bits, uint32_t hashes);

/*
 * The number of elements in a filter, estimated from the bits that are set: `likely`, and the most
 * that a period's count may be if it was not counted but merged from two.
 */
double bry__fbf_likely(uint64_t bits, uint32_t hashes, uint64_t set);
#define BRY__FBF_MOST(likely) (1.25 * (likely) + 64)

/* Bytes of a filter with all its memory. */
uint64_t bry__fbf_cost(uint64_t bits);

/* The error of a look-up from the errors of the filters, newest first. */
typedef struct bry__fbf_sum {
    double newer; /* error of the filter before */
    double none; /* probability that no pair so far errs */
} bry__fbf_sum;
bry__fbf_sum bry__fbf_sum_begin(void);
void bry__fbf_sum_take(bry__fbf_sum *sum, double error);
double bry__fbf_sum_end(const bry__fbf_sum *sum);

/* ---- fbf_row.c ------------------------------------------------------------------------------ */

/* A change that may fail: what the row was before. */
typedef struct bry__fbf_change {
    bry__fbf row;
    bry__fbf_filter present, newest;
} bry__fbf_change;

bry__fbf_change bry__fbf_begin(const bry__fbf *fbf);
void bry__fbf_commit(bry__fbf *fbf, const bry__fbf_change *change);
void bry__fbf_rollback(bry__fbf *fbf, const bry__fbf_change *change);

/* The cost of a filter beyond that of its place in an ordinary row. */
uint64_t bry__fbf_extra(const bry__fbf *fbf, const bry__fbf_filter *filter);
/* Appends a filter, which becomes the newest one. BRY_E_NOMEM. */
bry_status bry__fbf_append(bry__fbf *fbf, uint64_t bits, uint32_t hashes);
/* Drops the oldest filter; its memory is freed by the commit, or in steps after it. */
void bry__fbf_drop(bry__fbf *fbf);
/* Frees a few megabytes of dropped filters. */
void bry__fbf_reclaim(bry__fbf *fbf);
void bry__fbf_free_filter(bry__fbf *fbf, bry__fbf_filter *filter);

/* Resets the row, with time in this cell. BRY_E_NOMEM. */
bry_status bry__fbf_renew(bry__fbf *fbf, uint64_t cell);
void bry__fbf_relabel(bry__fbf *fbf, uint64_t cell);
bool bry__fbf_is_new(const bry__fbf *fbf);
/* The same without failing: needs no memory, but cannot be undone. */
void bry__fbf_empty(bry__fbf *fbf);

uint64_t bry__fbf_salt(uint64_t cell, uint32_t sub);

bool bry__fbf_in(const bry__fbf_filter *filter, bry_hash hash);

typedef struct bry__fbf_undo {
    uint64_t present, newest; /* bit i: position i was clear before */
} bry__fbf_undo;

/* Sets the element's bits in the present and the newest filter and counts it. BRY_E_NOMEM. */
bry_status bry__fbf_store(bry__fbf *fbf, bry_hash hash, uint64_t now, bry__fbf_undo *undo);
void bry__fbf_unset(bry__fbf_filter *filter, bry_hash hash, uint64_t mask);

/* Allocates the table's directory unless it is there. BRY_E_NOMEM. */
bry_status bry__fbf_reach(bry__fbf_filter *filter, const bry_allocator *allocator);

uint64_t bry__fbf_items(const void *self);
uint64_t bry__fbf_bytes(const void *self);

/* ---- fbf_time.c ----------------------------------------------------------------------------- */

/* Advances time, within a change. BRY_E_NOMEM. */
bry_status bry__fbf_to(bry__fbf *fbf, uint64_t now);
/* Whether time can advance to `now` without a change of the row. */
bool bry__fbf_stays(const bry__fbf *fbf, uint64_t now);
/* Ends the present period, which is full. BRY_E_FULL: the limit. BRY_E_NOMEM. */
bry_status bry__fbf_end_early(bry__fbf *fbf, uint64_t now);
/* Whether the limit lets the present period end early. */
bool bry__fbf_can_end_early(const bry__fbf *fbf);
/* The oldest filter whose pair is still remembered at `now`, or NULL. */
const bry__fbf_filter *bry__fbf_oldest_at(const bry__fbf *fbf, uint64_t now);

static inline uint64_t bry__fbf_after(uint64_t time, uint64_t by)
{
    return time > UINT64_MAX - by ? UINT64_MAX : time + by;
}

/* Whether what ended at `end` is out of the window. */
static inline bool bry__fbf_expired(uint64_t end, uint64_t window, uint64_t now)
{
    return now >= window && end <= now - window;
}

/* ---- fbf_ask.c ------------------------------------------------------------------------------ */

bry_answer bry__fbf_has(const void *self, bry_hash hash, uint64_t now);
void bry__fbf_has_n(const void *self, const bry_hash *hashes, size_t n, uint64_t now,
                    uint8_t *answers);
size_t bry__fbf_generations(const void *self, uint64_t now, bry_window_generation *generations,
                            size_t generation_size, size_t room);
void bry__fbf_stats(const void *self, uint64_t now, bry_window_stats *stats);

/* ---- fbf.c, fbf_merge.c, fbf_save.c --------------------------------------------------------- */

void bry__fbf_destroy(void *self);

bry_status bry__fbf_clone(const void *self, const bry_allocator *allocator, void **copy);
bry_status bry__fbf_merge(void *self, const void *other, uint64_t now);

void bry__fbf_write(const void *self, struct bry__frame_writer *writer);
bry_status bry__fbf_read(const bry_window_options *options, uint64_t time,
                         struct bry__frame_reader *reader, const bry_allocator *allocator,
                         void **self);

#endif
