#include "apps/dedup/store/exact.h"

#include "cli/core/files/note_bytes.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Address space, not memory: far more than any index needs, and less where it is limited. */
enum { MAP_BITS_MOST = 40, MAP_BITS_LEAST = 30, MAP_BITS_STEP = 5 };
enum {
    PER_TRANSACTION = 16384, /* changes, which bounds the memory for changed pages */
    PLACE_BITS = 16,
};

struct dedup_exact {
    MDB_env *env;
    MDB_txn *reader; /* the snapshot; NULL: none */
    MDB_dbi chunks, containers, meta;
    size_t digest_len;
};

dedup_status dedup_rows_add(dedup_rows *rows, dedup_row row)
{
    dedup_status status =
        dedup_make_room(&rows->row, &rows->room, rows->count + 1, sizeof *rows->row);
    if (status == DEDUP_OK)
        rows->row[rows->count++] = row;
    return status;
}

size_t dedup_rows_first(const dedup_rows *rows, uint64_t number)
{
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->row[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const dedup_row *dedup_rows_from(const dedup_rows *rows, uint64_t number)
{
    size_t at = dedup_rows_first(rows, number);
    return at < rows->count ? &rows->row[at] : NULL;
}

const dedup_row *dedup_rows_find(const dedup_rows *rows, uint64_t number)
{
    const dedup_row *row = dedup_rows_from(rows, number);
    return row && row->number == number ? row : NULL;
}

static dedup_status exact_failed(int code)
{
    if (code == ENOMEM)
        return dedup_no_memory();
    bool damaged = code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND || code == MDB_INVALID ||
                   code == MDB_PANIC || code == MDB_VERSION_MISMATCH || code == MDB_NOTFOUND ||
                   code == MDB_INCOMPATIBLE || code == MDB_BAD_TXN;
    errno = code > 0 ? code : 0;
    return dedup_problem(damaged ? DEDUP_DAMAGED : DEDUP_FAILED, "the exact index: %s%s",
                         mdb_strerror(code),
                         damaged ? "; \"dedup rebuild-index\" rebuilds it" : "");
}

/* Ends a transaction whose last call has returned `code`. */
static int end_transaction(MDB_txn *txn, int code)
{
    if (code == 0)
        return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return code;
}

static int open_databases(dedup_exact *exact, bool write)
{
    unsigned flags = write ? MDB_CREATE : 0;
    MDB_txn *txn;
    int code = mdb_txn_begin(exact->env, NULL, write ? 0 : MDB_RDONLY, &txn);
    if (code != 0)
        return code;
    code = mdb_dbi_open(txn, "chunks", flags, &exact->chunks);
    if (code == 0)
        code = mdb_dbi_open(txn, "containers", flags, &exact->containers);
    if (code == 0)
        code = mdb_dbi_open(txn, "meta", flags, &exact->meta);
    return end_transaction(txn, code);
}

/* With the largest map that the system grants. */
static int open_environment(dedup_exact *exact, const char *path, unsigned flags)
{
    int code = ENOMEM;
    for (int bits = MAP_BITS_MOST; code == ENOMEM && bits >= MAP_BITS_LEAST;
         bits -= MAP_BITS_STEP) {
        if (exact->env)
            mdb_env_close(exact->env);
        exact->env = NULL;
        code = mdb_env_create(&exact->env);
        if (code == 0)
            code = mdb_env_set_maxdbs(exact->env, 4);
        if (code == 0)
            code = mdb_env_set_mapsize(exact->env, (size_t)1 << bits);
        if (code == 0)
            code = mdb_env_open(exact->env, path, flags, 0666);
    }
    return code;
}

dedup_status dedup_exact_open(const char *path, size_t digest_len, dedup_exact_mode mode,
                              dedup_exact **exact)
{
    bool write = mode == DEDUP_EXACT_WRITE;
    unsigned flags = MDB_NOTLS | MDB_NORDAHEAD | (write ? 0 : MDB_RDONLY) |
                     (mode == DEDUP_EXACT_ALONE ? MDB_NOLOCK : 0);
    int dead;
    dedup_exact *opened = calloc(1, sizeof *opened);
    if (!opened)
        return dedup_no_memory();
    opened->digest_len = digest_len;
    int code = open_environment(opened, path, flags);
    if (code == 0 && mode != DEDUP_EXACT_ALONE) /* of processes that were killed */
        code = mdb_reader_check(opened->env, &dead);
    if (code == 0)
        code = open_databases(opened, write);
    if (code != 0) {
        dedup_exact_close(opened);
        return exact_failed(code == MDB_NOTFOUND ? MDB_INVALID : code);
    }
    *exact = opened;
    return DEDUP_OK;
}

void dedup_exact_close(dedup_exact *exact)
{
    if (!exact)
        return;
    if (exact->reader)
        mdb_txn_abort(exact->reader);
    if (exact->env)
        mdb_env_close(exact->env);
    free(exact);
}

static dedup_status exact_snapshot(dedup_exact *exact)
{
    int code = exact->reader ? 0 : mdb_txn_begin(exact->env, NULL, MDB_RDONLY, &exact->reader);
    return code == 0 ? DEDUP_OK : exact_failed(code);
}

static void drop_snapshot(dedup_exact *exact)
{
    if (exact->reader)
        mdb_txn_abort(exact->reader);
    exact->reader = NULL;
}

dedup_status dedup_exact_refresh(dedup_exact *exact)
{
    drop_snapshot(exact);
    return exact_snapshot(exact);
}

static dedup_location location_of(uint64_t word)
{
    dedup_location where = {word >> PLACE_BITS,
                            (uint32_t)(word & (((uint64_t)1 << PLACE_BITS) - 1))};
    return where;
}

dedup_status dedup_exact_get(dedup_exact *exact, const dedup_digest *digest, dedup_location *where)
{
    dedup_status status = exact_snapshot(exact);
    if (status != DEDUP_OK)
        return status;
    MDB_val key = {exact->digest_len, (void *)(uintptr_t)digest->bytes}, value;
    int code = mdb_get(exact->reader, exact->chunks, &key, &value);
    if (code == MDB_NOTFOUND)
        return DEDUP_MISSING;
    if (code == 0 && value.mv_size != 8)
        code = MDB_CORRUPTED;
    if (code != 0)
        return exact_failed(code);
    *where = location_of(cli_get(value.mv_data, 8));
    return DEDUP_OK;
}

static int compare_changes(const void *a, const void *b)
{
    return memcmp(a, b, DEDUP_DIGEST_MAX); /* the digest is the first member */
}

static int apply_change(dedup_exact *exact, MDB_txn *txn, const dedup_change *change)
{
    unsigned char word[8];
    MDB_val key = {exact->digest_len, (void *)(uintptr_t)change->digest.bytes}, value = {8, word};
    if (change->remove) {
        int code = mdb_del(txn, exact->chunks, &key, NULL);
        return code == MDB_NOTFOUND ? 0 : code;
    }
    cli_put(word, change->where.container << PLACE_BITS | change->where.place, 8);
    int code = mdb_put(txn, exact->chunks, &key, &value, change->keep ? MDB_NOOVERWRITE : 0);
    return code == MDB_KEYEXIST ? 0 : code;
}

dedup_status dedup_exact_apply(dedup_exact *exact, dedup_change *changes, size_t count)
{
    drop_snapshot(exact);
    if (count)
        qsort(changes, count, sizeof *changes, compare_changes);
    for (size_t at = 0; at < count;) {
        size_t end = count - at < PER_TRANSACTION ? count : at + PER_TRANSACTION;
        MDB_txn *txn;
        int code = mdb_txn_begin(exact->env, NULL, 0, &txn);
        if (code != 0)
            return exact_failed(code);
        for (; code == 0 && at < end; at++)
            code = apply_change(exact, txn, &changes[at]);
        code = end_transaction(txn, code);
        if (code != 0)
            return exact_failed(code);
    }
    return DEDUP_OK;
}

/* Big-endian, so that the order of keys is that of numbers. */
static void put_number_key(unsigned char key[8], uint64_t number)
{
    for (int i = 0; i < 8; i++)
        key[i] = (unsigned char)(number >> (56 - 8 * i));
}

static int write_rows(dedup_exact *exact, MDB_txn *txn, const dedup_row *add, size_t added,
                      const uint64_t *remove, size_t removed)
{
    unsigned char number[8], chunks[8];
    MDB_val key = {8, number}, value = {8, chunks};
    int code = 0;
    for (size_t i = 0; code == 0 && i < added; i++) {
        put_number_key(number, add[i].number);
        cli_put(chunks, add[i].chunks, 8);
        code = mdb_put(txn, exact->containers, &key, &value, 0);
    }
    for (size_t i = 0; code == 0 && i < removed; i++) {
        put_number_key(number, remove[i]);
        code = mdb_del(txn, exact->containers, &key, NULL);
        code = code == MDB_NOTFOUND ? 0 : code;
    }
    return code;
}

dedup_status dedup_exact_finish(dedup_exact *exact, const dedup_row *add, size_t added,
                                const uint64_t *remove, size_t removed,
                                const dedup_setting *settings, size_t set)
{
    drop_snapshot(exact);
    MDB_txn *txn;
    int code = mdb_txn_begin(exact->env, NULL, 0, &txn);
    if (code != 0)
        return exact_failed(code);
    code = write_rows(exact, txn, add, added, remove, removed);
    for (size_t i = 0; code == 0 && i < set; i++) {
        unsigned char word[8];
        MDB_val key = {strlen(settings[i].name), (void *)(uintptr_t)settings[i].name};
        MDB_val value = {8, word};
        cli_put(word, settings[i].value, 8);
        code = mdb_put(txn, exact->meta, &key, &value, 0);
    }
    code = end_transaction(txn, code);
    return code == 0 ? DEDUP_OK : exact_failed(code);
}

dedup_status dedup_exact_change_epoch(dedup_exact *exact, const uint64_t *remove, size_t removed)
{
    uint64_t epoch;
    if (getrandom(&epoch, sizeof epoch, 0) != (ssize_t)sizeof epoch)
        return dedup_problem(DEDUP_FAILED, "getrandom: ");
    const dedup_setting setting = {"epoch", epoch | 1};
    return dedup_exact_finish(exact, NULL, 0, remove, removed, &setting, 1);
}

dedup_status dedup_exact_number(dedup_exact *exact, const char *name, uint64_t *number)
{
    dedup_status status = exact_snapshot(exact);
    if (status != DEDUP_OK)
        return status;
    MDB_val key = {strlen(name), (void *)(uintptr_t)name}, value;
    int code = mdb_get(exact->reader, exact->meta, &key, &value);
    *number = code == 0 && value.mv_size == 8 ? cli_get(value.mv_data, 8) : 0;
    return code == 0 || code == MDB_NOTFOUND ? DEDUP_OK : exact_failed(code);
}

/* Calls `row` for each pair of a database. */
static dedup_status walk_database(dedup_exact *exact, MDB_dbi database,
                                  dedup_status (*row)(void *context, MDB_val key, MDB_val value),
                                  void *context)
{
    MDB_cursor *cursor;
    MDB_val key, value;
    dedup_status status = exact_snapshot(exact);
    if (status != DEDUP_OK)
        return status;
    int code = mdb_cursor_open(exact->reader, database, &cursor);
    if (code != 0)
        return exact_failed(code);
    while (status == DEDUP_OK && (code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0)
        status = row(context, key, value);
    mdb_cursor_close(cursor);
    if (status == DEDUP_OK && code != MDB_NOTFOUND)
        status = exact_failed(code);
    return status;
}

static dedup_status collect_row(void *rows, MDB_val key, MDB_val value)
{
    if (key.mv_size != 8 || value.mv_size != 8)
        return exact_failed(MDB_CORRUPTED);
    dedup_row row = {0, cli_get(value.mv_data, 8)};
    for (int i = 0; i < 8; i++)
        row.number = row.number << 8 | ((const unsigned char *)key.mv_data)[i];
    return dedup_rows_add(rows, row);
}

dedup_status dedup_exact_rows(dedup_exact *exact, dedup_rows *rows)
{
    return walk_database(exact, exact->containers, collect_row, rows);
}

typedef struct chunk_visit {
    dedup_visit_chunk *visit;
    void *context;
    size_t digest_len;
} chunk_visit;

static dedup_status visit_row(void *context, MDB_val key, MDB_val value)
{
    const chunk_visit *visit = context;
    dedup_digest digest = {{0}};
    if (key.mv_size != visit->digest_len || value.mv_size != 8)
        return exact_failed(MDB_CORRUPTED);
    memcpy(digest.bytes, key.mv_data, key.mv_size);
    return visit->visit(visit->context, &digest, location_of(cli_get(value.mv_data, 8)));
}

dedup_status dedup_exact_walk(dedup_exact *exact, dedup_visit_chunk *visit, void *context)
{
    chunk_visit each = {visit, context, exact->digest_len};
    return walk_database(exact, exact->chunks, visit_row, &each);
}

dedup_status dedup_exact_count(dedup_exact *exact, uint64_t *chunks, uint64_t *bytes)
{
    MDB_stat stat;
    MDB_envinfo info;
    dedup_status status = exact_snapshot(exact);
    if (status != DEDUP_OK)
        return status;
    int code = mdb_stat(exact->reader, exact->chunks, &stat);
    if (code == 0)
        code = mdb_env_info(exact->env, &info);
    if (code != 0)
        return exact_failed(code);
    *chunks = stat.ms_entries;
    *bytes = (uint64_t)(info.me_last_pgno + 1) * stat.ms_psize;
    return DEDUP_OK;
}
