/* bloomery map merge and map compress: whole maps. */
#include "cli/core/files/saved_file.h"
#include "cli/map/map_command.h"
#include "cli/map/map_remote.h"

#include <sys/stat.h>

/* ---- merge ---------------------------------------------------------------------------------- */

/* If a kbf map is added twice, or to itself, all its keys become unsure. */
static int check_distinct(char **paths, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct stat one, other;
        for (size_t j = 0; j < i; j++)
            if (cli_is_stream(paths[i]) && cli_is_stream(paths[j]))
                return cli_misuse("\"-\" can be given only once");
        if (stat(paths[i], &one) != 0)
            continue; /* loading it reports the error */
        for (size_t j = 0; j < i; j++)
            if (stat(paths[j], &other) == 0 && one.st_dev == other.st_dev &&
                one.st_ino == other.st_ino)
                return cli_misuse("%s is the same file as %s", cli_name(paths[i]).text,
                                  cli_name(paths[j]).text);
    }
    return CLI_GO_ON;
}

static int merge_map_file(bry_map *into, const char *path, cli_memory *memory)
{
    bry_map *from;
    int code = cli_map_load(path, memory, &from, NULL);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = bry_map_merge(into, from);
    bry_map_destroy(from);
    if (status == BRY_OK)
        return CLI_GO_ON;
    if (status == BRY_E_MISMATCH)
        return cli_fail("%s: engine, seed, shape or values differ; \"map build --like\" makes "
                        "maps that can be merged",
                        cli_name(path).text);
    return cli_map_refused(status, into, memory, cli_name(path).text);
}

int cli_map_merge(int argc, char **argv)
{
    const char *output = NULL;
    bool force = false;
    uint64_t max_bytes = 0;
    cli_option options[] = {
        {"output", CLI_TEXT, "FILE", "write the result there instead of to INTO", &output},
        {"force", CLI_FLAG, NULL, "with --output: replace FILE if it exists", &force},
        CLI_MAP_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "INTO FROM... [options]",
        .about =
            "Adds everything in the maps FROM to the map INTO, and replaces INTO. All maps need\n"
            "the same seed and shape: see map build --like.",
        CLI_OPTIONS(options),
        .examples = "  bloomery map merge a.map b.map --output all.map",
        .more = "A key that is in two of the maps gets the value of the later one with engine\n"
                "compact, and becomes unsure with kbf.",
        .most_words = (size_t)-1,
        .least_words = 2,
        .missing = "at least two files are required",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    if (force && !output)
        return cli_misuse("--force requires --output");
    for (size_t i = 0; i < words && code == CLI_GO_ON; i++)
        code = cli_map_check_file(argv[i]);
    if (code == CLI_GO_ON)
        code = check_distinct(argv, words);
    if (code == CLI_GO_ON && output)
        code = cli_target_check(output, force, CLI_LOCK_WAIT);
    if (code != CLI_GO_ON)
        return code;

    cli_memory memory;
    bry_buffer note = BRY_BUFFER;
    bry_map *into;
    code =
        (output ? cli_map_open : cli_map_open_to_change)(argv[0], max_bytes, &memory, &into, &note);
    if (code != CLI_GO_ON)
        return code;
    for (size_t i = 1; i < words && code == CLI_GO_ON; i++)
        code = merge_map_file(into, argv[i], &memory);
    if (code == CLI_GO_ON)
        code = cli_map_save(into, output ? output : argv[0], output && !force ? CLI_EXISTS : NULL,
                            &note);
    bry_map_destroy(into);
    bry_buffer_free(&note);
    return code;
}

/* ---- compress ------------------------------------------------------------------------------ */

int cli_map_compress(int argc, char **argv)
{
    double error = 0;
    uint64_t max_bytes = 0;
    cli_option options[] = {
        {"error", CLI_SHARE, "P", "limit on the sum of the errors (default: the promised error)",
         &error},
        CLI_MAP_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "MAP [options]",
        .about =
            "Makes the map as small as possible, and replaces MAP. Engine compact frees unused\n"
            "memory; kbf folds its tables in half as often as the error permits, and can then be\n"
            "merged only with maps that were folded as often.",
        CLI_OPTIONS(options),
        .examples = "  bloomery map compress paths.map --error 1%",
        .most_words = 1,
        CLI_MAP_FIRST_WORD,
    };
    size_t words;
    cli_memory memory;
    bry_buffer note = BRY_BUFFER;
    bry_map *map;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_map_check_file(argv[0]);
    if (code == CLI_GO_ON)
        code = cli_map_open_to_change(argv[0], max_bytes, &memory, &map, &note);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = bry_map_compress(map, error);
    code = status == BRY_OK ? cli_map_save(map, argv[0], NULL, &note)
                            : cli_map_refused(status, map, &memory, cli_name(argv[0]).text);
    bry_map_destroy(map);
    bry_buffer_free(&note);
    return code;
}
