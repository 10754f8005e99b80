/*
 * bloomery index refresh: updates an index from its files; either completely or not at all.
 *
 * Missing files are removed from the index. But if the program runs in the wrong directory, or if a
 * disk is not mounted, all files seem to be missing, and the index would become empty. So all files
 * are checked before anything is changed, and if all of them or a whole directory are missing,
 * nothing is done without --drop-gone.
 */
#include "cli/index/index_command.h"
#include "cli/index/index_fill.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    bool all, drop_gone;
    cli_fill_options fill;
    uint64_t changes;
    bool *gone; /* by number of the file */
} request;

/* ---- what is gone -------------------------------------------------------------------------- */

static bool file_is_gone(const cli_named_file *file, cli_elements elements)
{
    cli_element_reader reader;
    bry_status status = cli_elements_open(&reader, file->name, elements, 0);
    if (status == BRY_OK)
        cli_elements_close(&reader);
    return status == BRY_E_IO && errno == ENOENT && !reader.problem;
}

/* Whether the directory of the file is missing or empty, such as the mount point of a disk that is
 * not mounted. */
static bool dir_is_gone(char *name)
{
    char *slash = strrchr(name, '/');
    if (!slash || slash == name)
        return false;
    *slash = '\0';
    DIR *dir = opendir(name);
    bool gone = !dir && (errno == ENOENT || errno == ENOTDIR);
    *slash = '/';
    if (dir) {
        unsigned entries = 0;
        while (entries < 3 && readdir(dir)) /* "." and ".." are always there */
            entries++;
        gone = entries < 3;
        closedir(dir);
    }
    return gone;
}

static int survey_files(const cli_file_index *index, request *asked)
{
    const cli_names *names = &index->names;
    size_t here = 0, gone = 0;
    char *lost = NULL;
    asked->gone = calloc(names->count + 1, sizeof *asked->gone);
    if (!asked->gone)
        return cli_no_memory();
    for (size_t i = 0; i < names->count; i++) {
        const cli_named_file *file = &names->files[i];
        if (!file->name || file->apart)
            continue;
        asked->gone[i] = file_is_gone(file, names->elements);
        here += !asked->gone[i];
        gone += asked->gone[i];
        if (asked->gone[i] && !lost && dir_is_gone(file->name))
            lost = file->name;
    }
    if (asked->drop_gone || asked->fill.skip || gone == 0)
        return CLI_GO_ON;
    if (here == 0)
        return cli_fail("all files of the index are missing; --drop-gone removes them");
    if (lost)
        return cli_fail("%s: missing, and so is everything else in its directory; --drop-gone "
                        "removes such files",
                        cli_name(lost).text);
    return CLI_GO_ON;
}

/* ---- one file ------------------------------------------------------------------------------ */

/* Whether the file is unchanged and the index has all of its elements. */
static bool file_is_fresh(const cli_file_index *index, size_t i)
{
    const cli_named_file *file = &index->names.files[i];
    cli_element_reader reader;
    if (cli_elements_open(&reader, file->name, index->names.elements, 0) != BRY_OK)
        return false;
    cli_elements_close(&reader);
    return cli_facts_equal(reader.facts, file->facts) && !cli_index_has_stale(index, i);
}

static int refresh_file(cli_file_index *index, size_t i, request *asked)
{
    const cli_named_file *file = &index->names.files[i];
    bool gone = asked->gone[i];
    if (gone && !asked->fill.skip) {
        cli_progress_end(&asked->fill.progress);
        cli_note("%s: missing; removed from the index", cli_name(file->name).text);
        cli_index_drop(index, i);
        asked->changes++;
        return CLI_GO_ON;
    }
    if (!gone && !asked->all && file_is_fresh(index, i))
        return CLI_GO_ON;
    char *name = strdup(file->name); /* the stored name is freed when the file is added */
    if (!name)
        return cli_no_memory();
    uint64_t skipped = asked->fill.skipped;
    int code = cli_index_put(index, name, name, &asked->fill); /* reports the error */
    asked->changes += asked->fill.skipped == skipped;
    free(name);
    return code;
}

static uint64_t bytes_to_read(const cli_file_index *index, const request *asked)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < index->names.count && asked->gone; i++) {
        const cli_named_file *file = &index->names.files[i];
        if (file->name && !file->apart && !asked->gone[i] &&
            (asked->all || !file_is_fresh(index, i)))
            bytes += cli_path_bytes(file->name);
    }
    return bytes;
}

static int refresh_files(cli_file_index *index, request *asked)
{
    int code = survey_files(index, asked);
    size_t count = index->names.count; /* files that are read again are appended */
    asked->fill.progress = cli_progress_start(bytes_to_read(index, asked), false);
    for (size_t i = 0; i < count && code == CLI_GO_ON; i++)
        if (index->names.files[i].name && !index->names.files[i].apart)
            code = refresh_file(index, i, asked);
    cli_progress_end(&asked->fill.progress);
    free(asked->gone);
    return code;
}

int cli_index_refresh(int argc, char **argv)
{
    uint64_t max_bytes = 0;
    request asked = {0};
    cli_option options[] = {
        {"all", CLI_FLAG, NULL, "read all files again", &asked.all},
        {"skip", CLI_FLAG, NULL, "keep files that cannot be read or are missing", &asked.fill.skip},
        {"drop-gone", CLI_FLAG, NULL, "remove files even if all, or a whole directory, are missing",
         &asked.drop_gone},
        CLI_INDEX_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "INDEX [options]",
        .about = "Reads again the files whose size or modification time has changed or from which\n"
                 "lines were deleted (index del --from), removes missing files from the index and\n"
                 "reports them, and does pending work. Files whose units were imported are not\n"
                 "changed.",
        CLI_OPTIONS(options),
        .examples = "  bloomery index refresh logs.idx\n"
                    "  bloomery index refresh logs.idx --all --skip",
        .more =
            "If all files are missing, or all files of a directory, the current directory may be\n"
            "wrong: the command fails, and INDEX is unchanged.",
        .most_words = 1,
        CLI_INDEX_FIRST_WORD,
    };
    size_t words;
    cli_file_index index = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON && asked.fill.skip && asked.drop_gone)
        code = cli_misuse("--skip and --drop-gone cannot be combined");
    if (code == CLI_GO_ON)
        code = cli_index_open_to_change(&index, max_bytes, argv[0]);
    if (code == CLI_GO_ON)
        code = refresh_files(&index, &asked);
    bry_index_stats stats = {0};
    if (code == CLI_GO_ON)
        bry_index_get_stats(index.index, &stats);
    if (code == CLI_GO_ON && !asked.changes && !stats.waiting)
        code = CLI_YES;
    if (code == CLI_GO_ON)
        code = cli_index_settle(&index);
    if (code == CLI_GO_ON)
        code = cli_index_save(&index, argv[0], NULL);
    cli_index_close(&index);
    return code;
}
