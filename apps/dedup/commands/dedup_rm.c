/* bloomery dedup rm: archives go; gc frees their space. */
#include "apps/dedup/commands/dedup_command.h"

#include <stdio.h>

typedef struct request {
    char **names;
    size_t count;
    bool quiet;
} request;

/* All names are checked before the first is removed. A damaged record is removed too. */
static dedup_status remove_archives(void *context, dedup_repo *repo, dedup_store *store)
{
    const request *asked = context;
    dedup_archive archive;
    dedup_status status = DEDUP_OK;
    (void)store;
    for (size_t i = 0; status == DEDUP_OK && i < asked->count; i++) {
        status = dedup_archive_read(repo, asked->names[i], &archive);
        status = status == DEDUP_DAMAGED ? DEDUP_OK : status;
    }
    for (size_t i = 0; status == DEDUP_OK && i < asked->count; i++)
        status = dedup_archive_remove(repo, asked->names[i]);
    if (status == DEDUP_OK && !asked->quiet)
        printf("%s removed\n", dedup_amount_of(asked->count, "archive", "archives").text);
    return status;
}

int dedup_rm(int argc, char **argv)
{
    request asked = {.names = argv + 1};
    cli_option options[] = {DEDUP_QUIET_ROW(&asked.quiet)};
    const cli_syntax syntax = {
        .usage = "REPO NAME... [options]",
        .about = "Removes archives. The space of chunks that no other archive needs is freed by\n"
                 "\"dedup gc\".",
        CLI_OPTIONS(options),
        .examples = "  bloomery dedup rm /backup/repo monday",
        .most_words = (size_t)-1,
        .least_words = 2,
        .missing = "missing repository or archive name",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    for (size_t i = 1; code == CLI_GO_ON && i < words; i++)
        code = dedup_check_name(argv[i]);
    asked.count = words - 1;
    return code == CLI_GO_ON
               ? dedup_run(argv[0], DEDUP_WRITE, DEDUP_NO_INDEX, remove_archives, &asked)
               : code;
}
