#include "counter/counter_record.h"

#include "common/endian.h"
#include "common/struct_size.h"
#include "window/window_engine.h"

#include <string.h>

/* ---- writing ------------------------------------------------------------------------------- */

static void write_head(const bry_counters *counters, uint32_t type, uint32_t count,
                       unsigned char *to)
{
    bry__store32(to, type);
    bry__store32(to + 4, count);
    bry__store64(to + 8, bry_window_time(counters->window));
    bry__store64(to + 16, counters->counts.repeats);
}

size_t bry__counter_record_base(const bry_counters *counters, const bry__counter_place *place,
                                unsigned char *to)
{
    const bry_counters_options *options = &counters->options;
    write_head(counters, BRY__COUNTER_BASE, 0, to);
    unsigned char *body = to + BRY__COUNTER_HEAD;
    bry__store64(body, place->table);
    bry__store64(body + 8, place->sequence);
    bry__store64(body + 16, (uint64_t)options->engine);
    bry__store64(body + 24, options->window);
    bry__store64(body + 32, options->capacity);
    bry__store_double(body + 40, options->error);
    bry__store64(body + 48, options->seed);
    return BRY__COUNTER_BASE_SIZE;
}

size_t bry__counter_record_plain(const bry_counters *counters, uint32_t type, const void *name,
                                 size_t len, unsigned char *to)
{
    write_head(counters, type, 0, to);
    if (len)
        memcpy(to + BRY__COUNTER_HEAD, name, len);
    return BRY__COUNTER_HEAD + len;
}

size_t bry__counter_record_ops(const bry_counters *counters, const bry_counters_op *ops,
                               size_t op_size, const uint8_t *was, size_t n, unsigned char *to)
{
    unsigned char *at = to + BRY__COUNTER_HEAD;
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (was[i] != BRY_ABSENT)
            continue;
        const bry_counters_op *op = bry__element_in(ops, op_size, i);
        bry__store64(at, op->id.lo);
        bry__store64(at + 8, op->id.hi);
        bry__store64(at + 16, (uint64_t)op->delta);
        bry__store16(at + 24, (uint16_t)op->name_len);
        if (op->name_len)
            memcpy(at + BRY__COUNTER_OP, op->name, op->name_len);
        at += BRY__COUNTER_OP + op->name_len;
        count++;
    }
    write_head(counters, BRY__COUNTER_OPS, count, to);
    return (size_t)(at - to);
}

/* ---- reading ------------------------------------------------------------------------------- */

const char *bry__counter_record_read_base(const unsigned char *record, size_t len,
                                          bry__counter_base *base)
{
    if (len != BRY__COUNTER_BASE_SIZE || bry__load32(record) != BRY__COUNTER_BASE ||
        bry__load32(record + 4) != 0)
        return "the log does not start with its base record";
    const unsigned char *body = record + BRY__COUNTER_HEAD;
    uint64_t engine = bry__load64(body + 16);
    if (engine > UINT32_MAX || !bry__engine_find(bry__window_engines, (bry_engine)engine))
        return "unknown engine";
    bry_counters_options stored = BRY_COUNTERS_OPTIONS, read;
    stored.engine = (bry_engine)engine;
    stored.window = bry__load64(body + 24);
    stored.capacity = bry__load64(body + 32);
    stored.error = bry__load_double(body + 40);
    stored.seed = bry__load64(body + 48);
    bry_counters_shape shape;
    /* A zero would become a default, but a saved table has no zeros. */
    if (bry__counter_read_options(&stored, &read, &shape) != BRY_OK ||
        read.window != stored.window || read.capacity != stored.capacity ||
        read.error != stored.error || stored.seed == 0)
        return "the table's options are out of range";
    *base = (bry__counter_base){{bry__load64(body), bry__load64(body + 8)}, read};
    return base->place.table == 0 ? "the table's identifier is 0" : NULL;
}

static bry_status counter_record_bad(const char **problem, const char *text)
{
    *problem = text;
    return BRY_E_BADDATA;
}

static bry_status counter_redo_op(bry_counters *counters, const unsigned char *op, size_t name_len,
                                  const char **problem)
{
    int64_t delta = (int64_t)bry__load64(op + 16);
    const unsigned char *bytes = op + BRY__COUNTER_OP;
    bry__counter_key key = bry__counter_names_key(&counters->names, bytes, name_len);
    bry__counter_name *name = bry__counter_names_find(&counters->names, key);
    bry_status status = BRY_OK;
    if (!name)
        status = bry__counter_names_add(&counters->names, key, &name);
    if (status != BRY_OK)
        return status == BRY_E_NOMEM
                   ? status
                   : counter_record_bad(problem, "an operation cannot be replayed");
    if (__builtin_add_overflow(name->value, delta, &name->value))
        return counter_record_bad(problem, "an operation overflows its counter");
    name->fresh = false;
    counters->counts.expected_lost += bry__counter_error(counters);
    counters->counts.applied++;
    return BRY_OK;
}

/* The end of the operation at `at`; 0: it is truncated. */
static size_t counter_record_end_of_op(const unsigned char *record, size_t len, size_t at)
{
    if (len - at < BRY__COUNTER_OP)
        return 0;
    size_t name_len = bry__load16(record + at + 24);
    return len - at - BRY__COUNTER_OP < name_len ? 0 : at + BRY__COUNTER_OP + name_len;
}

/* First the ids, then the counters: the error of a batch was estimated after its ids were added. */
static bry_status counter_redo_ops(bry_counters *counters, const unsigned char *record, size_t len,
                                   const char **problem)
{
    uint32_t count = bry__load32(record + 4);
    uint64_t time = bry__load64(record + 8);
    size_t at = BRY__COUNTER_HEAD, end;
    if (count == 0)
        return counter_record_bad(problem, "a record has no operations");
    for (uint32_t i = 0; i < count; i++, at = end) {
        end = counter_record_end_of_op(record, len, at);
        if (end == 0)
            return counter_record_bad(problem, "an operation is truncated");
        bry_hash id = {bry__load64(record + at), bry__load64(record + at + 8)};
        bry_status status = bry_window_add(counters->window, id, time, NULL);
        if (status != BRY_OK)
            return status == BRY_E_NOMEM ? status
                                         : counter_record_bad(problem, "an id cannot be replayed");
    }
    if (at != len)
        return counter_record_bad(problem, "trailing data after the last operation");
    for (at = BRY__COUNTER_HEAD; at < len; at = end) {
        end = counter_record_end_of_op(record, len, at);
        bry_status status =
            counter_redo_op(counters, record + at, end - at - BRY__COUNTER_OP, problem);
        if (status != BRY_OK)
            return status;
    }
    return BRY_OK;
}

static bry_status redo_plain(bry_counters *counters, const unsigned char *record, size_t len,
                             const char **problem)
{
    uint32_t type = bry__load32(record);
    uint64_t time = bry__load64(record + 8);
    const unsigned char *body = record + BRY__COUNTER_HEAD;
    len -= BRY__COUNTER_HEAD;
    if (type != BRY__COUNTER_DEL && type != BRY__COUNTER_CLR && type != BRY__COUNTER_TIME)
        return counter_record_bad(problem, "unknown record type");
    if (bry__load32(record + 4) != 0 || (len > 0 && type != BRY__COUNTER_DEL))
        return counter_record_bad(problem, "a record has the wrong length");
    /* A record of time alone may be the first one, at time 0. */
    if (type == BRY__COUNTER_TIME || time > bry_window_time(counters->window)) {
        bry_status status = bry_window_advance(counters->window, time);
        if (status != BRY_OK)
            return status;
    }
    if (type == BRY__COUNTER_DEL) {
        bry__counter_name *name = bry__counter_names_get(&counters->names, body, len);
        if (!name)
            return counter_record_bad(problem, "a deleted counter does not exist");
        bry__counter_names_del(&counters->names, name);
    } else if (type == BRY__COUNTER_CLR) {
        bry__counter_empty(counters);
    }
    return BRY_OK;
}

bry_status bry__counter_redo(bry_counters *counters, const unsigned char *record, size_t len,
                             const char **problem)
{
    if (len < BRY__COUNTER_HEAD)
        return counter_record_bad(problem, "a record is truncated");
    uint64_t time = bry__load64(record + 8), repeats = bry__load64(record + 16);
    if (time < bry_window_time(counters->window) || repeats < counters->counts.repeats)
        return counter_record_bad(problem, "a record goes back in time");
    counters->counts.repeats = repeats;
    return bry__load32(record) == BRY__COUNTER_OPS
               ? counter_redo_ops(counters, record, len, problem)
               : redo_plain(counters, record, len, problem);
}
