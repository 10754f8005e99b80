/* bloomery dedup rm: archives go; gc frees their space. */
#include "apps/dedup/commands/dedup_command.h"

#include <stdio.h>

static const char command[] = "dedup rm";

/* All names are checked before the first is removed. A damaged record is removed too. */
static dedup_status remove_archives(const dedup_repo *repo, char **names, size_t count)
{
    dedup_archive archive;
    dedup_status status = DEDUP_OK;
    for (size_t i = 0; status == DEDUP_OK && i < count; i++) {
        status = dedup_archive_read(repo, names[i], &archive);
        status = status == DEDUP_DAMAGED ? DEDUP_OK : status;
    }
    for (size_t i = 0; status == DEDUP_OK && i < count; i++)
        status = dedup_archive_remove(repo, names[i]);
    return status;
}

int dedup_rm(int argc, char **argv)
{
    bool quiet = false;
    cli_option options[] = {DEDUP_QUIET_ROW(&quiet)};
    const cli_syntax syntax = {
        .command = command,
        .usage = "REPO NAME... [options]",
        .about = "Removes archives. The space of chunks that no other archive needs is freed by\n"
                 "\"dedup gc\".",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .examples = "  bloomery dedup rm /backup/repo monday",
        .most_words = (size_t)-1,
        .least_words = 2,
        .missing = "missing repository or archive name",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    for (size_t i = 1; code == CLI_GO_ON && i < words; i++)
        code = dedup_check_name(command, argv[i]);
    if (code != CLI_GO_ON)
        return code;
    dedup_repo repo;
    dedup_status status = dedup_repo_open(&repo, argv[0], DEDUP_WRITE);
    if (status != DEDUP_OK)
        return dedup_report();
    status = remove_archives(&repo, argv + 1, words - 1);
    dedup_repo_close(&repo);
    if (status == DEDUP_OK && !quiet)
        printf("%s removed\n", dedup_amount_of(words - 1, "archive", "archives").text);
    if (status == DEDUP_OK)
        return CLI_YES;
    code = dedup_report();
    return status == DEDUP_MISSING ? CLI_NO : code;
}
