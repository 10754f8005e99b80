/* bloomery dedup prune: keeps the newest archives, and one of each day, week and month. */
#include "apps/dedup/commands/dedup_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAST, DAILY, WEEKLY, MONTHLY, RULES };

typedef struct request {
    uint64_t keep[RULES];
    bool dry_run, json, quiet;
} request;

/* A number that is the same for all times of one day, week or month, in the local time zone. */
static long period_of(const dedup_archive *archive, int rule, size_t position)
{
    struct tm parts;
    time_t seconds = (time_t)(archive->ms / 1000);
    char text[16];
    if (rule == LAST || !localtime_r(&seconds, &parts))
        return (long)position;
    /* ISO weeks, which begin on a Monday */
    strftime(text, sizeof text, rule == DAILY ? "%Y%j" : rule == WEEKLY ? "%G%V" : "%Y%m", &parts);
    return strtol(text, NULL, 10);
}

/* Marks what a rule keeps: the newest archive in each of the newest periods. An archive that an
 * earlier rule keeps does not count, so that rules add up. */
static void apply_rule(const dedup_archive *archives, size_t count, int rule, uint64_t keep,
                       bool *kept)
{
    long last = -1;
    for (size_t i = count; i-- > 0 && keep > 0;) {
        long period = period_of(&archives[i], rule, i);
        if (period == last)
            continue;
        last = period;
        if (!kept[i]) {
            kept[i] = true;
            keep--;
        }
    }
}

static void print_pruned(const request *asked, const dedup_archive *archives, size_t count,
                         const bool *kept)
{
    if (asked->json) {
        cli_json json = CLI_JSON_TO(stdout);
        cli_json_open(&json, NULL, '{');
        for (int keeps = 1; keeps >= 0; keeps--) {
            cli_json_open(&json, keeps ? "kept" : "removed", '[');
            for (size_t i = 0; i < count; i++)
                if (kept[i] == keeps)
                    cli_json_bytes(&json, NULL, archives[i].name, strlen(archives[i].name));
            cli_json_close(&json, ']');
        }
        cli_json_close(&json, '}');
        return;
    }
    for (size_t i = 0; !asked->quiet && i < count; i++)
        printf("%s  %s  %s\n", kept[i] ? "keep  " : "remove",
               dedup_time_of((int64_t)(archives[i].ms / 1000)).text, archives[i].name);
}

static dedup_status prune_archives(void *context, dedup_repo *repo, dedup_store *store)
{
    const request *asked = context;
    dedup_archive *archives;
    size_t count;
    (void)store;
    dedup_status status = dedup_archive_list(repo, &archives, &count, NULL, NULL);
    if (status != DEDUP_OK)
        return status;
    bool *kept = calloc(count + 1, sizeof *kept);
    if (!kept)
        status = dedup_no_memory();
    for (int rule = 0; status == DEDUP_OK && rule < RULES; rule++)
        apply_rule(archives, count, rule, asked->keep[rule], kept);
    for (size_t i = 0; status == DEDUP_OK && !asked->dry_run && i < count; i++)
        if (!kept[i])
            status = dedup_archive_remove(repo, archives[i].name);
    if (status == DEDUP_OK)
        print_pruned(asked, archives, count, kept);
    free(kept);
    free(archives);
    return status;
}

int dedup_prune(int argc, char **argv)
{
    request asked = {.dry_run = false};
    cli_option options[] = {
        {"keep-last", CLI_PLAIN, "N", "keep the N newest archives", &asked.keep[LAST]},
        {"keep-daily", CLI_PLAIN, "N", "keep the newest archive of N days", &asked.keep[DAILY]},
        {"keep-weekly", CLI_PLAIN, "N", "of N weeks", &asked.keep[WEEKLY]},
        {"keep-monthly", CLI_PLAIN, "N", "of N months", &asked.keep[MONTHLY]},
        {"dry-run", CLI_FLAG, NULL, "only print what would be removed", &asked.dry_run},
        DEDUP_JSON_ROW(&asked.json),
        DEDUP_QUIET_ROW(&asked.quiet),
    };
    const cli_syntax syntax = {
        .usage = "REPO --keep-... N [options]",
        .about = "Removes archives that no rule keeps. Rules apply in the order below; an archive\n"
                 "that one has kept does not count for the next. Days, weeks (from Monday) and\n"
                 "months are those of the local time zone. \"dedup gc\" frees the space.",
        CLI_OPTIONS(options),
        .examples = "  bloomery dedup prune /backup/repo --keep-daily 7 --keep-weekly 4",
        DEDUP_ONE_REPOSITORY,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    if (!asked.keep[LAST] && !asked.keep[DAILY] && !asked.keep[WEEKLY] && !asked.keep[MONTHLY])
        return cli_misuse("missing --keep- option: everything would be removed");
    return dedup_run(argv[0], DEDUP_WRITE, DEDUP_NO_INDEX, prune_archives, &asked);
}
