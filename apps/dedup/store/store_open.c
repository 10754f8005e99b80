/* Opening the store: what crashed processes left is removed or completed. */
#include "apps/dedup/store/store.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static dedup_status adopt_container(dedup_store *store, dedup_entering *adopted, uint64_t number)
{
    dedup_directory directory;
    dedup_status status =
        dedup_directory_of(store->repo->fd, number, store->repo->config.hash, &directory);
    if (status != DEDUP_OK)
        return status;
    if (adopted->rows.count == DEDUP_COMMIT_CONTAINERS)
        status = dedup_store_enter(store, adopted);
    if (status == DEDUP_OK)
        status = dedup_entering_add(adopted, &directory, true);
    dedup_directory_free(&directory);
    return status;
}

dedup_status dedup_store_enter_again(dedup_store *store)
{
    dedup_entering adopted = {0};
    dedup_status status = DEDUP_OK;
    for (size_t i = 0; status == DEDUP_OK && i < store->rows.count; i++) {
        status = adopt_container(store, &adopted, store->rows.row[i].number);
        if (status == DEDUP_DAMAGED) /* or missing: check reports it */
            status = DEDUP_OK;
    }
    if (status == DEDUP_OK)
        status = dedup_store_enter(store, &adopted);
    dedup_entering_free(&adopted);
    return status;
}

/* Compares the directory with the rows: both are sorted, because names are numbers in fixed
 * width. */
static dedup_status reconcile_containers(dedup_store *store, const dedup_names *names,
                                         dedup_entering *adopted)
{
    dedup_status status = DEDUP_OK;
    size_t row = 0;
    uint64_t number;
    for (size_t i = 0; status == DEDUP_OK && i < names->count; i++) {
        const char *suffix = strchr(names->name[i], '.');
        if (suffix && strcmp(suffix, ".new") == 0) {
            dedup_container_name name;
            snprintf(name.text, sizeof name.text, "containers/%.30s", names->name[i]);
            unlinkat(store->repo->fd, name.text, 0);
            continue;
        }
        if (!dedup_container_number(names->name[i], &number))
            continue;
        if (number >= store->next)
            store->next = number + 1;
        if (row < store->rows.count && store->rows.row[row].number < number)
            break; /* that one is missing */
        if (row < store->rows.count && store->rows.row[row].number == number)
            row++;
        else
            status = adopt_container(store, adopted, number);
        if (adopted->rows.count > 0 && store->adopted == 0)
            store->adopted = number;
    }
    if (status == DEDUP_OK && row < store->rows.count)
        status = dedup_problem(DEDUP_DAMAGED, "%s: missing; see \"dedup check\"",
                               dedup_container_name_of(store->rows.row[row].number).text);
    return status;
}

static dedup_status load_container_rows(dedup_store *store)
{
    dedup_rows *rows = &store->rows;
    rows->count = 0;
    dedup_status status = dedup_exact_rows(store->exact, rows);
    store->next = rows->count ? rows->row[rows->count - 1].number + 1 : 1;
    return status;
}

/* A new exact index gets an epoch, which no file cache knows. */
static dedup_status ensure_epoch(dedup_store *store)
{
    uint64_t epoch;
    dedup_status status = dedup_exact_number(store->exact, "epoch", &epoch);
    if (status != DEDUP_OK || epoch)
        return status;
    return dedup_exact_change_epoch(store->exact, NULL, 0);
}

static dedup_status adopt_unknown(dedup_store *store)
{
    dedup_names names;
    dedup_entering adopted = {0};
    dedup_status status = dedup_container_names(store->repo->fd, &names);
    if (status != DEDUP_OK)
        return status;
    status = reconcile_containers(store, &names, &adopted);
    bool changed = adopted.rows.count > 0;
    uint64_t next = store->next;
    if (status == DEDUP_OK && changed)
        status = dedup_store_enter(store, &adopted);
    if (status == DEDUP_OK && changed)
        status = load_container_rows(store);
    store->next = next > store->next ? next : store->next;
    dedup_entering_free(&adopted);
    dedup_names_free(&names);
    return status;
}

dedup_status dedup_store_open_exact(dedup_repo *repo, bool write, dedup_exact **exact)
{
    dedup_place place = dedup_place_of(repo, "index");
    size_t digest_len = dedup_digest_len(repo->config.hash);
    dedup_exact_mode mode = write ? DEDUP_EXACT_WRITE : DEDUP_EXACT_READ;
    dedup_status status = dedup_exact_open(place.text, digest_len, mode, exact);
    if (status == DEDUP_FAILED && errno == EACCES && !write) {
        status = dedup_repo_exclude_writers(repo);
        mode = DEDUP_EXACT_ALONE;
    } else if (status == DEDUP_DAMAGED && write) {
        cli_note("the exact index is damaged; rebuilding it from the containers");
        status = dedup_empty_dir(repo->fd, "index");
    } else {
        return status;
    }
    return status == DEDUP_OK ? dedup_exact_open(place.text, digest_len, mode, exact) : status;
}

/* The directories whose content can be made again. Programs that copy repositories may leave out
 * empty ones. */
static dedup_status create_derived(const dedup_repo *repo)
{
    static const char *const derived[] = {"index", "units", "cache"};
    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++)
        if (mkdirat(repo->fd, derived[i], 0777) != 0 && errno != EEXIST)
            return dedup_problem(DEDUP_FAILED, "%s: ", derived[i]);
    return DEDUP_OK;
}

dedup_status dedup_store_open_plain(dedup_store *store, dedup_repo *repo, bool write)
{
    *store = (dedup_store){.repo = repo, .write = write};
    dedup_status status = write ? create_derived(repo) : DEDUP_OK;
    if (status == DEDUP_OK)
        status = dedup_hasher_init(&store->hasher, repo->config.hash);
    if (status == DEDUP_OK)
        status = dedup_locality_init(&store->cache);
    if (status == DEDUP_OK)
        status = dedup_store_open_exact(repo, write, &store->exact);
    if (status == DEDUP_OK && write)
        status = ensure_epoch(store);
    if (status == DEDUP_OK)
        status = load_container_rows(store);
    if (status == DEDUP_OK && write)
        status = adopt_unknown(store);
    if (status != DEDUP_OK)
        dedup_store_close(store);
    return status;
}

dedup_status dedup_store_open(dedup_store *store, dedup_repo *repo, bool write)
{
    dedup_status status = dedup_store_open_plain(store, repo, write);
    if (status == DEDUP_OK) {
        status = dedup_units_open(&store->units, repo, &store->rows, store->adopted);
        /* A number is not used again, also not that of a container which gc has removed. */
        if (status == DEDUP_OK && store->units.next > store->next)
            store->next = store->units.next;
        /* At once: the next process does not know what this one has entered. */
        if (status == DEDUP_OK && write && store->units.rebuilt)
            status = dedup_store_save(store);
        if (status != DEDUP_OK)
            dedup_store_close(store);
    }
    return status;
}

dedup_status dedup_store_open_rebuilt(dedup_store *store, dedup_repo *repo)
{
    dedup_status status = dedup_repo_exclude_readers(repo);
    if (status == DEDUP_OK)
        status = dedup_empty_dir(repo->fd, "units");
    if (status == DEDUP_OK)
        status = dedup_empty_dir(repo->fd, "index");
    if (status == DEDUP_OK) /* every container is unknown to it, and entered */
        status = dedup_store_open_plain(store, repo, true);
    dedup_repo_admit_readers(repo);
    if (status != DEDUP_OK)
        return status;
    status = dedup_units_build(&store->units, repo, &store->rows);
    if (status != DEDUP_OK)
        dedup_store_close(store);
    return status;
}

void dedup_store_close(dedup_store *store)
{
    for (size_t i = 0; i < store->pending_count; i++) {
        unlinkat(store->repo->fd, dedup_new_name_of(store->pending[i].number).text, 0);
        if (store->pending[i].fd >= 0)
            close(store->pending[i].fd);
    }
    free(store->pending);
    dedup_units_close(&store->units);
    dedup_locality_free(&store->cache);
    dedup_exact_close(store->exact);
    dedup_hasher_free(&store->hasher);
    ZSTD_freeCCtx(store->compressor);
    ZSTD_freeDCtx(store->decompressor);
    bry_buffer_free(&store->scratch);
    bry_buffer_free(&store->front);
    bry_buffer_free(&store->data);
    free(store->rows.row);
    free(store->next_in_unit);
    *store = (dedup_store){0};
}
