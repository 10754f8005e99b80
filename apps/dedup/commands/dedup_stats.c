/* bloomery dedup stats: sizes, ratios, and what the indexes did. */
#include "apps/dedup/commands/dedup_command.h"
#include "text/number_format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNKS, NEW_CHUNKS, DECIDED, CACHE_HITS, READ_AHEAD, LOOKUPS, FALSE_ALARMS, COUNTERS };
static const char *const counter_names[COUNTERS] = {
    "chunks", "new chunks", "decided", "cache hits", "read ahead", "lookups", "false alarms"};

typedef struct figures {
    uint64_t archives, logical; /* bytes of all files of all archives */
    uint64_t containers, chunks;
    uint64_t raw[3], stored[3]; /* bytes, by the kind of chunk */
    uint64_t data_chunks; /* of files */
    uint64_t container_bytes, exact_bytes, exact_chunks, units_bytes, cache_bytes;
    bry_index_stats index;
    uint64_t counted[COUNTERS]; /* by all puts */
} figures;

static uint64_t dir_bytes(const dedup_repo *repo, const char *name)
{
    dedup_names names;
    uint64_t bytes = 0;
    int dir = openat(repo->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int copy = dir < 0 ? -1 : dup(dir);
    if (copy >= 0 && dedup_names_read(copy, name, &names) == DEDUP_OK) {
        struct stat facts;
        for (size_t i = 0; i < names.count; i++)
            if (fstatat(dir, names.name[i], &facts, 0) == 0)
                bytes += (uint64_t)facts.st_size;
        dedup_names_free(&names);
    }
    if (dir >= 0)
        close(dir);
    return bytes;
}

static dedup_status add_container_figures(dedup_store *store, uint64_t number, figures *all)
{
    dedup_directory directory;
    dedup_status status =
        dedup_directory_of(store->repo->fd, number, store->repo->config.hash, &directory);
    if (status != DEDUP_OK)
        return status;
    for (uint32_t i = 0; i < directory.count; i++) {
        const dedup_entry *entry = &directory.entry[i];
        all->raw[entry->kind] += entry->raw;
        all->stored[entry->kind] += entry->stored;
        all->data_chunks += entry->kind == DEDUP_DATA;
    }
    all->chunks += directory.count;
    all->container_bytes += DEDUP_HEADER + directory.data +
                            dedup_data_offset(directory.count, store->repo->config.hash);
    dedup_directory_free(&directory);
    return DEDUP_OK;
}

static dedup_status collect_figures(dedup_store *store, figures *all)
{
    dedup_archive *archives;
    size_t count;
    dedup_status status = dedup_archive_list(store->repo, &archives, &count, NULL, NULL);
    if (status != DEDUP_OK)
        return status;
    all->archives = count;
    for (size_t i = 0; i < count; i++)
        all->logical += archives[i].bytes;
    free(archives);
    all->containers = store->rows.count;
    for (size_t i = 0; status == DEDUP_OK && i < store->rows.count; i++)
        status = add_container_figures(store, store->rows.row[i].number, all);
    for (size_t i = 0; status == DEDUP_OK && i < COUNTERS; i++)
        status = dedup_exact_number(store->exact, counter_names[i], &all->counted[i]);
    if (status == DEDUP_OK)
        status = dedup_exact_count(store->exact, &all->exact_chunks, &all->exact_bytes);
    all->units_bytes = dir_bytes(store->repo, "units");
    all->cache_bytes = dir_bytes(store->repo, "cache");
    all->index = (bry_index_stats){0};
    if (status == DEDUP_OK)
        bry_index_get_stats(store->units.index, &all->index);
    return status;
}

static double quotient(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static void print_figures_json(const figures *all)
{
    uint64_t duplicates = all->counted[CHUNKS] - all->counted[NEW_CHUNKS];
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_count(&json, "archives", all->archives);
    cli_json_count(&json, "logical_bytes", all->logical);
    cli_json_count(&json, "containers", all->containers);
    cli_json_count(&json, "chunks", all->chunks);
    cli_json_count(&json, "data_chunks", all->data_chunks);
    cli_json_count(&json, "data_bytes", all->raw[DEDUP_DATA]);
    cli_json_count(&json, "data_stored_bytes", all->stored[DEDUP_DATA]);
    cli_json_count(&json, "manifest_bytes", all->raw[DEDUP_ITEMS] + all->raw[DEDUP_TREE]);
    cli_json_count(&json, "manifest_stored_bytes",
                   all->stored[DEDUP_ITEMS] + all->stored[DEDUP_TREE]);
    cli_json_count(&json, "container_bytes", all->container_bytes);
    cli_json_count(&json, "exact_index_bytes", all->exact_bytes);
    cli_json_count(&json, "saved_index_bytes", all->units_bytes);
    cli_json_count(&json, "file_cache_bytes", all->cache_bytes);
    cli_json_open(&json, "index", '{');
    cli_json_text(&json, "engine", bry_engine_name(all->index.engine));
    cli_json_count(&json, "units", all->index.units);
    cli_json_count(&json, "promised_units", all->index.promised_units);
    cli_json_count(&json, "elements", all->index.elements);
    cli_json_count(&json, "stale", all->index.dba.stale);
    cli_json_count(&json, "bytes", all->index.bytes);
    cli_json_number(&json, "bytes_per_chunk", quotient(all->index.bytes, all->chunks));
    cli_json_number(&json, "promised_error", all->index.promised_error);
    cli_json_number(&json, "estimated_error", all->index.estimated_error);
    cli_json_close(&json, '}');
    cli_json_open(&json, "puts", '{');
    cli_json_count(&json, "chunks", all->counted[CHUNKS]);
    cli_json_count(&json, "new_chunks", all->counted[NEW_CHUNKS]);
    cli_json_count(&json, "decided_in_memory", all->counted[DECIDED]);
    cli_json_count(&json, "duplicates", duplicates);
    cli_json_count(&json, "cache_hits", all->counted[CACHE_HITS]);
    cli_json_count(&json, "read_ahead", all->counted[READ_AHEAD]);
    cli_json_count(&json, "disk_lookups", all->counted[LOOKUPS]);
    cli_json_count(&json, "false_alarms", all->counted[FALSE_ALARMS]);
    cli_json_close(&json, '}');
    cli_json_close(&json, '}');
}

static void print_figures(const figures *all)
{
    uint64_t raw = all->raw[0] + all->raw[1] + all->raw[2];
    uint64_t duplicates = all->counted[CHUNKS] - all->counted[NEW_CHUNKS];
    printf("archives          %llu, %s\n", (unsigned long long)all->archives,
           text_size_of(all->logical).text);
    printf("chunks            %llu, %s; %.0f bytes on average\n", (unsigned long long)all->chunks,
           text_size_of(raw).text, quotient(all->raw[DEDUP_DATA], all->data_chunks));
    printf("containers        %llu, %s\n", (unsigned long long)all->containers,
           text_size_of(all->container_bytes).text);
    printf("deduplication     %.2f : 1, with compression %.2f : 1\n", quotient(all->logical, raw),
           quotient(all->logical, all->container_bytes));
    printf("index in memory   %s (%s), %.2f bytes per chunk, %u units\n",
           text_size_of(all->index.bytes).text, bry_engine_name(all->index.engine),
           quotient(all->index.bytes, all->chunks), all->index.units);
    printf("exact index       %s on disk\n", text_size_of(all->exact_bytes).text);
    printf("new chunks        %.3f%% of %llu decided in memory\n",
           100 * quotient(all->counted[DECIDED], all->counted[NEW_CHUNKS]),
           (unsigned long long)all->counted[NEW_CHUNKS]);
    printf("duplicates        %.2f%% of %llu confirmed from the cache, %.2f%% by reading ahead\n",
           100 * quotient(all->counted[CACHE_HITS], duplicates), (unsigned long long)duplicates,
           100 * quotient(all->counted[READ_AHEAD], duplicates));
    printf("disk look-ups     %llu, of which %llu false alarms\n",
           (unsigned long long)all->counted[LOOKUPS],
           (unsigned long long)all->counted[FALSE_ALARMS]);
}

static dedup_status print_stats(void *as_json, dedup_repo *repo, dedup_store *store)
{
    figures all = {.archives = 0};
    (void)repo;
    dedup_status status = collect_figures(store, &all);
    if (status == DEDUP_OK)
        (*(const bool *)as_json ? print_figures_json : print_figures)(&all);
    return status;
}

int dedup_stats(int argc, char **argv)
{
    bool as_json = false;
    cli_option options[] = {DEDUP_JSON_ROW(&as_json)};
    const cli_syntax syntax = {
        .usage = "REPO [options]",
        .about = "Prints sizes of a repository and its indexes, and what the puts so far have\n"
                 "counted: how many chunks were new, and how that was found out.",
        CLI_OPTIONS(options),
        .examples = "  bloomery dedup stats /backup/repo",
        DEDUP_ONE_REPOSITORY,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    return code == CLI_GO_ON
               ? dedup_run(argv[0], DEDUP_READ, DEDUP_ALL_INDEXES, print_stats, &as_json)
               : code;
}
