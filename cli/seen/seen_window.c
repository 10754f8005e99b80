#include "cli/seen/seen_window.h"

#include "cli/core/args.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/files/target_file.h"
#include "cli/core/limits.h"
#include "cli/core/output/output.h"
#include "cli/seen/seen_state.h"

#include <sys/stat.h>

/*
 * Lines to plan for by default. Engine compact takes memory only for what it holds, and
 * log2(planned / held) bits per line more than with an exact plan, so its plan is generous. fbf
 * takes the memory it is planned for.
 */
#define COMPACT_LINES UINT64_C(16000000)
#define FBF_LINES UINT64_C(1000000)

#define DEFAULT_ERROR 1e-6

/* Engine fbf soon takes the planned memory, even for few lines, and below a memory limit holds
 * fewer than planned; compact takes memory as lines arrive. */
static int check_plan(const seen_request *asked, const char *command,
                      const bry_window_options *options, const cli_memory *memory)
{
    bry_window_options free_of = *options;
    bry_window_shape shape = {0};
    uint64_t limit = options->max_bytes;
    free_of.max_bytes = 0;
    free_of.refuse = false;
    if (options->engine != BRY_ENGINE_FBF || bry_window_plan(&free_of, &shape) != BRY_OK)
        return CLI_GO_ON;
    unsigned long long bytes = shape.bytes, lines = shape.capacity;
    if (limit && bytes > limit && asked->window.capacity && !asked->bends)
        return cli_misuse(command,
                          "--max-memory: engine fbf needs %llu bytes for --capacity %llu; reduce "
                          "--capacity",
                          bytes, lines);
    if (bytes > memory->most && (!limit || limit > memory->most))
        return cli_fail("engine fbf needs %llu bytes for --capacity %llu, and three quarters of "
                        "the machine's memory are %llu",
                        bytes, lines, (unsigned long long)memory->most);
    return CLI_GO_ON;
}

static int create_window(const seen_request *asked, const char *command, cli_memory *memory,
                         bry_window **window)
{
    bry_window_options options = asked->window;
    bool fbf = options.engine == BRY_ENGINE_FBF;
    if (options.window == 0) {
        options.window = SEEN_FOREVER;
        options.generations = 1; /* nothing expires, so no generations are needed */
    }
    if (options.capacity == 0) {
        uint64_t lines = fbf ? 0 : asked->lines, least = fbf ? FBF_LINES : COMPACT_LINES;
        options.capacity = lines < least              ? least
                           : lines > BRY_CAPACITY_MAX ? BRY_CAPACITY_MAX
                                                      : lines;
    }
    if (options.error == 0)
        options.error = DEFAULT_ERROR;
    options.allocator = &memory->allocator;
    bry_window_shape shape = {0};
    bry_status status = bry_window_plan(&options, &shape);
    if (status == BRY_E_RANGE) {
        bry_window_options free_of = options;
        free_of.max_bytes = 0;
        if (options.max_bytes && bry_window_plan(&free_of, &shape) == BRY_OK)
            return cli_misuse(command, "--max-memory: a window takes at least %llu bytes",
                              (unsigned long long)shape.bytes_least);
        free_of.capacity = 1;
        if (options.capacity <= BRY_CAPACITY_MAX && bry_window_plan(&free_of, &shape) == BRY_OK)
            return cli_misuse(command,
                              "an error of %g is not possible with a capacity of %llu: reduce "
                              "--capacity",
                              options.error, (unsigned long long)options.capacity);
        return cli_misuse(command,
                          "windows take times up to " CLI_SPAN_MOST
                          ", capacities up to " CLI_CAPACITY_MOST
                          ", errors from " CLI_ERRORS(BRY_WINDOW_ERROR_MIN) CLI_COMBINATIONS);
    }
    int code = status == BRY_OK ? check_plan(asked, command, &options, memory) : CLI_GO_ON;
    if (code != CLI_GO_ON)
        return code;
    if (status == BRY_OK)
        status = bry_window_create(&options, window);
    return status == BRY_OK ? CLI_GO_ON : cli_fail("%s", bry_status_text(status));
}

int seen_window_open(const seen_request *asked, const char *command, cli_memory *memory,
                     seen_kept_state *kept)
{
    struct stat facts;
    *kept = (seen_kept_state){.since = SEEN_NEVER, .fresh = true};
    cli_memory_init(memory, 0);
    if (!asked->state)
        return create_window(asked, command, memory, &kept->window);
    if (cli_is_stream(asked->state))
        return cli_misuse(command, "--state needs a file, not \"-\"");
    int code = cli_target_check(asked->state, true, CLI_LOCK_REFUSE);
    if (code != CLI_GO_ON)
        return code;
    if (stat(asked->state, &facts) != 0) /* the check has reported other errors */
        return create_window(asked, command, memory, &kept->window);
    return seen_state_load(asked, memory, kept);
}
