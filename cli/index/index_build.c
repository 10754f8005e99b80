/* bloomery index build: a new index of files. */
#include "cli/index/index_command.h"
#include "cli/index/index_fill.h"
#include "cli/index/index_paths.h"
#include "cli/index/index_shape.h"

#include <stdlib.h>

typedef struct request {
    const char *path;
    cli_path_options how;
    cli_paths files;
    bool force;
    cli_index_shape shape;
} request;

/* Estimates the number of elements of each file. */
static int count_all_elements(const request *asked, uint64_t *counts)
{
    for (size_t i = 0; i < asked->files.count; i++) {
        cli_element_reader reader;
        bry_status status =
            cli_elements_open(&reader, asked->files.path[i], asked->shape.elements, 0);
        counts[i] = 0;
        if (status == BRY_OK) {
            status = cli_elements_count(&reader, &counts[i]);
            cli_elements_close(&reader);
        }
        if (status != BRY_OK && !asked->how.skip)
            return cli_elements_failed(&reader, status, asked->files.path[i]);
    }
    return CLI_GO_ON;
}

/* Without --units or --unit-capacity, the shape follows from the files. */
static int fit_index_shape(request *asked)
{
    const bry_index_options *options = &asked->shape.options;
    if (asked->shape.like || (options->units && options->unit_capacity))
        return CLI_GO_ON;
    uint64_t *counts = calloc(asked->files.count + 1, sizeof *counts);
    if (!counts)
        return cli_no_memory();
    int code = count_all_elements(asked, counts);
    if (code == CLI_GO_ON)
        cli_index_shape_fit(&asked->shape, counts, asked->files.count);
    free(counts);
    return code;
}

static int build_index(request *asked)
{
    cli_file_index index;
    int code = cli_target_check(asked->path, asked->force, CLI_LOCK_WAIT);
    if (code == CLI_GO_ON)
        code = fit_index_shape(asked);
    if (code != CLI_GO_ON)
        return code;
    code = cli_index_create(&index, asked->shape.max_bytes, &asked->shape.options,
                            asked->shape.elements);
    if (code == CLI_GO_ON)
        code = cli_index_put_all(&index, asked->files.path, asked->files.count, asked->how.skip);
    if (code == CLI_GO_ON && index.names.live == 0) /* it must not replace an existing index */
        code = cli_fail(asked->files.count ? "all files were skipped; no index was created"
                                           : "no files to index");
    if (code == CLI_GO_ON)
        code = cli_index_settle(&index);
    if (code == CLI_GO_ON)
        code = cli_index_save(&index, asked->path, asked->force ? NULL : CLI_EXISTS);
    cli_index_close(&index);
    return code;
}

int cli_index_build(int argc, char **argv)
{
    request asked = {.shape = {.options = BRY_INDEX_OPTIONS}};
    cli_option options[] = {
        CLI_INDEX_SHAPE_ROWS(&asked.shape),
        CLI_FILES_ROWS(&asked.how),
        {"force", CLI_FLAG, NULL, "replace INDEX if it exists", &asked.force},
    };
    bool given[sizeof options / sizeof options[0]] = {false};
    const cli_syntax syntax = {
        .usage = "INDEX FILE... [options]",
        .about =
            "Creates an index of files: each file is a unit, and each of its lines an element. "
            "The\n"
            "index finds the files that may contain a line. With --key the elements are fields of\n"
            "the lines, with --words their words. With --whole the only element of a file is its\n"
            "whole content, and the index finds copies of a file.",
        CLI_OPTIONS(options),
        .given = given,
        .examples =
            "  bloomery index build logs.idx access-*.txt --words\n"
            "  bloomery index build logs.idx -r /var/log/nginx --key 1 -d ' '\n"
            "  find . -name '*.log' -print0 | bloomery index build logs.idx --files0-from -",
        .more =
            "Without --units or --unit-capacity the lines are counted first, and the index is\n"
            "planned for these files and a quarter more. A file with more lines than fit in a\n"
            "unit has several units. A word is a run of letters, digits and _, with . - : and @\n"
            "inside, such as 192.0.2.7. File names are stored as given, relative to the current\n"
            "directory. INDEX is created when everything has been read, or not at all.",
        .most_words = (size_t)-1,
        CLI_INDEX_FIRST_WORD,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_index_shape_read(&asked.shape, &syntax);
    if (code != CLI_GO_ON)
        return code;
    asked.path = asked.how.except = argv[0];
    code = cli_paths_read(&asked.files, &asked.how, argv + 1, words - 1);
    if (code == CLI_GO_ON)
        code = build_index(&asked);
    cli_paths_free(&asked.files);
    return code;
}
