/* bloomery dedup gc: frees the space of chunks that no archive needs. */
#include "apps/dedup/archive/collect.h"
#include "apps/dedup/commands/dedup_command.h"
#include "text/number_format.h"

#include <stdio.h>

static const char command[] = "dedup gc";

static void print_collected(const dedup_gc_result *collected, bool dry, bool as_json)
{
    if (as_json) {
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
    printf("%s stale; ", dedup_amount_of(collected->stale_chunks, "chunk is", "chunks are").text);
    printf("%s %s", dedup_amount_of(collected->removed_containers, "container", "containers").text,
           dry ? "would be removed\n" : "removed, ");
    if (!dry)
        printf("%s moved\n", dedup_amount_of(collected->moved_chunks, "chunk", "chunks").text);
}

int dedup_gc(int argc, char **argv)
{
    double share = 0.25;
    bool dry = false, as_json = false, quiet = false;
    cli_option options[] = {
        {"stale", CLI_SHARE, "SHARE",
         "remove containers with this share of stale bytes (default 25%)", &share, 0},
        {"dry-run", CLI_FLAG, NULL, "only count", &dry, 0},
        DEDUP_JSON_ROW(&as_json),
        DEDUP_QUIET_ROW(&quiet),
    };
    const cli_syntax syntax = {
        .command = command,
        .usage = "REPO [options]",
        .about =
            "Frees the space of chunks that no archive needs: removes containers with many of\n"
            "them and moves their other chunks to new containers. Readers are not disturbed;\n"
            "the old containers are removed when none is left.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .examples = "  bloomery dedup gc /backup/repo\n"
                    "  bloomery dedup gc /backup/repo --stale 1%",
        .most_words = 1,
        .least_words = 1,
        .missing = "missing repository",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    dedup_repo repo;
    static dedup_store store;
    dedup_gc_result collected;
    dedup_status status = dedup_open(&repo, &store, argv[0], DEDUP_WRITE, true);
    if (status != DEDUP_OK)
        return dedup_report();
    status = dedup_collect(&store, share, dry, &collected);
    dedup_close(&repo, &store);
    if (status != DEDUP_OK)
        return dedup_report();
    if (as_json || !quiet)
        print_collected(&collected, dry, as_json);
    return CLI_YES;
}
