/* bloomery dedup rm: archives go; gc frees their space. */
#include "apps/dedup/commands/dedup_command.h"

#include <stdio.h>

static const char command[] = "dedup rm";

/* All names are checked before the first is removed. A damaged record is removed too. */
static bry_status remove_archives(const dedup_repo *repo, char **names, size_t count)
{
    dedup_archive archive;
    bry_status status = BRY_OK;
    for (size_t i = 0; status == BRY_OK && i < count; i++) {
        status = dedup_archive_read(repo, names[i], &archive);
        status = status == BRY_E_BADDATA ? BRY_OK : status;
    }
    for (size_t i = 0; status == BRY_OK && i < count; i++)
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
        .missing = "a repository and the name of an archive are needed",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    for (size_t i = 1; code == CLI_GO_ON && i < words; i++)
        code = dedup_check_name(command, argv[i]);
    if (code != CLI_GO_ON)
        return code;
    dedup_repo repo;
    bry_status status = dedup_repo_open(&repo, argv[0], DEDUP_WRITE);
    if (status != BRY_OK)
        return dedup_report(status);
    status = remove_archives(&repo, argv + 1, words - 1);
    dedup_repo_close(&repo);
    if (status == BRY_OK && !quiet)
        printf("%s removed\n", dedup_amount_of(words - 1, "archive", "archives").text);
    if (status == BRY_OK)
        return CLI_YES;
    code = dedup_report(status);
    return status == BRY_E_NOUNIT ? CLI_NO : code;
}
