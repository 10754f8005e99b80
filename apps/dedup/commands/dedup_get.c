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

static const char command[] = "dedup get";

typedef struct request {
    const char *path, *name, *folder;
    char **wanted;
    size_t count;
    bool force, quiet, json;
} request;

static bry_status walk_archive(dedup_restore *restore, const dedup_archive *archive)
{
    const dedup_walk walk = {.context = restore, .item = dedup_restore_item};
    bry_status status = dedup_manifest_walk(restore->store, &archive->root, archive->depth, &walk);
    return status == BRY_OK ? dedup_restore_end_file(restore) : status;
}

/* Counts files, to refuse a standard output that would get several. */
static bry_status count_files(void *context, const dedup_item *item)
{
    dedup_restore *restore = context;
    if (item->tag != 'E')
        return BRY_OK;
    bool wanted = restore->wanted_count == 0;
    for (size_t i = 0; i < restore->wanted_count && !wanted; i++)
        wanted = dedup_path_is_under(item->entry.path, restore->wanted[i]);
    restore->entries +=
        wanted && (item->entry.type == DEDUP_FILE || item->entry.type == DEDUP_HARDLINK);
    return BRY_OK;
}

static bry_status check_one_file(const dedup_restore *asked, const dedup_archive *archive)
{
    dedup_restore counting = *asked;
    const dedup_walk walk = {.context = &counting, .item = count_files};
    bry_status status = dedup_manifest_walk(asked->store, &archive->root, archive->depth, &walk);
    if (status == BRY_OK && counting.entries > 1)
        status = dedup_problem(BRY_E_RANGE, "that is %llu files; -C DIR restores them",
                               (unsigned long long)counting.entries);
    return status;
}

static int report_missing(const request *asked, const dedup_restore *restore)
{
    int code = CLI_YES;
    for (size_t i = 0; i < asked->count; i++)
        if (!restore->found[i]) {
            cli_note("%s: the archive does not contain it", cli_quote(asked->wanted[i]).text);
            code = CLI_NO;
        }
    return code;
}

static int report_restored(const request *asked, const dedup_restore *restore, int code)
{
    if (restore->failed)
        return cli_fail(BRY_E_BADDATA, "%s not restored correctly",
                        dedup_amount_of(restore->failed, "entry was", "entries were").text);
    if (restore->folder < 0)
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

static bool is_same_folder(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static int restore_archive(const request *asked, dedup_store *store, const dedup_archive *archive)
{
    dedup_restore restore = {.store = store,
                             .folder = -1,
                             .force = asked->force,
                             .wanted = asked->wanted,
                             .wanted_count = asked->count};
    bry_status status = dedup_restore_begin(&restore);
    if (status == BRY_OK && asked->folder) {
        if (mkdir(asked->folder, 0777) != 0 && errno != EEXIST)
            status = dedup_problem(BRY_E_IO, "%s: ", asked->folder);
        restore.folder = open(asked->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (status == BRY_OK && restore.folder < 0)
            status = dedup_problem(BRY_E_IO, "%s: ", asked->folder);
        if (status == BRY_OK && is_same_folder(restore.folder, store->repo->fd))
            status =
                dedup_problem(BRY_E_RANGE, "%s is the repository", cli_quote(asked->folder).text);
    } else if (status == BRY_OK) {
        status = check_one_file(&restore, archive);
    }
    if (status == BRY_OK)
        status = walk_archive(&restore, archive);
    int code = status == BRY_OK ? report_missing(asked, &restore) : CLI_FAILED;
    while (status == BRY_OK && dedup_restore_next_link(&restore))
        status = walk_archive(&restore, archive);
    if (status == BRY_OK)
        dedup_restore_finish(&restore);
    code = status == BRY_OK ? report_restored(asked, &restore, code) : dedup_report(status);
    if (restore.folder >= 0)
        close(restore.folder);
    dedup_restore_free(&restore);
    return code;
}

static int get_archive(const request *asked)
{
    dedup_repo repo;
    dedup_store store;
    dedup_archive archive;
    bry_status status = dedup_open(&repo, &store, asked->path, DEDUP_READ, false);
    if (status != BRY_OK)
        return dedup_report(status);
    status = dedup_find_archive(&repo, &store, asked->name, &archive);
    int code = status == BRY_OK         ? restore_archive(asked, &store, &archive)
               : status == BRY_E_NOUNIT ? (dedup_report(status), CLI_NO)
                                        : dedup_report(status);
    dedup_close(&repo, &store);
    return code;
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
    request asked = {.path = NULL};
    cli_option options[] = {
        {"C", CLI_TEXT, "DIR", "restore into this folder; without it, one file goes to stdout",
         &asked.folder, 0},
        {"force", CLI_FLAG, NULL, "replace files that exist", &asked.force, 0},
        DEDUP_JSON_ROW(&asked.json),
        DEDUP_QUIET_ROW(&asked.quiet),
    };
    const cli_syntax syntax = {
        .command = command,
        .usage = "REPO NAME [PATH...] [options]",
        .about = "Restores the archive NAME, or the given files and folders of it. Every chunk is\n"
                 "verified when it is read. Owners are restored if root runs the command.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .more =
            "A file with a damaged chunk is restored with zeros in its place and reported, and\n"
            "the exit code is 3. Exit code 1: there is no such archive, or no such path in it.",
        .examples = "  bloomery dedup get /backup/repo monday -C /tmp/restored\n"
                    "  bloomery dedup get /backup/repo monday home/me/work/notes.txt > notes.txt",
        .most_words = (size_t)-1,
        .least_words = 2,
        .missing = "a repository and the name of an archive are needed",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = dedup_check_name(command, argv[1]);
    if (code != CLI_GO_ON)
        return code;
    asked.path = argv[0];
    asked.name = argv[1];
    asked.wanted = argv + 2;
    asked.count = words - 2;
    trim_paths(asked.wanted, asked.count);
    return get_archive(&asked);
}
