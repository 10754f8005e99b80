/* bloomery dedup put: files and directories become an archive. */
#include "apps/dedup/archive/tree.h"
#include "apps/dedup/commands/dedup_command.h"
#include "cli/core/files/saved_file.h"
#include "text/number_format.h"
#include "text/time_parse.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct request {
    const char *path, *name, *time;
    char **given;
    size_t count;
    cli_list exclude;
    bool no_cache, json, quiet;
} request;

typedef struct put_state {
    dedup_repo repo;
    dedup_store store;
    dedup_file_cache cache;
    dedup_pipeline pipeline;
    dedup_tree tree;
    cli_progress progress;
    dedup_archive archive;
} put_state;

static void describe_put(const cli_progress *progress, double seconds)
{
    text_size read = text_size_of(progress->read);
    text_size rate = text_size_of((uint64_t)((double)progress->read / seconds));
    fprintf(stderr, "%s, %s/s, ", read.text, rate.text);
    if (progress->done)
        fprintf(stderr, "%.1f : 1", (double)progress->read / (double)progress->done);
    else
        fprintf(stderr, "nothing new");
}

static dedup_status add_paths(const request *asked, dedup_tree *tree)
{
    if (cli_is_stream(asked->given[0]))
        return dedup_tree_add_stream(tree, STDIN_FILENO, "stdin");
    return dedup_tree_add(tree, asked->given, asked->count);
}

/* The time left is shown on a terminal, for which the sizes are added up first. */
static void begin_progress(const request *asked, put_state *put)
{
    put->progress = cli_progress_start(0, false);
    put->progress.describe = describe_put;
    put->progress.on = put->progress.on && !asked->quiet;
    if (!put->progress.on || cli_is_stream(asked->given[0]))
        return;
    dedup_tree counting = {.exclude = &asked->exclude, .repository = put->tree.repository};
    if (add_paths(asked, &counting) == DEDUP_OK)
        put->progress.total = counting.bytes;
    dedup_tree_free(&counting);
}

/* Adds the counters of this put to those of the repository. */
static dedup_status add_counters(dedup_store *store)
{
    const dedup_counters *now = &store->counters;
    dedup_setting settings[] = {
        {"chunks", now->chunks},         {"new chunks", now->new_chunks},
        {"decided", now->decided},       {"cache hits", now->cache_hits},
        {"lookups", now->lookups},       {"false alarms", now->false_alarms},
        {"bytes", now->bytes},           {"new bytes", now->new_bytes},
        {"read ahead", now->read_ahead},
    };
    enum { COUNT = sizeof settings / sizeof settings[0] };
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t before;
        dedup_status status = dedup_exact_number(store->exact, settings[i].name, &before);
        if (status != DEDUP_OK)
            return status;
        settings[i].value += before;
    }
    return dedup_exact_finish(store->exact, NULL, 0, NULL, 0, settings, COUNT);
}

static dedup_status run_put(const request *asked, put_state *put)
{
    dedup_status status = dedup_pipeline_begin(&put->pipeline, &put->store, &put->cache);
    put->tree.pipeline = &put->pipeline;
    put->tree.cache = &put->cache;
    put->pipeline.progress = put->progress.on ? &put->progress : NULL;
    if (status == DEDUP_OK)
        status = add_paths(asked, &put->tree);
    if (status == DEDUP_OK)
        status = dedup_pipeline_end(&put->pipeline, &put->archive.root, &put->archive.depth);
    cli_progress_end(&put->progress);
    dedup_pipeline_free(&put->pipeline);
    if (status == DEDUP_OK)
        status = dedup_store_commit(&put->store);
    if (status == DEDUP_OK)
        status = add_counters(&put->store);
    if (status != DEDUP_OK)
        return status;
    put->archive.entries = put->tree.entries;
    put->archive.bytes = put->tree.bytes;
    put->archive.new_bytes = put->store.counters.new_bytes;
    return dedup_archive_write(&put->repo, &put->archive);
}

static void print_put_json(const put_state *put)
{
    const dedup_counters *counters = &put->store.counters;
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_bytes(&json, "archive", put->archive.name, strlen(put->archive.name));
    cli_json_count(&json, "entries", put->tree.entries);
    cli_json_count(&json, "bytes", put->tree.bytes);
    cli_json_count(&json, "unchanged_files", put->tree.cached);
    cli_json_count(&json, "skipped", put->tree.skipped);
    cli_json_count(&json, "chunks", counters->chunks);
    cli_json_count(&json, "new_chunks", counters->new_chunks);
    cli_json_count(&json, "new_bytes", counters->new_bytes);
    cli_json_count(&json, "stored_bytes", counters->stored_bytes);
    cli_json_count(&json, "decided_in_memory", counters->decided);
    cli_json_count(&json, "cache_hits", counters->cache_hits);
    cli_json_count(&json, "read_ahead", counters->read_ahead);
    cli_json_count(&json, "disk_lookups", counters->lookups);
    cli_json_count(&json, "false_alarms", counters->false_alarms);
    cli_json_count(&json, "index_bytes", bry_index_bytes(put->store.units.index));
    cli_json_close(&json, '}');
}

static void print_put(const request *asked, const put_state *put)
{
    if (asked->json) {
        print_put_json(put);
    } else if (!asked->quiet) {
        printf("%s: %s, %s; %s new, %s stored\n", put->archive.name,
               dedup_amount_of(put->tree.entries, "entry", "entries").text,
               text_size_of(put->tree.bytes).text, text_size_of(put->store.counters.new_bytes).text,
               text_size_of(put->store.counters.stored_bytes).text);
    }
}

/* Everything after the archive is complete: what fails here is rebuilt by the next put. */
static int finish_put(const request *asked, put_state *put)
{
    dedup_status status = dedup_store_save(&put->store);
    if (status == DEDUP_OK)
        status = dedup_file_cache_save(&put->cache);
    if (status != DEDUP_OK)
        cli_note("archive %s stored; saving the cache failed: %s", cli_name(asked->name).text,
                 dedup_problem_text());
    print_put(asked, put);
    if (put->tree.skipped == 0)
        return CLI_YES;
    return cli_fail("archive %s stored without %s", cli_name(asked->name).text,
                    dedup_amount_of(put->tree.skipped, "entry that cannot be read",
                                    "entries that cannot be read")
                        .text);
}

static int begin_put(const request *asked, put_state *put)
{
    dedup_archive existing;
    snprintf(put->archive.name, sizeof put->archive.name, "%s", asked->name);
    put->tree.exclude = &asked->exclude;
    clock_gettime(CLOCK_REALTIME, &put->tree.started);
    put->archive.ms =
        (uint64_t)put->tree.started.tv_sec * 1000 + (uint64_t)put->tree.started.tv_nsec / 1000000;
    if (asked->time) {
        const char *problem =
            text_parse_time(asked->time, strlen(asked->time), TEXT_S, &put->archive.ms);
        if (problem)
            return cli_misuse("--timestamp: %s %s", cli_quote(asked->time).text, problem);
    }
    dedup_status status = dedup_open(&put->repo, &put->store, asked->path, DEDUP_WRITE, true);
    if (status != DEDUP_OK)
        return dedup_report();
    status = dedup_archive_read(&put->repo, asked->name, &existing);
    if (status == DEDUP_MISSING) {
        status = fstat(put->repo.fd, &put->tree.repository) == 0
                     ? dedup_file_cache_open(&put->cache, &put->store, !asked->no_cache)
                     : dedup_problem(DEDUP_FAILED, "%s: ", cli_name(asked->path).text);
    } else if (status == DEDUP_OK || status == DEDUP_DAMAGED) {
        status = dedup_problem(DEDUP_FAILED, "archive %s: name in use", cli_name(asked->name).text);
    }
    if (status == DEDUP_OK)
        return CLI_GO_ON;
    dedup_file_cache_close(&put->cache);
    dedup_close(&put->repo, &put->store);
    return dedup_report();
}

static int put_archive(const request *asked)
{
    static put_state put; /* too large for the stack */
    int code = begin_put(asked, &put);
    if (code != CLI_GO_ON)
        return code;
    begin_progress(asked, &put);
    dedup_status status = run_put(asked, &put);
    code = status == DEDUP_OK ? finish_put(asked, &put) : dedup_report();
    dedup_tree_free(&put.tree);
    dedup_file_cache_close(&put.cache);
    dedup_close(&put.repo, &put.store);
    return code;
}

int dedup_put(int argc, char **argv)
{
    request asked = {.path = NULL};
    cli_option options[] = {
        {"exclude", CLI_LIST, "PATTERN", "leave out paths or names like this; may be repeated",
         &asked.exclude},
        {"no-cache", CLI_FLAG, NULL, "read all files, also those that have not changed",
         &asked.no_cache},
        {"timestamp", CLI_TEXT, "TIME", "the time of the archive instead of now", &asked.time},
        DEDUP_JSON_ROW(&asked.json),
        DEDUP_QUIET_ROW(&asked.quiet),
    };
    const cli_syntax syntax = {
        .usage = "REPO NAME PATH... [options]",
        .about =
            "Stores files and directories as the archive NAME, with names, modes, owners, times,\n"
            "links, holes and extended attributes. \"-\" stores standard input, as the file\n"
            "\"stdin\".",
        CLI_OPTIONS(options),
        .more =
            "Paths are stored without a leading slash. A pattern is one of the shell (* ? []);\n"
            "* also matches a slash. Files whose size, times and inode are those of the last\n"
            "put are not read again. A file that cannot be read is reported and left out, and\n"
            "the exit code is 3.",
        .examples = "  bloomery dedup put /backup/repo monday ~/work --exclude '*.o'\n"
                    "  mysqldump shop | bloomery dedup put /backup/repo shop-monday -",
        .most_words = (size_t)-1,
        .least_words = 3,
        .missing = "missing repository, archive name or path",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = dedup_check_name(argv[1]);
    if (code != CLI_GO_ON)
        return code;
    asked.path = argv[0];
    asked.name = argv[1];
    asked.given = argv + 2;
    asked.count = words - 2;
    for (size_t i = 0; i < asked.count; i++)
        if (cli_is_stream(asked.given[i]) && asked.count > 1)
            return cli_misuse("\"-\" must be the only path");
    return put_archive(&asked);
}
