/* bloomery index add and del: change an index; either all changes are made or none. */
#include "cli/core/files/saved_file.h"
#include "cli/index/index_command.h"
#include "cli/index/index_fill.h"
#include "cli/index/index_paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- add ----------------------------------------------------------------------------------- */

int cli_index_add(int argc, char **argv)
{
    cli_path_options how = {0};
    uint64_t max_bytes = 0;
    cli_option options[] = {
        CLI_FILES_ROWS(&how),
        CLI_INDEX_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "INDEX FILE... [options]",
        .about = "Adds files. A file that is in the index already, under the same name, is read\n"
                 "again and replaced.",
        CLI_OPTIONS(options),
        .examples = "  bloomery index add logs.idx access-new.txt\n"
                    "  bloomery index add logs.idx -r logs --skip",
        .more = "Beyond the planned number of units, engine dba stays within its error by\n"
                "reading its files again: they must exist and be unchanged.",
        .most_words = (size_t)-1,
        CLI_INDEX_FIRST_WORD,
    };
    size_t words;
    cli_paths files = {0};
    cli_file_index index = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    how.except = argv[0];
    if (code == CLI_GO_ON)
        code = cli_paths_read(&files, &how, argv + 1, words - 1);
    if (code == CLI_GO_ON)
        code = cli_index_open_to_change(&index, max_bytes, argv[0]);
    if (code == CLI_GO_ON)
        code = cli_index_put_all(&index, files.path, files.count, how.skip);
    if (code == CLI_GO_ON)
        code = cli_index_settle(&index);
    if (code == CLI_GO_ON)
        code = cli_index_save(&index, argv[0], NULL);
    cli_index_close(&index);
    cli_paths_free(&files);
    return code;
}

/* ---- del ----------------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t gone, absent;
} tally;

static void del_file(cli_file_index *index, const char *name, tally *count)
{
    size_t file = cli_names_find(&index->names, name);
    if (file == CLI_NO_FILE) {
        cli_note("%s: not in the index", cli_name(name).text);
        count->absent++;
        return;
    }
    cli_index_drop(index, file);
    count->gone++;
}

/* The element is in at most one of the file's units. */
static bry_status del_element(cli_file_index *index, size_t file, cli_text key, tally *count)
{
    cli_named_file *from = &index->names.files[file];
    bry_hash hash = bry_hash_key(bry_index_seed(index->index), key.bytes, key.len);
    bool any = false;
    for (uint32_t i = 0; i < from->piece_count; i++) {
        bry_answer was;
        bry_status status = bry_index_del(index->index, hash, from->pieces[i].unit, &was);
        if (status != BRY_OK)
            return status;
        any |= was == BRY_PRESENT;
    }
    if (any && !cli_index_has_stale(index, file)) /* dba records that itself */
        from->facts.changed = CLI_LINES_DELETED;
    count->gone += any;
    count->absent += !any;
    return BRY_OK;
}

/* Lines of one file that are to be deleted. */
typedef struct line_deletion {
    cli_file_index *index;
    size_t file;
    tally *count;
} line_deletion;

static int del_element_line(void *context, cli_text line, const cli_lines *lines)
{
    const line_deletion *from = context;
    bry_status status = del_element(from->index, from->file, line, from->count);
    return status == BRY_OK
               ? CLI_GO_ON
               : cli_index_refused(status, from->index, cli_lines_place(lines, lines->number).text);
}

static int del_elements(cli_file_index *index, const char *name, char **keys, size_t n, char end,
                        tally *count)
{
    size_t file = cli_names_find(&index->names, name);
    if (index->names.elements.kind == CLI_ELEMENT_WHOLE)
        return cli_misuse("--from: an index of whole files has one element per file");
    if (file == CLI_NO_FILE) {
        cli_note("%s: not in the index", cli_name(name).text);
        return CLI_NO;
    }
    if (n == 0)
        return cli_take_lines(end, del_element_line, &(line_deletion){index, file, count});
    for (size_t i = 0; i < n; i++) {
        bry_status status = del_element(index, file, (cli_text){keys[i], strlen(keys[i])}, count);
        if (status != BRY_OK)
            return cli_index_refused(status, index, cli_quote(keys[i]).text);
    }
    return CLI_GO_ON;
}

int cli_index_del(int argc, char **argv)
{
    const char *from = NULL;
    bool nul = false;
    uint64_t max_bytes = 0;
    size_t plain_words;
    cli_option options[] = {
        {"from", CLI_TEXT, "FILE", "delete lines of this file instead", &from},
        {"0", CLI_FLAG, NULL, "with --from: keys end with a NUL instead of a newline", &nul},
        CLI_INDEX_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "INDEX FILE... [options]\n       bloomery index del INDEX --from FILE [KEY...]",
        .about =
            "Removes files from the index. With --from, deletes lines of one file; without KEY, "
            "and\n"
            "for -, it reads them from standard input. Delete only lines that the file contained\n"
            "when it was read.",
        CLI_OPTIONS(options),
        .examples = "  bloomery index del logs.idx access-old.txt\n"
                    "  bloomery index del logs.idx --from access.txt 192.0.2.7",
        .more =
            "Engine compact deletes a line immediately. Engine dba counts it as stale: it is\n"
            "still found until the file is read again (by index refresh, or by index add of any\n"
            "file when a quarter is stale). Lines that the file still contains then return.\n"
            "Exit codes: 0 all were present, 1 some were not, 3 failure (INDEX is unchanged).",
        .most_words = (size_t)-1,
        .plain_words = &plain_words,
        CLI_INDEX_FIRST_WORD,
    };
    size_t words;
    cli_file_index index = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON && !from && words < 2)
        code = cli_misuse("missing file name");
    if (code == CLI_GO_ON && from)
        code = cli_keys_given(&syntax, argv, &words, "keys");
    if (code == CLI_GO_ON && nul && (!from || words > 1))
        code = cli_misuse("-0 is for keys on standard input");
    if (code == CLI_GO_ON)
        code = cli_index_open_to_change(&index, max_bytes, argv[0]);
    tally count = {0};
    if (code == CLI_GO_ON && from)
        code = del_elements(&index, from, argv + 1, words - 1, nul ? '\0' : '\n', &count);
    for (size_t i = 1; i < words && code == CLI_GO_ON && !from; i++)
        del_file(&index, argv[i], &count);
    if (code == CLI_GO_ON)
        code = count.gone == 0 ? CLI_YES : from ? cli_index_tidy(&index) : cli_index_settle(&index);
    if (code == CLI_GO_ON)
        code = cli_index_save(&index, argv[0], NULL);
    cli_index_close(&index);
    return code == CLI_YES && count.absent ? CLI_NO : code;
}
