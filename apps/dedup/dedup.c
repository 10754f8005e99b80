/*
 * bloomery-dedup, which is `bloomery dedup`: a deduplicating store for backups. Each subcommand opens
 * a repository, does one thing and prints what it did.
 */
#include "apps/dedup/commands/dedup_command.h"

#include <signal.h>
#include <sys/resource.h>

const char cli_program[] = "bloomery"; /* messages and help name the command */

static const cli_command commands[] = {
    {"init", "creates a repository", .run = dedup_init},
    {"put", "stores files and directories as an archive", .run = dedup_put},
    {"get", "restores an archive, or parts of it", .run = dedup_get},
    {"ls", "lists archives, or what one contains", .run = dedup_ls},
    {"rm", "removes archives", .run = dedup_rm},
    {"prune", "removes archives by their age", .run = dedup_prune},
    {"gc", "frees the space of removed archives", .run = dedup_gc},
    {"check", "verifies a repository, and repairs it", .run = dedup_check},
    {"stats", "prints sizes, ratios and counters", .run = dedup_stats},
    {"rebuild-index", "rebuilds both indexes from the containers", .run = dedup_rebuild},
};

static const cli_group group = {
    .usage = "COMMAND REPO [options]",
    .about = "A deduplicating store for backups: files are cut into chunks where their content\n"
             "says so, and each chunk is stored once. An index in memory, of a few bytes per\n"
             "chunk, recognizes new chunks without a disk access.",
    CLI_COMMANDS(commands),
    .is_program = true,
    .more = "\"bloomery help dedup COMMAND\" lists the options of a command. A repository is a\n"
            "directory. An archive that \"put\" has reported as stored survives any crash.",
    .examples = "  bloomery dedup init /backup/repo\n"
                "  bloomery dedup put /backup/repo monday ~/work\n"
                "  bloomery dedup get /backup/repo monday -C /tmp/restored",
};

static int run_dedup(int argc, char **argv)
{
    /* A directory stays open for each level of a tree. */
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGXFSZ, SIG_IGN); /* a file that is too large is a failed write like any other */
    return cli_run_group(&group, argc, argv);
}

int main(int argc, char **argv)
{
    cli_enter("dedup");
    return cli_main(argc, argv, run_dedup);
}
