/* bloomery map build: a new map from pairs. */
#include "cli/core/engine_option.h"
#include "cli/core/limits.h"
#include "cli/map/map_command.h"
#include "cli/map/map_remote.h"

#include <string.h>
#include <unistd.h>

/* For a pipe that is longer than what is read in advance, the map is planned for this many times
 * the lines read. Planning for twice the keys costs compact one bit per key, and kbf twice the
 * memory. */
#define PIPE_COMPACT 16u
#define PIPE_KBF 4u
#define LEAST_CAPACITY 1000u

#define LIMITS                                                                                     \
    "capacity 1 to " CLI_CAPACITY_MOST ", error " CLI_ERRORS(BRY_MAP_ERROR_MIN) ", values 1 to "

typedef struct request {
    const char *path, *like;
    char **inputs;
    size_t input_count;
    const char *engine, *layout, *delimiter;
    char between; /* key and value */
    uint64_t raw_bits, max_bytes;
    bool json, nul, force;
    cli_remote_build remote; /* options of a map on servers */
    bry_map_options map;
} request;

/* Checks --engine, --layout and combinations of options. */
static int check_map_options(request *asked)
{
    bry_map_options *map = &asked->map;
    int code = cli_engine_read(BRY_JOB_MAP, asked->engine, &map->engine);
    if (code != CLI_GO_ON)
        return code;
    if (asked->layout) {
        bool paper = strcmp(asked->layout, "paper") == 0;
        if (!paper && strcmp(asked->layout, "tuned") != 0)
            return cli_misuse("--layout: %s is neither tuned nor paper",
                              cli_quote(asked->layout).text);
        if (map->engine != BRY_ENGINE_KBF)
            return cli_misuse("--layout is for engine kbf");
        map->kbf.layout = paper ? BRY_MAP_PAPER : BRY_MAP_TUNED;
    }
    if (asked->raw_bits > BRY_MAP_VALUE_BITS_MAX)
        return cli_misuse("--raw: values have at most %u bits", BRY_MAP_VALUE_BITS_MAX);
    map->value_bits = (uint32_t)asked->raw_bits;
    if (asked->raw_bits && map->values)
        return cli_misuse("--values cannot be combined with --raw");
    if (map->fixed && map->capacity == 0)
        return cli_misuse("--fixed requires --capacity");
    bry_map_shape shape = {0};
    if (bry_map_plan(map, &shape) != BRY_OK)
        return cli_misuse(map->engine == BRY_ENGINE_KBF
                              ? "kbf takes " LIMITS CLI_KBF_VALUES_MOST
                                " or raw 1 to " CLI_KBF_BITS_MOST CLI_COMBINATIONS
                              : "compact takes " LIMITS CLI_VALUES_MOST CLI_COMBINATIONS);
    return CLI_GO_ON;
}

/* Without --capacity, the number of keys follows from the input. */
static int choose_capacity(request *asked, cli_pairs *pairs)
{
    if (asked->map.capacity)
        return CLI_GO_ON;
    unsigned factor = asked->map.engine == BRY_ENGINE_KBF ? PIPE_KBF : PIPE_COMPACT;
    int code = cli_inputs_count(&pairs->inputs, &pairs->lines, factor, &asked->map.capacity);
    if (code != CLI_GO_ON)
        return code;
    if (asked->map.capacity < LEAST_CAPACITY)
        asked->map.capacity = LEAST_CAPACITY;
    return CLI_GO_ON;
}

static int map_too_large(const cli_memory *memory)
{
    return cli_fail("the map needs more memory than --max-memory allows (%llu bytes)",
                    (unsigned long long)memory->most);
}

static int create_map(request *asked, cli_memory *memory, cli_pairs *pairs, bry_map **map)
{
    bry_status status;
    if (asked->like) {
        bry_map *other;
        int code = cli_map_load(asked->like, memory, &other, NULL);
        if (code != CLI_GO_ON)
            return code;
        status = bry_map_create_like(other, NULL, map);
        bry_map_destroy(other);
    } else {
        int code = choose_capacity(asked, pairs);
        if (code != CLI_GO_ON)
            return code;
        bry_map_options options = asked->map;
        options.allocator = &memory->allocator;
        /* kbf soon takes the planned memory, even for few keys; compact takes only what the keys
         * need. */
        bry_map_shape shape = {0};
        if (options.engine == BRY_ENGINE_KBF && bry_map_plan(&options, &shape) == BRY_OK &&
            shape.bytes > memory->most)
            return map_too_large(memory);
        status = bry_map_create(&options, map);
    }
    if (status == BRY_E_NOMEM && memory->refused)
        return map_too_large(memory);
    if (status == BRY_OK)
        return CLI_GO_ON;
    return cli_fail("%s: %s", cli_name(asked->path).text, bry_status_text(status));
}

/* The pairs of all inputs, from the first line on. */
static int open_pairs(const request *asked, cli_pairs *pairs)
{
    *pairs = (cli_pairs){.lines = CLI_LINES(STDIN_FILENO, asked->nul ? '\0' : '\n'),
                         .json = asked->json,
                         .delimiter = asked->between};
    return cli_inputs_look(&pairs->inputs, asked->inputs, asked->input_count);
}

static int build_map(request *asked)
{
    cli_memory memory;
    cli_memory_init(&memory, asked->max_bytes);
    int code = cli_target_check(asked->path, asked->force, CLI_LOCK_WAIT);
    cli_pairs pairs;
    if (code == CLI_GO_ON)
        code = open_pairs(asked, &pairs);
    if (code != CLI_GO_ON)
        return code;
    bry_map *map = NULL;
    code = create_map(asked, &memory, &pairs, &map);
    if (code == CLI_GO_ON) {
        pairs.value_bits = cli_map_options(map).value_bits;
        code = cli_map_put_all(map, &memory, CLI_MAP_FILL, &pairs);
    }
    if (code == CLI_GO_ON)
        code = cli_map_save(map, asked->path, asked->force ? NULL : CLI_EXISTS,
                            &(bry_buffer)BRY_BUFFER);
    bry_map_destroy(map);
    cli_lines_free(&pairs.lines);
    return code;
}

/* On servers the number of keys is planned from the input, too. */
static int build_remote_map(request *asked)
{
    cli_pairs pairs;
    asked->remote.url = asked->path;
    asked->remote.map = &asked->map;
    asked->remote.force = asked->force;
    int code = open_pairs(asked, &pairs);
    if (code == CLI_GO_ON && !cli_remote_continues(&asked->remote))
        code = choose_capacity(asked, &pairs);
    if (code == CLI_GO_ON)
        code = cli_remote_load(&asked->remote, &pairs);
    cli_lines_free(&pairs.lines);
    return code;
}

/* Options that are for maps in files only, or on servers only. */
static int check_build_place(const request *asked)
{
    const cli_remote_build *remote = &asked->remote;
    if (!cli_map_is_remote(asked->path)) {
        const char *name = remote->slabs    ? "slabs"
                           : remote->keyed  ? "keyed"
                           : remote->wait   ? "wait"
                           : remote->resume ? "resume"
                                            : NULL;
        return name ? cli_misuse("--%s is for maps on servers", name) : CLI_GO_ON;
    }
    const char *name = asked->like        ? "like"
                       : asked->layout    ? "layout"
                       : asked->map.fixed ? "fixed"
                       : asked->max_bytes ? "max-memory"
                                          : NULL;
    if (name)
        return cli_misuse("--%s is for maps in files", name);
    if (asked->force && cli_remote_continues(remote))
        return cli_misuse("--force cannot be combined with a build that is continued");
    return CLI_GO_ON;
}

static const char build_about_text[] =
    "Creates a map from the lines \"key<TAB>value\" of files; without INPUT, and for -, "
    "of\n"
    "standard input. The key ends at the first tab, and the value is the rest of the "
    "line.\n"
    "If a key occurs twice, the last value wins. MAP is a file, the address of a map on\n"
    "servers, or -, standard output.";
static const char build_examples_text[] =
    "  bloomery map build paths.map paths.tsv --error 1e-4\n"
    "  bloomery map build users.map -d : /etc/passwd\n"
    "  bloomery map build redis://127.0.0.1:7000/routes routes.tsv --resume state";
static const char build_more_text[] =
    "Without --capacity the lines are counted first if the inputs are files or end within\n"
    "4 MiB. A longer pipe is planned for 16 times (kbf: 4 times) the lines of its first\n"
    "4 MiB; beyond that the map grows, at some cost in speed and memory. A map in a file\n"
    "is created when everything has been read, or not at all.\n"
    "On a server, pairs are stored while they are read. With --resume, the progress is\n"
    "recorded after replicas have confirmed it (one, unless --wait says more), and the\n"
    "same command continues a build that was interrupted.";

int cli_map_build(int argc, char **argv)
{
    request asked = {.map = BRY_MAP_OPTIONS};
    cli_option options[] = {
        {"error", CLI_SHARE, "P", "permitted share of wrong answers (default 0.1%)",
         &asked.map.error},
        {"capacity", CLI_COUNT, "N", "keys to plan for (default: see below)", &asked.map.capacity},
        {"values", CLI_COUNT, "V", "distinct values to plan for (default 1000); kbf: a limit",
         &asked.map.values},
        {"engine", CLI_TEXT, "E", cli_engine_help(BRY_JOB_MAP), &asked.engine},
        {"layout", CLI_TEXT, "L", "kbf: tuned (default) or paper", &asked.layout},
        {"raw", CLI_COUNT, "BITS", "values are integers of BITS bits", &asked.raw_bits},
        {"seed", CLI_PLAIN, "S", "seed for hashing keys (default: random)", &asked.map.seed},
        {"fixed", CLI_FLAG, NULL, "refuse keys beyond --capacity instead of growing",
         &asked.map.fixed},
        /* The rows above define the shape; those below can be combined with --like. */
        {"like", CLI_TEXT, "OTHER",
         "copy shape, seed and codes of that map, to merge the two later", &asked.like},
        CLI_PAIR_DELIMITERS(&asked.delimiter),
        {"json-lines", CLI_FLAG, NULL, "lines are {\"key\": \"...\", \"value\": \"...\"}",
         &asked.json},
        {"0", CLI_FLAG, NULL, "lines end with a NUL instead of a newline", &asked.nul},
        {"force", CLI_FLAG, NULL, "replace the map if it exists", &asked.force},
        {"slabs", CLI_COUNT, "S", "on a server: number of slabs (default: planned)",
         &asked.remote.slabs},
        {"keyed", CLI_FLAG, NULL, "on a server: choose slabs with a secret key",
         &asked.remote.keyed},
        {"resume", CLI_TEXT, "FILE", "on a server: record the progress in this file, or continue",
         &asked.remote.resume},
        CLI_MAP_WAIT(&asked.remote.wait),
        CLI_MAP_MAX_MEMORY(&asked.max_bytes),
    };
    enum { SHAPING = 8 };
    bool given[sizeof options / sizeof options[0]] = {false};
    const cli_syntax syntax = {
        .usage = "MAP [INPUT...] [options]",
        .about = build_about_text,
        CLI_OPTIONS(options),
        .given = given,
        .examples = build_examples_text,
        .more = build_more_text,
        .most_words = (size_t)-1,
        CLI_MAP_FIRST_WORD,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    for (int i = 0; i < SHAPING && asked.like; i++)
        if (given[i])
            return cli_misuse("--%s cannot be combined with --like", options[i].name);
    asked.path = argv[0];
    asked.inputs = argv + 1;
    asked.input_count = words - 1;
    code = cli_pair_delimiter(asked.delimiter, asked.json, &asked.between);
    if (code != CLI_GO_ON)
        return code;
    code = check_build_place(&asked);
    if (code == CLI_GO_ON)
        code = asked.like ? CLI_GO_ON : check_map_options(&asked);
    if (code != CLI_GO_ON)
        return code;
    return cli_map_is_remote(asked.path) ? build_remote_map(&asked) : build_map(&asked);
}
