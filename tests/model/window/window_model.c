/*
 * Two windows, each with a replica that gets the same changes, compared with an exact twin with
 * times. The same programs for every engine. A window must never forget an element within the
 * window; an element remembered for longer than `longest` is a false positive, and these must be
 * within the error; replicas must save to the same bytes.
 */
#include "model/model_objects.h"
#include "model/window/window_twin.h"
#include "support/generator.h"
#include "support/window_kinds.h"
#include "window/compact/compact_window.h"
#include "window/window_object.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = WINDOW_TWIN_ELEMENTS, STRANGERS = 32, ERRORS = 4 };

/* What was done since the start with each kind of window. */
typedef struct window_counts {
    uint64_t operations; /* elements added, forgotten and queried */
    uint64_t remembered; /* of these, how many had to be remembered; every one was */
    double may_be_wrong[ERRORS]; /* by the error asked for: strangers times error */
    uint64_t wrong[ERRORS]; /* strangers that were "seen" */
} window_counts;
static window_counts counts_of_kind[MOST_WINDOW_KINDS];
static uint64_t operations_done; /* with all of them */

typedef struct window_pair {
    failing_allocator memory; /* of the windows; replicas use malloc */
    bool armed; /* an allocation of the next change fails */
    bool was_armed; /* ever */
    const window_kind *kind;
    window_counts *counts;
    bry_window_options options;
    unsigned error_index;
    uint64_t bytes_empty; /* of each window */
    bry_window *window[2], *replica[2];
    window_twin twin[2];
    bool mixed[2]; /* other elements were added, which may share fingerprints */
    bool merged[2]; /* elements that were in both may count twice */
    uint64_t clock;
    generator strangers;
    bry_buffer before; /* saved bytes of the first window, if something may fail */
} window_pair;

static void count_operations(window_pair *both, uint64_t n)
{
    operations_done += n;
    both->counts->operations += n;
}

/* Far apart, so that all fingerprints differ. */
static bry_hash element(unsigned i)
{
    generator numbers = {i};
    bry_hash hash = generator_hash(&numbers);
    hash.hi = (uint64_t)i << 56 | hash.hi >> 8;
    return hash;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- making -------------------------------------------------------------------------------- */

static bry_window_options read_options(window_pair *both, model_reader *reader)
{
    static const uint64_t windows[] = {1, 7, 60, 1000, 60000, UINT64_C(1) << 52};
    static const uint64_t capacities[] = {1, 8, 40, 150, 600};
    static const uint32_t generations[] = {0, 1, 2, 5, 8, 13, 29, 100};
    static const double errors[ERRORS] = {0.1, 1e-3, 1e-6, 1e-9};
    bry_window_options options = BRY_WINDOW_OPTIONS;
    unsigned kind = model_below(reader, WINDOW_KINDS), flags = model_byte(reader);
    both->kind = &window_kinds[kind];
    both->counts = &counts_of_kind[kind];
    options.engine = both->kind->engine;
    options.window = windows[model_below(reader, 6)];
    options.capacity = capacities[model_below(reader, 5)];
    options.generations = generations[model_below(reader, 8)];
    both->error_index = model_below(reader, ERRORS);
    options.error = errors[both->error_index];
    options.refresh = flags & 1;
    options.fixed = (flags & 6) == 6;
    options.refuse = (flags & 24) == 24;
    options.max_skew = (flags & 96) == 96 ? options.window * 3 : 0;
    options.seed = 1;
    return options;
}

/* Time advances large windows in another way than small ones. To test both with few elements, the
 * windows use one way and the replicas the other; both must give the same bytes. */
static void treat_as_large(bry_window *window)
{
    if (window->engine->engine == BRY_ENGINE_COMPACT && !window->refuse)
        ((bry__compact_window *)window->self)->small = 0;
}

static void *create(model_reader *reader)
{
    static const uint64_t starts[] = {0, 1, 5000, UINT64_C(1700000000000), UINT64_MAX - 200000};
    window_pair *both = calloc(1, sizeof *both);
    if (!both) {
        model_fail(reader, "no memory for the test itself");
        return NULL;
    }
    failing_allocator_init(&both->memory);
    both->strangers.state = 99;
    bry_window_options options = read_options(both, reader);
    bry_window_shape shape = {0};
    model_expect(reader, bry_window_plan(&options, &shape) == BRY_OK);
    if (options.refuse)
        options.max_bytes = shape.bytes * 2 + 8192;
    else if (options.engine == BRY_ENGINE_FBF && model_below(reader, 4) == 3)
        options.max_bytes = shape.bytes_least + shape.bytes / 3;
    both->bytes_empty = shape.bytes_empty;
    both->clock = starts[model_below(reader, 5)];
    both->options = options;
    model_say(reader, "create %s, window %ju, capacity %ju, generations %u, error %g%s%s%s%s",
              both->kind->name, (uintmax_t)options.window, (uintmax_t)options.capacity,
              (unsigned)options.generations, options.error, options.refresh ? ", refresh" : "",
              options.fixed ? ", fixed" : "", options.refuse ? ", refuse" : "",
              options.max_skew ? ", skew" : "");
    for (int i = 0; i < 2; i++) {
        model_expect(reader, bry_window_create(&options, &both->replica[i]) == BRY_OK);
        both->twin[i] = (window_twin){.window = shape.window, .longest = shape.longest};
    }
    options.allocator = &both->memory.allocator;
    for (int i = 0; i < 2; i++)
        model_expect(reader, bry_window_create(&options, &both->window[i]) == BRY_OK);
    for (int i = 0; i < 2 && !reader->failed; i++)
        treat_as_large(both->window[i]);
    model_expect(reader, both->memory.now == 2 * shape.bytes_empty);
    return both;
}

static bry_buffer saved_of(const bry_window *window, model_reader *reader)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    model_expect(reader, bry_window_save(window, &sink, NULL) == BRY_OK);
    return buffer;
}

static bool is_saved_as(const bry_window *window, const bry_buffer *buffer, model_reader *reader)
{
    bry_buffer now = saved_of(window, reader);
    bool same = now.len == buffer->len && memcmp(now.bytes, buffer->bytes, now.len) == 0;
    bry_buffer_free(&now);
    return same;
}

static void compare_replicas(const window_pair *both, model_reader *reader)
{
    for (int i = 0; i < 2; i++) {
        bry_buffer buffer = saved_of(both->window[i], reader);
        model_expect(reader, is_saved_as(both->replica[i], &buffer, reader));
        bry_buffer_free(&buffer);
    }
}

/* When all has expired, nothing is left, with compact in the next steps. */
static void expire_all(const window_pair *both, int i, model_reader *reader)
{
    bry_window *window = both->window[i];
    uint64_t end = plus(both->twin[i].time, both->twin[i].longest);
    if (end == UINT64_MAX || bry_window_advance(window, end) != BRY_OK)
        return;
    model_expect(reader, bry_window_items(window) == 0);
    if (both->options.engine == BRY_ENGINE_FBF && !both->was_armed)
        model_expect(reader, bry_window_bytes(window) == both->bytes_empty);
}

static void destroy(void *state, model_reader *reader)
{
    window_pair *both = state;
    if (!both)
        return;
    if (!reader->failed)
        compare_replicas(both, reader);
    for (int i = 0; i < 2; i++) {
        if (!reader->failed)
            expire_all(both, i, reader);
        bry_window_destroy(both->window[i]);
        bry_window_destroy(both->replica[i]);
    }
    bry_buffer_free(&both->before);
    model_expect(reader, both->memory.now == 0 && both->memory.blocks == 0);
    free(both);
}

/* ---- time, and what may go wrong ----------------------------------------------------------- */

/* The time of the next operation: a little later, the same, a step back, or a jump. */
static uint64_t next_time(window_pair *both, model_reader *reader)
{
    uint64_t window = both->options.window;
    unsigned how = model_byte(reader);
    if (how < 112)
        both->clock = plus(both->clock, how * (window / 512 + 1) / 8);
    else if (how < 200)
        return both->clock;
    else if (how < 216)
        return both->clock - (both->clock > window ? generator_below(&both->strangers, window) : 0);
    else if (how < 254)
        both->clock = plus(both->clock, (how - 215) * (window / 16 + 1));
    else
        both->clock = plus(both->clock, window * (how - 253) * 3);
    return both->clock;
}

/* Before a change of the first window. */
static void begin(window_pair *both, model_reader *reader)
{
    bry_buffer_free(&both->before);
    both->before = (bry_buffer)BRY_BUFFER;
    if (both->armed || both->options.refuse || both->options.max_skew)
        both->before = saved_of(both->window[0], reader);
    failing_allocator_restart(&both->memory);
    both->memory.fail_at = both->armed ? 1 + generator_below(&both->strangers, 12) : 0;
}

/* After it: true if it was done. Failures must be justified, and leave the window unchanged. */
static bool end(window_pair *both, model_reader *reader, uint64_t now, bry_status status)
{
    const window_twin *twin = &both->twin[0];
    bool failed = both->memory.fail_at && both->memory.calls >= both->memory.fail_at;
    both->memory.fail_at = 0;
    both->armed = false;
    if (status == BRY_OK)
        return true;
    bool skewed = both->options.max_skew && twin->started && now > twin->time &&
                  now - twin->time > both->options.max_skew;
    if (status == BRY_E_NOMEM)
        model_expect(reader, failed);
    else if (status == BRY_E_SKEW)
        model_expect(reader, skewed);
    else
        model_expect(reader, status == BRY_E_FULL && both->options.refuse);
    if (both->before.len)
        model_expect(reader, is_saved_as(both->window[0], &both->before, reader));
    return false;
}

/* Answers of both sides, one of which may have run out of memory. */
static void expect_like(model_reader *reader, bry_status status, bry_status replica)
{
    model_expect(reader, status == BRY_E_NOMEM || status == replica);
}

/* ---- elements ------------------------------------------------------------------------------ */

/* Whether the error is within the target, unless it depends on the load, memory is limited, or two
 * fbf windows were merged. */
static bool keeps_error(const window_pair *both, int side)
{
    bool limited = both->options.max_bytes && !both->options.refuse;
    return !both->options.fixed && !limited &&
           !(both->merged[side] && both->options.engine == BRY_ENGINE_FBF);
}

/* Checks an answer about element i at `now`. Also called for all elements after every step, so it
 * counts no operations. */
static void judge(window_pair *both, int side, model_reader *reader, unsigned i, uint64_t now,
                  bool present)
{
    const window_twin *twin = &both->twin[side];
    window_duty duty = window_twin_duty(twin, i, now);
    if (duty == WINDOW_MUST_REMEMBER && !present)
        model_fail(reader, "element %u is forgotten early", i);
    if (duty == WINDOW_MUST_FORGET && present && both->options.error == 1e-9 &&
        keeps_error(both, side))
        model_fail(reader, "element %u is remembered for longer than any may be", i);
    if (both->kind->engine == BRY_ENGINE_COMPACT && !both->mixed[side] &&
        present != window_twin_on_grid(twin, i, now))
        model_fail(reader, "element %u is remembered too long", i);
}

/* The same for the answer of an operation. */
static void judge_operation(window_pair *both, model_reader *reader, unsigned i, uint64_t now,
                            bool present)
{
    count_operations(both, 1);
    both->counts->remembered += window_twin_duty(&both->twin[0], i, now) == WINDOW_MUST_REMEMBER;
    judge(both, 0, reader, i, now, present);
}

/* Applies an addition to the twin. */
static void added(window_pair *both, model_reader *reader, unsigned i, bool seen)
{
    window_twin *twin = &both->twin[0];
    judge_operation(both, reader, i, twin->time, seen);
    if (!seen || both->options.refresh)
        window_twin_remember(twin, i);
}

/* The replica is asked first, and gets what is new; of others only the time is told. */
static bry_status add_to_replica(window_pair *both, bry_hash hash, uint64_t now, bry_answer *was)
{
    bry_window *replica = both->replica[0];
    const bry_window_options *options = &both->options;
    if (!options->refresh && !options->refuse && !options->max_skew &&
        bry_window_has(replica, hash, now) == BRY_PRESENT) {
        *was = BRY_PRESENT;
        return bry_window_advance(replica, now);
    }
    return bry_window_add(replica, hash, now, was);
}

static void do_add(window_pair *both, model_reader *reader)
{
    unsigned i = model_byte(reader);
    uint64_t now = next_time(both, reader);
    bry_answer was = BRY_UNSURE, replica = BRY_UNSURE;
    model_say(reader, "add %u at %ju", i, (uintmax_t)now);
    begin(both, reader);
    bry_status status = bry_window_add(both->window[0], element(i), now, &was);
    bool done = end(both, reader, now, status);
    if (status == BRY_E_NOMEM)
        return;
    expect_like(reader, status, add_to_replica(both, element(i), now, &replica));
    model_expect(reader, was == replica);
    if (!done) {
        model_expect(reader, was == BRY_UNSURE);
        return;
    }
    window_twin_advance(&both->twin[0], now);
    added(both, reader, i, was == BRY_PRESENT);
}

/* The replica gets the elements one by one. */
static void do_add_n(window_pair *both, model_reader *reader)
{
    enum { MOST = 150 };
    bry_hash hashes[MOST];
    uint8_t was[MOST];
    unsigned first = model_byte(reader), step = 1 + model_below(reader, 7);
    unsigned n = model_below(reader, MOST + 1);
    uint64_t now = next_time(both, reader);
    model_say(reader, "add %u from %u on in steps of %u at %ju", n, first, step, (uintmax_t)now);
    for (unsigned i = 0; i < n; i++)
        hashes[i] = element((first + i * step) % ELEMENTS);
    begin(both, reader);
    bry_status status = bry_window_add_n(both->window[0], hashes, n, now, was);
    bool done = end(both, reader, now, status);
    if (status == BRY_E_NOMEM)
        return;
    if (!done) {
        expect_like(reader, status, bry_window_add_n(both->replica[0], hashes, n, now, NULL));
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        bry_answer replica = BRY_UNSURE;
        model_expect(reader, add_to_replica(both, hashes[i], now, &replica) == BRY_OK);
        model_expect(reader, was[i] == replica);
    }
    if (n > 0)
        window_twin_advance(&both->twin[0], now);
    for (unsigned i = 0; i < n; i++)
        added(both, reader, (first + i * step) % ELEMENTS, was[i] == BRY_PRESENT);
}

static void do_del(window_pair *both, model_reader *reader)
{
    unsigned i = model_byte(reader);
    uint64_t now = next_time(both, reader);
    bry_answer was = BRY_UNSURE, replica = BRY_UNSURE;
    if (!both->kind->forgets) {
        model_expect(reader,
                     bry_window_del(both->window[0], element(i), now, &was) == BRY_E_UNSUPPORTED);
        return;
    }
    model_say(reader, "forget %u at %ju", i, (uintmax_t)now);
    begin(both, reader);
    bry_status status = bry_window_del(both->window[0], element(i), now, &was);
    bool done = end(both, reader, now, status);
    if (status == BRY_E_NOMEM)
        return;
    expect_like(reader, status, bry_window_del(both->replica[0], element(i), now, &replica));
    if (!done)
        return;
    model_expect(reader, was == replica);
    window_twin_advance(&both->twin[0], now);
    judge_operation(both, reader, i, both->twin[0].time, was == BRY_PRESENT);
    window_twin_del(&both->twin[0], i);
}

/* The replica advances in steps. */
static void do_advance(window_pair *both, model_reader *reader)
{
    uint64_t now = next_time(both, reader), time = both->twin[0].time;
    model_say(reader, "advance to %ju", (uintmax_t)now);
    begin(both, reader);
    bry_status status = bry_window_advance(both->window[0], now);
    if (!end(both, reader, now, status))
        return;
    if (now > time + 1) {
        uint64_t half = time + (now - time) / 2;
        model_expect(reader, bry_window_advance(both->replica[0], half) == BRY_OK);
        if (half > 0)
            model_expect(reader, bry_window_advance(both->replica[0], half - 1) == BRY_OK);
    }
    model_expect(reader, bry_window_advance(both->replica[0], now) == BRY_OK);
    window_twin_advance(&both->twin[0], now);
}

static void do_ask(window_pair *both, model_reader *reader)
{
    unsigned i = model_byte(reader);
    uint64_t now = plus(both->twin[0].time, model_byte(reader) * (both->options.window / 64 + 1));
    model_say(reader, "ask for %u at %ju", i, (uintmax_t)now);
    judge_operation(both, reader, i, now,
                    bry_window_has(both->window[0], element(i), now) == BRY_PRESENT);
}

/* A later time gives the answers that the window gives when it is there. */
static void do_ask_ahead(window_pair *both, model_reader *reader)
{
    uint64_t now = plus(both->twin[0].time, model_byte(reader) * (both->options.window / 64 + 1));
    bry_window *later = NULL;
    model_say(reader, "ask for all at %ju", (uintmax_t)now);
    model_expect(reader, bry_window_clone(both->replica[0], NULL, &later) == BRY_OK);
    model_expect(reader, bry_window_advance(later, now) == BRY_OK);
    for (unsigned i = 0; i < ELEMENTS + STRANGERS; i++) {
        bry_hash hash = i < ELEMENTS ? element(i) : generator_hash(&both->strangers);
        model_expect(reader,
                     bry_window_has(both->window[0], hash, now) == bry_window_has(later, hash, 0));
    }
    bry_window_destroy(later);
}

/* ---- strangers: elements that nobody meets twice ------------------------------------------- */

/* Sometimes more than planned. */
static void do_burst(window_pair *both, model_reader *reader)
{
    unsigned n = model_byte(reader);
    n = n < 200 ? n : (n - 199) * (unsigned)(both->options.capacity / 8 + 1);
    uint64_t now = next_time(both, reader);
    model_say(reader, "add %u strangers at %ju", n, (uintmax_t)now);
    both->armed = false;
    for (unsigned i = 0; i < n; i++) {
        bry_hash hash = generator_hash(&both->strangers);
        bry_answer was = BRY_UNSURE, replica = BRY_UNSURE;
        if (i == 0 || both->options.refuse)
            begin(both, reader);
        bry_status status = bry_window_add(both->window[0], hash, now, &was);
        expect_like(reader, status, bry_window_add(both->replica[0], hash, now, &replica));
        model_expect(reader, was == replica);
        count_operations(both, 1);
        if (!end(both, reader, now, status))
            return;
        window_twin_advance(&both->twin[0], now);
        both->mixed[0] = true;
    }
}

static void do_ask_strangers(window_pair *both, model_reader *reader)
{
    bry_hash hashes[STRANGERS];
    uint8_t answers[STRANGERS];
    const bry_window_options *options = &both->options;
    uint64_t wrong = 0;
    for (unsigned i = 0; i < STRANGERS; i++)
        hashes[i] = generator_hash(&both->strangers);
    bry_window_has_n(both->window[0], hashes, STRANGERS, both->clock, answers);
    for (unsigned i = 0; i < STRANGERS; i++) {
        wrong += answers[i] == BRY_PRESENT;
        model_expect(reader, answers[i] == bry_window_has(both->window[0], hashes[i], both->clock));
    }
    model_say(reader, "ask for strangers: %ju seen", (uintmax_t)wrong);
    count_operations(both, STRANGERS);
    if (keeps_error(both, 0)) {
        both->counts->may_be_wrong[both->error_index] += STRANGERS * options->error;
        both->counts->wrong[both->error_index] += wrong;
    }
}

/* ---- whole windows ------------------------------------------------------------------------- */

static void do_clone(window_pair *both, model_reader *reader)
{
    begin(both, reader);
    both->window[0] = model_clone(reader, &both->memory, BRY_JOB_WINDOW, both->window[0]);
    end(both, reader, 0, BRY_OK);
}

static void do_clear(window_pair *both, model_reader *reader)
{
    model_say(reader, "clear");
    bry_window_clear(both->window[0]);
    bry_window_clear(both->replica[0]);
    window_twin_clear(&both->twin[0]);
    both->mixed[0] = both->merged[0] = false;
}

/* The replicas of compact merged the other way round are the same. */
static void merge_replicas(window_pair *both, model_reader *reader, bry_status expected)
{
    bry_window *other = NULL;
    model_expect(reader, bry_window_clone(both->replica[1], NULL, &other) == BRY_OK);
    bry_status reverse = bry_window_merge(other, both->replica[0]);
    model_expect(reader, bry_window_merge(both->replica[0], both->replica[1]) == expected);
    if (reverse == BRY_OK && expected == BRY_OK && both->kind->engine == BRY_ENGINE_COMPACT) {
        bry_buffer merged = saved_of(other, reader);
        model_expect(reader, is_saved_as(both->replica[0], &merged, reader));
        bry_buffer_free(&merged);
    }
    bry_window_destroy(other);
}

static void do_merge(window_pair *both, model_reader *reader)
{
    model_say(reader, "merge");
    begin(both, reader);
    if (!both->before.len)
        both->before = saved_of(both->window[0], reader);
    bry_status status = bry_window_merge(both->window[0], both->window[1]);
    bool failed = both->memory.fail_at && both->memory.calls >= both->memory.fail_at;
    both->memory.fail_at = 0;
    both->armed = false;
    if (status == BRY_E_NOMEM) {
        model_expect(reader, failed);
    } else {
        merge_replicas(both, reader, status);
    }
    if (status == BRY_OK) {
        window_twin_merge(&both->twin[0], &both->twin[1]);
        both->mixed[0] = both->mixed[0] || both->mixed[1];
        both->merged[0] = true;
        return;
    }
    model_expect(reader, status == BRY_E_NOMEM || status == BRY_E_FULL ||
                             (status == BRY_E_MISMATCH && both->options.engine == BRY_ENGINE_FBF));
    model_expect(reader, is_saved_as(both->window[0], &both->before, reader));
}

static void do_exchange(window_pair *both, model_reader *reader)
{
    model_say(reader, "exchange");
    bry_window *window = both->window[0], *replica = both->replica[0];
    window_twin twin = both->twin[0];
    bool mixed = both->mixed[0], merged = both->merged[0];
    both->window[0] = both->window[1];
    both->replica[0] = both->replica[1];
    both->twin[0] = both->twin[1];
    both->mixed[0] = both->mixed[1];
    both->merged[0] = both->merged[1];
    both->window[1] = window;
    both->replica[1] = replica;
    both->twin[1] = twin;
    both->mixed[1] = mixed;
    both->merged[1] = merged;
}

static void do_save_and_load(window_pair *both, model_reader *reader)
{
    begin(both, reader);
    both->window[0] = model_reload(reader, &both->memory, BRY_JOB_WINDOW, both->window[0]);
    end(both, reader, 0, BRY_OK);
}

static void do_arm(window_pair *both, model_reader *reader)
{
    model_say(reader, "an allocation of the next change fails");
    both->armed = both->was_armed = true;
}

/* ---- running ------------------------------------------------------------------------------- */

static void step(void *state, model_reader *reader)
{
    static void (*const operations[])(window_pair *, model_reader *) = {
        do_add,   do_add,       do_add,           do_add,   do_add_n,    do_add_n,
        do_ask,   do_ask,       do_ask_strangers, do_del,   do_advance,  do_advance,
        do_burst, do_clone,     do_save_and_load, do_merge, do_exchange, do_arm,
        do_add_n, do_ask_ahead, do_ask_strangers, do_del,   do_advance,  do_clear,
    };
    unsigned count = sizeof operations / sizeof operations[0], which = model_byte(reader);
    /* Clearing is rare, so that windows fill up. */
    if (which % count == count - 1 && which >= count)
        which = 0;
    operations[which % count](state, reader);
}

static void check(void *state, model_reader *reader)
{
    window_pair *both = state;
    bry_hash hashes[ELEMENTS];
    uint8_t answers[ELEMENTS];
    window_twin *twin = &both->twin[0];
    uint64_t on_grid = 0, bytes = 0;
    for (unsigned i = 0; i < ELEMENTS; i++) {
        hashes[i] = element(i);
        on_grid += window_twin_on_grid(twin, i, twin->time);
    }
    bry_window_has_n(both->window[0], hashes, ELEMENTS, 0, answers);
    for (unsigned i = 0; i < ELEMENTS && !reader->failed; i++)
        judge(both, 0, reader, i, twin->time, answers[i] == BRY_PRESENT);
    for (int i = 0; i < 2; i++) {
        bry_window_stats stats = {0};
        bry_window_get_stats(both->window[i], &stats);
        bytes += stats.bytes;
        model_expect(reader, bry_window_time(both->window[i]) == both->twin[i].time);
        model_expect(reader, !both->options.max_bytes || stats.bytes <= both->options.max_bytes ||
                                 both->merged[i]);
        model_expect(reader, !keeps_error(both, i) || stats.estimated_error <= both->options.error);
        if (i == 0 && both->kind->counts && !both->mixed[0] && !both->options.refresh)
            model_expect(reader, both->merged[0] ? stats.items >= on_grid : stats.items == on_grid);
    }
    model_expect(reader, both->memory.now == bytes);
}

/* Each kind must have its share. False positives must be within the error, for each kind and error
 * separately. */
static bool report(uint64_t programs, uint64_t wanted)
{
    bool good = true;
    for (size_t kind = 0; kind < WINDOW_KINDS; kind++) {
        const window_counts *counts = &counts_of_kind[kind];
        printf("%s: %ju operations, %ju on elements that had to be remembered\n",
               window_kinds[kind].name, (uintmax_t)counts->operations,
               (uintmax_t)counts->remembered);
        good = good && (programs <= 100 || counts->operations * WINDOW_KINDS * 2 >= wanted);
        for (int i = 0; i < ERRORS; i++) {
            double most = counts->may_be_wrong[i];
            printf("  error number %d: %ju false positives, at most %.1f expected\n", i,
                   (uintmax_t)counts->wrong[i], most);
            good = good && (double)counts->wrong[i] <= most + 5 * sqrt(most) + 1;
        }
    }
    return good;
}

const model window_model = {"window", create, step, check, destroy, &operations_done, report};
