/* bloomery dedup gc: frees the space of chunks that no archive needs. */
#include "apps/dedup/archive/collect.h"
#include "apps/dedup/commands/dedup_command.h"

#include <stdio.h>

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
        .command = "dedup gc",
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
