/* bloomery dedup rebuild-index: both indexes from the containers alone. */
#include "apps/dedup/commands/dedup_command.h"
#include "apps/dedup/store/rebuild.h"

#include <stdio.h>

static const char command[] = "dedup rebuild-index";

int dedup_rebuild(int argc, char **argv)
{
    bool quiet = false;
    cli_option options[] = {DEDUP_QUIET_ROW(&quiet)};
    const cli_syntax syntax = {
        .command = command,
        .usage = "REPO [options]",
        .about = "Rebuilds the exact index and the index in memory from the directories of the\n"
                 "containers. Needed only when one of them is damaged or lost.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .examples = "  bloomery dedup rebuild-index /backup/repo",
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
    dedup_status status = dedup_repo_open(&repo, argv[0], DEDUP_WRITE);
    if (status != DEDUP_OK)
        return dedup_report();
    status = dedup_rebuild_open(&store, &repo);
    if (status == DEDUP_OK) {
        status = dedup_store_save(&store);
        if (status == DEDUP_OK && !quiet)
            printf("%s of %s\n",
                   dedup_amount_of(bry_index_items(store.units.index), "chunk", "chunks").text,
                   dedup_amount_of(store.rows.count, "container", "containers").text);
        dedup_store_close(&store);
    }
    dedup_repo_close(&repo);
    return status == DEDUP_OK ? CLI_YES : dedup_report();
}
