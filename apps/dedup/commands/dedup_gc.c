/*
 * bloomery dedup gc: frees the space of chunks that no archive needs. These are stale. A container
 * with a large share of them is removed: its other chunks move to new containers first.
 *
 * The order makes every step safe: new containers are synced and in the exact index before anything
 * of the old ones is removed from it, first their rows, then their chunks. The old files are removed
 * last, when no process reads. If the process dies before that, the next writer finds the old
 * containers without rows and enters them again.
 */
#include "apps/dedup/archive/archive.h"
#include "apps/dedup/archive/manifest.h"
#include "apps/dedup/commands/dedup_command.h"
#include "apps/dedup/store/store.h"
#include "cli/core/output/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct dedup_gc_result {
    uint64_t stale_chunks; /* Chunks that no archive needs. */
    uint64_t moved_chunks; /* Chunks copied to new containers. */
    uint64_t removed_containers; /* Containers removed. */
    uint64_t freed_bytes; /* Bytes of these. */
    uint64_t kept_containers; /* Containers kept because a chunk of them is damaged. */
} dedup_gc_result;

/* ---- what is needed -------------------------------------------------------------------------- */

enum { NEEDED = 1, ENTERED = 2 };

/*
 * Which chunks are needed: a bit for each place of each container, set by walking through the
 * manifests of all archives. A second bit says that a chunk was read as part of a manifest; a chunk
 * of file data may have the same content, so the first bit does not tell that.
 */
typedef struct needed_marks {
    dedup_store *store;
    unsigned char **bits; /* for each row of the store: two bits for each place */
    size_t count;
    uint64_t missing; /* chunks of files that are not in the store */
} needed_marks;

/* Whether a chunk is needed, by the number of the row and the place. */
static bool marks_have(const needed_marks *marks, size_t row, uint32_t place)
{
    return marks->bits[row][place / 4] >> (2 * (place % 4)) & NEEDED;
}

/* Sets bits of a chunk and returns in *before those it had. */
static dedup_status set_marks(needed_marks *marks, const dedup_digest *digest, unsigned bits,
                              unsigned *before)
{
    dedup_slot *slot;
    uint32_t place;
    dedup_status status = dedup_store_locate(marks->store, digest, &slot, &place);
    if (status != DEDUP_OK)
        return status;
    const dedup_row *row = dedup_rows_find(&marks->store->rows, slot->directory.number);
    if (!row || row->chunks != slot->directory.count)
        return dedup_container_disagrees(slot->directory.number);
    unsigned char *byte = &marks->bits[row - marks->store->rows.row][place / 4];
    unsigned shift = 2 * (place % 4);
    *before = *byte >> shift & 3;
    *byte |= (unsigned char)(bits << shift);
    return DEDUP_OK;
}

static bool enter_marked(void *context, const dedup_digest *digest, dedup_status *status)
{
    unsigned before = 0;
    *status = set_marks(context, digest, NEEDED | ENTERED, &before);
    if (*status == DEDUP_MISSING)
        *status = dedup_problem(DEDUP_DAMAGED, "a part of the manifest is missing");
    return !(before & ENTERED);
}

static dedup_status mark_item(void *context, const dedup_item *item)
{
    needed_marks *marks = context;
    unsigned before;
    if (item->tag != 'C')
        return DEDUP_OK;
    dedup_status status = set_marks(marks, &item->digest, NEEDED, &before);
    if (status != DEDUP_MISSING)
        return status;
    marks->missing++;
    return DEDUP_OK;
}

static dedup_status mark_archives(needed_marks *marks)
{
    const dedup_walk walk = {.context = marks, .enter = enter_marked, .item = mark_item};
    dedup_archive *archives;
    size_t count;
    dedup_status status = dedup_archive_list(marks->store->repo, &archives, &count, NULL, NULL);
    if (status != DEDUP_OK)
        return status;
    for (size_t i = 0; status == DEDUP_OK && i < count; i++) {
        status = dedup_manifest_walk(marks->store, &archives[i].root, archives[i].depth, &walk);
        if (status != DEDUP_OK) {
            char problem[512];
            snprintf(problem, sizeof problem, "%s", dedup_problem_text());
            dedup_describe("archive %s: %s", cli_name(archives[i].name).text, problem);
        }
    }
    free(archives);
    return status;
}

static void free_marks(needed_marks *marks)
{
    for (size_t i = 0; marks->bits && i < marks->count; i++)
        free(marks->bits[i]);
    free(marks->bits);
    marks->bits = NULL;
}

/* Walks through all archives. DEDUP_DAMAGED: a record or a manifest is damaged, so that it is not
 * known what is needed. */
static dedup_status make_marks(needed_marks *marks, dedup_store *store)
{
    *marks = (needed_marks){.store = store, .count = store->rows.count};
    marks->bits = calloc(marks->count + 1, sizeof *marks->bits);
    if (!marks->bits)
        return dedup_no_memory();
    for (size_t i = 0; i < marks->count; i++) {
        marks->bits[i] = calloc(1, (size_t)store->rows.row[i].chunks / 4 + 1);
        if (!marks->bits[i]) {
            free_marks(marks);
            return dedup_no_memory();
        }
    }
    dedup_status status = mark_archives(marks);
    if (status != DEDUP_OK)
        free_marks(marks);
    return status;
}

/* ---- collecting ------------------------------------------------------------------------------ */

typedef struct collection {
    dedup_store *store;
    needed_marks marks;
    uint64_t *victims; /* numbers of containers to remove */
    size_t count;
    bool copies; /* some chunks are in several containers */
    dedup_gc_result *result;
} collection;

/* Whether a container has enough stale bytes. */
static dedup_status container_is_stale(collection *gc, size_t row, double share, bool *stale)
{
    const dedup_row *container = &gc->store->rows.row[row];
    uint64_t dead = 0, dead_bytes = 0;
    dedup_slot *slot;
    *stale = false;
    for (uint32_t i = 0; i < container->chunks; i++)
        dead += !marks_have(&gc->marks, row, i);
    gc->result->stale_chunks += dead;
    if (dead == 0)
        return DEDUP_OK;
    dedup_status status = dedup_store_container(gc->store, container->number, &slot);
    if (status == DEDUP_OK && slot->directory.count != container->chunks)
        status = dedup_container_disagrees(container->number);
    if (status != DEDUP_OK)
        return status;
    for (uint32_t i = 0; i < slot->directory.count; i++)
        if (!marks_have(&gc->marks, row, i))
            dead_bytes += DEDUP_CHUNK_HEADER + slot->directory.entry[i].stored;
    *stale = (double)dead_bytes >= share * (double)slot->directory.data;
    return DEDUP_OK;
}

/* Copies the needed chunks of a container to new ones, verifying each. */
static dedup_status copy_needed_chunks(collection *gc, size_t row)
{
    const dedup_row container = gc->store->rows.row[row]; /* a commit may move the rows */
    for (uint32_t i = 0; i < container.chunks; i++) {
        dedup_slot *slot;
        const unsigned char *stored;
        if (!marks_have(&gc->marks, row, i))
            continue;
        /* Again for each chunk: adding one may push the directory out of the cache. */
        dedup_status status = dedup_store_container(gc->store, container.number, &slot);
        if (status == DEDUP_OK)
            status = dedup_store_read_stored(gc->store, slot, i, &stored);
        if (status != DEDUP_OK)
            return status;
        dedup_entry entry = slot->directory.entry[i];
        dedup_digest digest = slot->directory.digest[i];
        status = dedup_store_append(gc->store, &digest, &entry, stored);
        if (status != DEDUP_OK)
            return status;
        gc->result->moved_chunks++;
    }
    return DEDUP_OK;
}

static dedup_status choose_victims(collection *gc, double share, bool dry)
{
    size_t rows = gc->store->rows.count; /* moving adds rows */
    dedup_status status = DEDUP_OK;
    gc->victims = calloc(rows + 1, sizeof *gc->victims);
    if (!gc->victims)
        return dedup_no_memory();
    for (size_t row = 0; status == DEDUP_OK && row < rows; row++) {
        bool stale;
        uint64_t number = gc->store->rows.row[row].number;
        status = container_is_stale(gc, row, share, &stale);
        if (status != DEDUP_OK || !stale)
            continue;
        if (!dry)
            status = copy_needed_chunks(gc, row);
        if (status == DEDUP_OK) {
            gc->victims[gc->count++] = number;
        } else if (status == DEDUP_DAMAGED) { /* what can still be read of it stays */
            cli_note("%s is kept: %s", dedup_container_name_of(number).text, dedup_problem_text());
            gc->result->kept_containers++;
            status = DEDUP_OK;
        }
    }
    return status;
}

/* Removes the chunks of a container from the exact index, unless they are elsewhere now, and from
 * the units. */
static dedup_status forget_container(collection *gc, uint64_t number)
{
    dedup_slot *slot;
    dedup_status status = dedup_store_container(gc->store, number, &slot);
    if (status != DEDUP_OK)
        return status;
    const dedup_directory *directory = &slot->directory;
    dedup_change *changes = calloc(directory->count + 1, sizeof *changes);
    size_t count = 0;
    if (!changes)
        return dedup_no_memory();
    for (uint32_t i = 0; status == DEDUP_OK && i < directory->count; i++) {
        dedup_location where;
        status = dedup_exact_get(gc->store->exact, &directory->digest[i], &where);
        if (status == DEDUP_OK && where.container == number)
            changes[count++] = (dedup_change){.digest = directory->digest[i], .remove = true};
        status = status == DEDUP_MISSING ? DEDUP_OK : status;
    }
    if (status == DEDUP_OK)
        status = dedup_exact_apply(gc->store->exact, changes, count);
    free(changes);
    if (status == DEDUP_OK)
        status = dedup_units_remove(&gc->store->units, directory);
    gc->result->freed_bytes += DEDUP_HEADER + directory->data +
                               dedup_data_offset(directory->count, gc->store->repo->config.hash);
    dedup_locality_remove(&gc->store->cache, slot);
    return status;
}

static void remove_rows(collection *gc)
{
    dedup_rows *rows = &gc->store->rows;
    size_t kept = 0, victim = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (victim < gc->count && rows->row[i].number == gc->victims[victim])
            victim++;
        else
            rows->row[kept++] = rows->row[i];
    }
    rows->count = kept;
}

static dedup_status unlink_victims(collection *gc)
{
    dedup_repo *repo = gc->store->repo;
    dedup_status status = dedup_repo_exclude_readers(repo);
    for (size_t i = 0; status == DEDUP_OK && i < gc->count; i++) {
        dedup_container_name name = dedup_container_name_of(gc->victims[i]);
        if (unlinkat(repo->fd, name.text, 0) != 0)
            status = dedup_problem(DEDUP_FAILED, "%s: ", name.text);
    }
    if (status == DEDUP_OK)
        status = dedup_sync_at(repo->fd, "containers");
    dedup_repo_admit_readers(repo);
    return status;
}

static dedup_status remove_victims(collection *gc)
{
    dedup_store *store = gc->store;
    dedup_status status = dedup_store_commit(store);
    /* From here on the exact index does not know the containers. If the process dies before they
     * are removed, the next writer enters them again, with all their chunks. */
    if (status == DEDUP_OK && gc->count > 0)
        status = dedup_exact_change_epoch(gc->store->exact, gc->victims, gc->count);
    if (status == DEDUP_OK)
        remove_rows(gc);
    for (size_t i = 0; status == DEDUP_OK && i < gc->count; i++)
        status = forget_container(gc, gc->victims[i]);
    if (status == DEDUP_OK && gc->copies)
        status = dedup_store_enter_again(store);
    if (status == DEDUP_OK)
        status = dedup_units_mend(&store->units);
    if (status == DEDUP_OK)
        status = dedup_units_settle(&store->units);
    if (status == DEDUP_OK)
        status = dedup_store_save(store);
    gc->result->removed_containers = gc->count;
    return status == DEDUP_OK && gc->count > 0 ? unlink_victims(gc) : status;
}

/* Marks the chunks of all archives. LMDB's file has no checksums: a chunk that the exact index does
 * not know may still be in a container, which must not be removed then. */
static dedup_status mark_chunks(collection *gc, bool dry)
{
    dedup_store *store = gc->store;
    dedup_repo *repo = store->repo;
    dedup_status status = make_marks(&gc->marks, store);
    if (status != DEDUP_OK || gc->marks.missing == 0 || dry)
        return status;
    cli_note("the exact index lacks chunks of archives; rebuilding it from the containers");
    free_marks(&gc->marks);
    dedup_store_close(store);
    status = dedup_store_open_rebuilt(store, repo);
    return status == DEDUP_OK ? make_marks(&gc->marks, store) : status;
}

/* A gc that was killed leaves chunks in two containers, of which the exact index has one. */
static dedup_status look_for_copies(collection *gc)
{
    uint64_t chunks = 0, entries, bytes;
    dedup_status status = dedup_exact_count(gc->store->exact, &entries, &bytes);
    for (size_t i = 0; i < gc->store->rows.count; i++)
        chunks += gc->store->rows.row[i].chunks;
    gc->copies = status == DEDUP_OK && chunks != entries;
    return status;
}

/* `share`: of stale bytes, from which on a container is removed. `dry`: only counts. */
static dedup_status dedup_collect(dedup_store *store, double share, bool dry,
                                  dedup_gc_result *collected)
{
    collection gc = {.store = store, .result = collected};
    *collected = (dedup_gc_result){0};
    dedup_status status = mark_chunks(&gc, dry);
    if (status != DEDUP_OK)
        return status;
    status = look_for_copies(&gc);
    if (status == DEDUP_OK)
        status = choose_victims(&gc, share, dry);
    collected->removed_containers = gc.count;
    if (status == DEDUP_OK && !dry)
        status = remove_victims(&gc);
    free_marks(&gc.marks);
    free(gc.victims);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

typedef struct request {
    double share;
    bool dry, json, quiet;
} request;

static void print_collected(const dedup_gc_result *collected, const request *asked)
{
    if (asked->json) {
        cli_json json = CLI_JSON_TO(stdout);
        cli_json_open(&json, NULL, '{');
        cli_json_count(&json, "stale_chunks", collected->stale_chunks);
        cli_json_count(&json, "moved_chunks", collected->moved_chunks);
        cli_json_count(&json, "removed_containers", collected->removed_containers);
        cli_json_count(&json, "kept_containers", collected->kept_containers);
        cli_json_count(&json, "removed_bytes", collected->freed_bytes);
        cli_json_close(&json, '}');
        return;
    }
    if (asked->quiet)
        return;
    printf("%s stale; ", dedup_amount_of(collected->stale_chunks, "chunk is", "chunks are").text);
    printf("%s %s", dedup_amount_of(collected->removed_containers, "container", "containers").text,
           asked->dry ? "would be removed\n" : "removed, ");
    if (!asked->dry)
        printf("%s moved\n", dedup_amount_of(collected->moved_chunks, "chunk", "chunks").text);
}

static dedup_status collect_garbage(void *context, dedup_repo *repo, dedup_store *store)
{
    const request *asked = context;
    dedup_gc_result collected;
    (void)repo;
    dedup_status status = dedup_collect(store, asked->share, asked->dry, &collected);
    if (status == DEDUP_OK)
        print_collected(&collected, asked);
    return status;
}

int dedup_gc(int argc, char **argv)
{
    request asked = {.share = 0.25};
    cli_option options[] = {
        {"stale", CLI_SHARE, "SHARE",
         "remove containers with this share of stale bytes (default 25%)", &asked.share},
        {"dry-run", CLI_FLAG, NULL, "only count", &asked.dry},
        DEDUP_JSON_ROW(&asked.json),
        DEDUP_QUIET_ROW(&asked.quiet),
    };
    const cli_syntax syntax = {
        .usage = "REPO [options]",
        .about =
            "Frees the space of chunks that no archive needs: removes containers with many of\n"
            "them and moves their other chunks to new containers. Readers are not disturbed;\n"
            "the old containers are removed when none is left.",
        CLI_OPTIONS(options),
        .examples = "  bloomery dedup gc /backup/repo\n"
                    "  bloomery dedup gc /backup/repo --stale 1%",
        DEDUP_ONE_REPOSITORY,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    return code == CLI_GO_ON
               ? dedup_run(argv[0], DEDUP_WRITE, DEDUP_ALL_INDEXES, collect_garbage, &asked)
               : code;
}
