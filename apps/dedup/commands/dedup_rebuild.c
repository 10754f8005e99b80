/* bloomery dedup rebuild-index: both indexes from the containers alone. */
#include "apps/dedup/commands/dedup_command.h"

#include <stdio.h>

static dedup_status rebuild_indexes(void *quiet, dedup_repo *repo, dedup_store *store)
{
    dedup_status status = dedup_store_open_rebuilt(store, repo);
    if (status == DEDUP_OK)
        status = dedup_store_save(store);
    if (status == DEDUP_OK && !*(const bool *)quiet)
        printf("%s of %s\n",
               dedup_amount_of(bry_index_items(store->units.index), "chunk", "chunks").text,
               dedup_amount_of(store->rows.count, "container", "containers").text);
    return status;
}

int dedup_rebuild(int argc, char **argv)
{
    bool quiet = false;
    cli_option options[] = {DEDUP_QUIET_ROW(&quiet)};
    const cli_syntax syntax = {
        .usage = "REPO [options]",
        .about = "Rebuilds the exact index and the index in memory from the directories of the\n"
                 "containers. Needed only when one of them is damaged or lost.",
        CLI_OPTIONS(options),
        .examples = "  bloomery dedup rebuild-index /backup/repo",
        DEDUP_ONE_REPOSITORY,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    return code == CLI_GO_ON
               ? dedup_run(argv[0], DEDUP_WRITE, DEDUP_NO_INDEX, rebuild_indexes, &quiet)
               : code;
}
