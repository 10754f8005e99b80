#include "seen_window.h"

#include "args.h"
#include "output.h"
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Lines to plan for where nothing is said. Engine compact takes memory for what it holds alone, and
 * log2(planned / held) bits a line more than one that was planned for as many; so it is planned for
 * plenty. fbf takes what it is planned for.
 */
#define COMPACT_LINES ((uint64_t)1 << 24)
#define FBF_LINES ((uint64_t)1 << 20)
#define MOST_LINES ((uint64_t)1 << 40)

#define DEFAULT_ERROR 1e-6

enum { LOOK = 64 * 1024 };

/* About so many lines has the file on standard input, by the length of its first ones, and a
 * quarter more; 0: it is none, or cannot be told. */
static uint64_t estimate_lines(void)
{
    struct stat facts;
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (at < 0 || fstat(STDIN_FILENO, &facts) != 0 || !S_ISREG(facts.st_mode) ||
        facts.st_size <= at)
        return 0;
    char *look = malloc(LOOK);
    ssize_t got = look ? pread(STDIN_FILENO, look, LOOK, at) : 0;
    uint64_t lines = 0;
    for (ssize_t i = 0; i < got; i++)
        lines += look[i] == '\n' || look[i] == '\0';
    free(look);
    if (got <= 0 || lines == 0)
        return 0;
    return (uint64_t)((double)(facts.st_size - at) / (double)got * (double)lines * 1.25);
}

static int create(const seen_request *asked, const char *command, cli_memory *memory,
                  bry_window **window)
{
    bry_window_options options = asked->window;
    bool fbf = options.engine == BRY_ENGINE_FBF;
    if (options.window == 0) {
        options.window = SEEN_FOREVER;
        options.generations = 1; /* nothing is ever forgotten, so nothing is kept apart for it */
    }
    if (options.capacity == 0) {
        uint64_t lines = fbf ? 0 : estimate_lines(), least = fbf ? FBF_LINES : COMPACT_LINES;
        options.capacity = lines < least ? least : lines > MOST_LINES ? MOST_LINES : lines;
    }
    if (options.error == 0)
        options.error = DEFAULT_ERROR;
    options.allocator = &memory->allocator;
    bry_window_shape shape;
    bry_status status = bry_window_plan(&options, &shape);
    if (status == BRY_E_RANGE) {
        bry_window_options free_of = options;
        free_of.max_bytes = 0;
        if (options.max_bytes && bry_window_plan(&free_of, &shape) == BRY_OK)
            return cli_misuse(command, "--max-bytes: a window takes at least %llu",
                              (unsigned long long)shape.bytes_empty);
        return cli_misuse(command,
                          "windows take times up to 2^52 ms, capacities up to 2^40, errors "
                          "from 1e-12 to 0.5, and not every combination of these");
    }
    if (status == BRY_OK)
        status = bry_window_create(&options, window);
    return status == BRY_OK ? CLI_GO_ON : cli_fail(status, "%s", bry_status_text(status));
}

/* ---- the state ----------------------------------------------------------------------------- */

static int differs(const char *path, const char *option, const char *has)
{
    return cli_fail(BRY_E_MISMATCH, "%s: it was made with %s %s", cli_quote(path).text, option,
                    has);
}

static int differs_number(const char *path, const char *option, uint64_t has, const char *unit)
{
    char text[40];
    snprintf(text, sizeof text, "%llu%s", (unsigned long long)has, unit);
    return differs(path, option, text);
}

/* Whether the window in the state is what this run asks for: what was not asked for is what it
 * has, but for the time, which would otherwise be forgotten without a word. */
static int check_state(const seen_request *asked, const bry_window *window)
{
    const bry_window_options *wants = &asked->window;
    bry_window_options has = bry_window_options_like(window);
    uint64_t wanted = wants->window ? wants->window : SEEN_FOREVER;
    if (has.window != wanted)
        return has.window == SEEN_FOREVER
                   ? cli_fail(BRY_E_MISMATCH, "%s: it was made without --window",
                              cli_quote(asked->state).text)
                   : differs_number(asked->state, "--window", has.window, "ms");
    if (wants->engine != BRY_ENGINE_AUTO && has.engine != wants->engine)
        return differs(asked->state, "--engine", bry_engine_name(has.engine));
    if (wants->error != 0 && has.error != wants->error) {
        char text[40];
        snprintf(text, sizeof text, "%g", has.error);
        return differs(asked->state, "--error", text);
    }
    if (wants->capacity && has.capacity != wants->capacity)
        return differs_number(asked->state, "--capacity", has.capacity, "");
    if (wants->max_bytes && has.max_bytes != wants->max_bytes)
        return differs_number(asked->state, "--max-bytes", has.max_bytes, "");
    if (wants->seed && has.seed != wants->seed)
        return differs_number(asked->state, "--seed", has.seed, "");
    if (wants->refresh && !has.refresh)
        return cli_fail(BRY_E_MISMATCH, "%s: it was made without --refresh",
                        cli_quote(asked->state).text);
    return CLI_GO_ON;
}

int seen_window_open(const seen_request *asked, const char *command, cli_memory *memory,
                     bry_window **window)
{
    struct stat facts;
    cli_memory_init(memory, 0);
    if (!asked->state)
        return create(asked, command, memory, window);
    int code = cli_target_check(asked->state, true);
    if (code != CLI_GO_ON)
        return code;
    if (stat(asked->state, &facts) != 0) /* the check has said why, unless it is not there */
        return create(asked, command, memory, window);
    bry_load load = cli_memory_load(memory);
    errno = 0;
    bry_status status = bry_window_load_file(asked->state, &load, window);
    if (status != BRY_OK)
        return cli_load_failed(status, &load, memory, asked->state, "window");
    code = check_state(asked, *window);
    if (code == CLI_GO_ON)
        return code;
    bry_window_destroy(*window);
    *window = NULL;
    return code;
}

static bry_status save(const void *window, const char *path)
{
    return bry_window_save_file(window, path);
}

int seen_window_save(const bry_window *window, const char *path)
{
    return cli_target_save(path, save, window);
}
