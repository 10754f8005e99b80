/*
 * bloomery index unit and import: the units of a file are built separately and imported in an
 * index later. The units are saved as an index of that one file.
 */
#include "cli/core/files/saved_file.h"
#include "cli/index/index_command.h"
#include "cli/index/index_fill.h"
#include "cli/index/index_shape.h"

#include <unistd.h>

/* ---- unit ---------------------------------------------------------------------------------- */

static int ship_unit(const cli_index_shape *shape, const char *path, const char *name)
{
    cli_file_index index;
    cli_fill_options fill = {.stream = cli_is_stream(path),
                             .progress = cli_progress_start(cli_path_bytes(path), false)};
    int code = cli_index_create(&index, shape->max_bytes, &shape->options, shape->elements);
    if (code == CLI_GO_ON)
        code = cli_index_put(&index, path, name, &fill);
    cli_progress_end(&fill.progress);
    if (code == CLI_GO_ON)
        code = cli_index_save(&index, "-", NULL);
    cli_index_close(&index);
    return code;
}

int cli_index_unit(int argc, char **argv)
{
    const char *name = NULL;
    cli_index_shape shape = {.options = BRY_INDEX_OPTIONS};
    cli_option options[] = {
        CLI_INDEX_SHAPE_ROWS(&shape),
        {"name", CLI_TEXT, "NAME", "name of the file in the index (default FILE)", &name},
    };
    bool given[sizeof options / sizeof options[0]] = {false};
    const cli_syntax syntax = {
        .usage = "FILE --like INDEX [options] > UNITS",
        .about =
            "Creates the units of one file separately from the index, for example on another\n"
            "machine, and writes them to standard output, for \"index import\". If FILE is -,\n"
            "reads standard input.",
        CLI_OPTIONS(options),
        .given = given,
        .examples = "  bloomery index unit access.txt --like logs.idx --name other:access > unit",
        .more = "Instead of --like, give the --seed, --engine, --error, --units, --unit-capacity\n"
                "and so on of the index; the defaults are 64 --units and 65536 --unit-capacity.",
        .most_words = 1,
        .least_words = 1,
        .missing = "missing file name",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON && !shape.like && !shape.options.seed)
        code = cli_misuse("missing --like or --seed: units fit only an index with the same seed");
    if (code == CLI_GO_ON && cli_is_stream(argv[0]) && !name)
        code = cli_misuse("missing --name: \"-\" has no name");
    if (code == CLI_GO_ON && isatty(STDOUT_FILENO))
        code = cli_misuse("standard output is a terminal: redirect it to a file or a pipe");
    if (code == CLI_GO_ON)
        code = cli_index_shape_read(&shape, &syntax);
    return code == CLI_GO_ON ? ship_unit(&shape, argv[0], name ? name : argv[0]) : code;
}

/* ---- import -------------------------------------------------------------------------------- */

static bry_status import_unit(cli_file_index *index, const bry_index *from, cli_piece *piece)
{
    bry_buffer frames = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&frames);
    bry_status status = bry_index_save_unit(from, piece->unit, &sink, NULL);
    if (status == BRY_OK) {
        bry_view view = {frames.bytes, frames.len, 0};
        bry_source source = bry_view_source(&view);
        status = bry_index_import_unit(index->index, &source, NULL, &piece->unit);
    }
    bry_buffer_free(&frames);
    return status;
}

/* Installs a file with its units, replacing a file of the same name. */
static bry_status import_file(cli_file_index *index, const cli_file_index *shipped,
                              const cli_named_file *file)
{
    size_t number = cli_names_find(&index->names, file->name);
    if (number != CLI_NO_FILE)
        cli_index_drop(index, number);
    bry_status status = cli_names_add(&index->names, file->name, file->facts, &number);
    if (status == BRY_OK)
        index->names.files[number].apart = true;
    for (uint32_t i = 0; i < file->piece_count && status == BRY_OK; i++) {
        cli_piece piece = file->pieces[i];
        status = import_unit(index, shipped->index, &piece);
        if (status == BRY_OK) {
            piece.tag = index->names.next_tag++;
            status = bry_index_set_tag(index->index, piece.unit, piece.tag);
        }
        if (status == BRY_OK)
            status = cli_index_own(index, number, piece);
    }
    return status;
}

static int import_units(cli_file_index *index, const char *path)
{
    cli_file_index shipped;
    uint64_t left = index->memory.most - index->memory.used;
    int code = cli_index_open(&shipped, left ? left : 1, path);
    bry_status status = BRY_OK;
    bool alike =
        code != CLI_GO_ON || cli_elements_equal(shipped.names.elements, index->names.elements);
    for (size_t i = 0; code == CLI_GO_ON && alike && i < shipped.names.count && status == BRY_OK;
         i++)
        status = import_file(index, &shipped, &shipped.names.files[i]);
    cli_index_close(&shipped);
    if (!alike || status == BRY_E_MISMATCH)
        return cli_fail("%s: engine, seed, shape or elements differ from the index's; \"index unit "
                        "--like\" makes units that fit",
                        cli_name(path).text);
    return status == BRY_OK ? code : cli_index_refused(status, index, cli_name(path).text);
}

int cli_index_import(int argc, char **argv)
{
    uint64_t max_bytes = 0;
    cli_option options[] = {
        CLI_INDEX_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "INDEX UNITS... [options]",
        .about =
            "Adds units that \"index unit\" has written, replacing a file with the same name; -\n"
            "is standard input. The files of any index with the same seed and shape can be\n"
            "added this way.",
        CLI_OPTIONS(options),
        .examples = "  bloomery index import logs.idx unit",
        .most_words = (size_t)-1,
        .least_words = 2,
        .missing = "missing index or file with units",
    };
    size_t words;
    cli_file_index index = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_index_open_to_change(&index, max_bytes, argv[0]);
    for (size_t i = 1; i < words && code == CLI_GO_ON; i++)
        code = import_units(&index, argv[i]);
    if (code == CLI_GO_ON)
        code = cli_index_settle(&index);
    if (code == CLI_GO_ON)
        code = cli_index_save(&index, argv[0], NULL);
    cli_index_close(&index);
    return code;
}
