/* bloomery dedup get: an archive, or parts of it, back to files. */
#include "apps/dedup/archive/restore.h"
#include "apps/dedup/commands/dedup_command.h"
#include "text/number_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct request {
    const char *name, *dir;
    char **wanted;
    size_t count;
    bool force, quiet, json;
    int code; /* when it is restored, or not */
} request;

static dedup_status walk_archive(dedup_restore *restore, const dedup_archive *archive)
{
    const dedup_walk walk = {.context = restore, .item = dedup_restore_item};
    dedup_status status =
        dedup_manifest_walk(restore->store, &archive->root, archive->depth, &walk);
    return status == DEDUP_OK ? dedup_restore_end_file(restore) : status;
}

/* Counts files, to refuse a standard output that would get several. */
static dedup_status count_files(void *context, const dedup_item *item)
{
    dedup_restore *restore = context;
    if (item->tag != 'E')
        return DEDUP_OK;
    bool wanted = restore->wanted_count == 0;
    for (size_t i = 0; i < restore->wanted_count && !wanted; i++)
        wanted = dedup_path_is_under(item->entry.path, restore->wanted[i]);
    restore->entries +=
        wanted && (item->entry.type == DEDUP_FILE || item->entry.type == DEDUP_HARDLINK);
    return DEDUP_OK;
}

static dedup_status check_one_file(const dedup_restore *asked, const dedup_archive *archive)
{
    dedup_restore counting = *asked;
    const dedup_walk walk = {.context = &counting, .item = count_files};
    dedup_status status = dedup_manifest_walk(asked->store, &archive->root, archive->depth, &walk);
    if (status == DEDUP_OK && counting.entries > 1)
        status = dedup_problem(DEDUP_FAILED,
                               "standard output takes one file, not %llu; -C DIR restores them",
                               (unsigned long long)counting.entries);
    return status;
}

static int report_missing(const request *asked, const dedup_restore *restore)
{
    int code = CLI_YES;
    for (size_t i = 0; i < asked->count; i++)
        if (!restore->found[i]) {
            cli_note("%s: not in the archive", cli_name(asked->wanted[i]).text);
            code = CLI_NO;
        }
    return code;
}

static int report_restored(const request *asked, const dedup_restore *restore, int code)
{
    if (restore->failed)
        return cli_fail("%s not restored",
                        dedup_amount_of(restore->failed, "entry was", "entries were").text);
    if (restore->dir < 0)
        return code;
    if (asked->json) {
        cli_json json = CLI_JSON_TO(stdout);
        cli_json_open(&json, NULL, '{');
        cli_json_count(&json, "entries", restore->entries);
        cli_json_count(&json, "bytes", restore->bytes);
        cli_json_close(&json, '}');
    } else if (!asked->quiet) {
        printf("%s restored, %s\n", dedup_amount_of(restore->entries, "entry", "entries").text,
               text_size_of(restore->bytes).text);
    }
    return code;
}

static bool is_same_dir(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static int restore_archive(const request *asked, dedup_store *store, const dedup_archive *archive)
{
    dedup_restore restore = {.store = store,
                             .dir = -1,
                             .force = asked->force,
                             .wanted = asked->wanted,
                             .wanted_count = asked->count};
    dedup_status status = dedup_restore_begin(&restore);
    if (status == DEDUP_OK && asked->dir) {
        if (mkdir(asked->dir, 0777) != 0 && errno != EEXIST)
            status = dedup_problem(DEDUP_FAILED, "%s: ", cli_name(asked->dir).text);
        restore.dir = open(asked->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (status == DEDUP_OK && restore.dir < 0)
            status = dedup_problem(DEDUP_FAILED, "%s: ", cli_name(asked->dir).text);
        if (status == DEDUP_OK && is_same_dir(restore.dir, store->repo->fd))
            status =
                dedup_problem(DEDUP_FAILED, "%s: is the repository", cli_name(asked->dir).text);
    } else if (status == DEDUP_OK) {
        status = check_one_file(&restore, archive);
    }
    if (status == DEDUP_OK)
        status = walk_archive(&restore, archive);
    int code = status == DEDUP_OK ? report_missing(asked, &restore) : CLI_FAILED;
    while (status == DEDUP_OK && dedup_restore_next_link(&restore))
        status = walk_archive(&restore, archive);
    if (status == DEDUP_OK)
        dedup_restore_finish(&restore);
    code = status == DEDUP_OK ? report_restored(asked, &restore, code) : dedup_report();
    if (restore.dir >= 0)
        close(restore.dir);
    dedup_restore_free(&restore);
    return code;
}

static dedup_status get_archive(void *context, dedup_repo *repo, dedup_store *store)
{
    request *asked = context;
    dedup_archive archive;
    dedup_status status = dedup_find_archive(repo, store, asked->name, &archive);
    if (status == DEDUP_OK)
        asked->code = restore_archive(asked, store, &archive);
    return status;
}

/* Paths as they are stored: without slashes at either end. */
static void trim_paths(char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while (paths[i][0] == '/' || (paths[i][0] == '.' && paths[i][1] == '/'))
            paths[i] += paths[i][0] == '/' ? 1 : 2;
        for (size_t len = strlen(paths[i]); len > 0 && paths[i][len - 1] == '/'; len--)
            paths[i][len - 1] = 0;
    }
}

int dedup_get(int argc, char **argv)
{
    request asked = {.code = CLI_YES};
    cli_option options[] = {
        {"C", CLI_TEXT, "DIR", "restore into this directory; without it, one file goes to stdout",
         &asked.dir},
        {"force", CLI_FLAG, NULL, "replace files that exist", &asked.force},
        DEDUP_JSON_ROW(&asked.json),
        DEDUP_QUIET_ROW(&asked.quiet),
    };
    const cli_syntax syntax = {
        .usage = "REPO NAME [PATH...] [options]",
        .about =
            "Restores the archive NAME, or the given files and directories of it. Every chunk is\n"
            "verified when it is read. Owners are restored if root runs the command.",
        CLI_OPTIONS(options),
        .more =
            "A file with a damaged chunk is restored with zeros in its place and reported, and\n"
            "the exit code is 3. Exit code 1: there is no such archive, or no such path in it.",
        .examples = "  bloomery dedup get /backup/repo monday -C /tmp/restored\n"
                    "  bloomery dedup get /backup/repo monday home/me/work/notes.txt > notes.txt",
        .most_words = (size_t)-1,
        .least_words = 2,
        .missing = "missing repository or archive name",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = dedup_check_name(argv[1]);
    if (code != CLI_GO_ON)
        return code;
    asked.name = argv[1];
    asked.wanted = argv + 2;
    asked.count = words - 2;
    trim_paths(asked.wanted, asked.count);
    code = dedup_run(argv[0], DEDUP_READ, DEDUP_EXACT_INDEX, get_archive, &asked);
    return code == CLI_YES ? asked.code : code;
}
