#include "cli/seen/seen_state.h"

#include "cli/core/args.h"
#include "cli/core/files/note_bytes.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/files/target_file.h"
#include "cli/core/limits.h"
#include "cli/core/output/output.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- a new window -------------------------------------------------------------------------- */

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
static int check_plan(const seen_request *asked, const bry_window_options *options,
                      const cli_memory *memory)
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
        return cli_misuse("--max-memory: engine fbf needs %llu bytes for --capacity %llu; reduce "
                          "--capacity",
                          bytes, lines);
    if (bytes > memory->most && (!limit || limit > memory->most))
        return cli_fail("engine fbf needs %llu bytes for --capacity %llu, and three quarters of "
                        "the machine's memory are %llu",
                        bytes, lines, (unsigned long long)memory->most);
    return CLI_GO_ON;
}

static int create_window(const seen_request *asked, cli_memory *memory, bry_window **window)
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
            return cli_misuse("--max-memory: a window takes at least %llu bytes",
                              (unsigned long long)shape.bytes_least);
        free_of.capacity = 1;
        if (options.capacity <= BRY_CAPACITY_MAX && bry_window_plan(&free_of, &shape) == BRY_OK)
            return cli_misuse("an error of %g is not possible with a capacity of %llu: reduce "
                              "--capacity",
                              options.error, (unsigned long long)options.capacity);
        return cli_misuse("windows take times up to " CLI_SPAN_MOST
                          ", capacities up to " CLI_CAPACITY_MOST
                          ", errors from " CLI_ERRORS(BRY_WINDOW_ERROR_MIN) CLI_COMBINATIONS);
    }
    int code = status == BRY_OK ? check_plan(asked, &options, memory) : CLI_GO_ON;
    if (code != CLI_GO_ON)
        return code;
    if (status == BRY_OK)
        status = bry_window_create(&options, window);
    return status == BRY_OK ? CLI_GO_ON : cli_fail("%s", bry_status_text(status));
}

/* ---- whether it is what is asked for ------------------------------------------------------- */

typedef enum key_kind { KEY_LINE = 0, KEY_FIELD = 1, KEY_MEMBER = 2 } key_kind;

/* How keys and times were read; the name points into the note. */
typedef struct line_format {
    bool times; /* times are in the lines; false: from the clock */
    key_kind kind;
    cli_fields fields; /* all 0 without fields */
    const char *name; /* of members; not NUL-terminated */
    size_t name_len;
    uint64_t since;
} line_format;

static line_format line_format_of(const seen_fields *fields)
{
    line_format m = {.times = seen_fields_have_time(fields), .name = ""};
    if (fields->json && fields->key_name) {
        m.kind = KEY_MEMBER;
        m.name = fields->key_name;
        m.name_len = strlen(m.name);
    } else if (fields->key.count) {
        m.kind = KEY_FIELD;
        m.fields = fields->key;
    }
    return m;
}

/* Options that were not given are taken from the window, except for --window and --refresh: if
 * these differed, the command would silently do something else than it says. */
static int check_window(const seen_request *asked, const bry_window *window)
{
    const bry_window_options *wants = &asked->window;
    bry_window_options has = BRY_WINDOW_OPTIONS;
    bry_window_options_like(window, &has);
    uint64_t wanted = wants->window ? wants->window : SEEN_FOREVER;
    if (has.window != wanted)
        return has.window == SEEN_FOREVER ? cli_differs_without(asked->state, "--window")
                                          : cli_differs_span(asked->state, "--window", has.window);
    if (wants->engine != BRY_ENGINE_AUTO && has.engine != wants->engine)
        return cli_differs(asked->state, "--engine", bry_engine_name(has.engine));
    if (wants->error != 0 && has.error != wants->error)
        return cli_differs_share(asked->state, "--error", has.error);
    if (wants->capacity && has.capacity != wants->capacity)
        return cli_differs_number(asked->state, "--capacity", has.capacity);
    if (wants->max_bytes && has.max_bytes != wants->max_bytes)
        return cli_differs_number(asked->state, "--max-memory", has.max_bytes);
    if (wants->seed && has.seed != wants->seed)
        return cli_differs_number(asked->state, "--seed", has.seed);
    if (wants->refresh != has.refresh)
        return has.refresh ? cli_differs(asked->state, "--refresh", "")
                           : cli_differs_without(asked->state, "--refresh");
    return CLI_GO_ON;
}

static int check_line_format(const seen_request *asked, const line_format *has)
{
    const char *path = asked->state;
    line_format wants = line_format_of(asked->fields);
    if (has->times != wants.times)
        return has->times ? cli_differs(path, "--time", "") : cli_differs_without(path, "--time");
    if (has->kind != wants.kind && has->kind == KEY_LINE)
        return cli_differs_without(path, "--key");
    if (has->kind != wants.kind && wants.kind != KEY_LINE)
        return has->kind == KEY_MEMBER ? cli_differs(path, "--json-lines", "")
                                       : cli_differs_without(path, "--json-lines");
    if (has->fields.count != wants.fields.count ||
        memcmp(has->fields.number, wants.fields.number, sizeof wants.fields.number) != 0)
        return cli_differs(path, "--key", cli_fields_say(&has->fields).text);
    if (has->name_len != wants.name_len ||
        (has->name_len > 0 && memcmp(has->name, wants.name, has->name_len) != 0)) {
        char name[sizeof((cli_quotation *)0)->text];
        snprintf(name, sizeof name, "%.*s", (int)has->name_len, has->name);
        return cli_differs(path, "--key", cli_quote(name).text);
    }
    if (has->fields.delimiter != wants.fields.delimiter)
        return cli_differs(path, "--delimiter",
                           cli_quote((char[]){has->fields.delimiter, '\0'}).text);
    return CLI_GO_ON;
}

/* ---- bytes --------------------------------------------------------------------------------- */

static const char magic[8] = {'B', 'R', 'Y', 'S', 'T', 'A', 'T', 'E'};
#define VERSION 3u
#define MOST_NAME (1u << 20) /* longer than a command line */

enum {
    AT_MAGIC = 0,
    AT_VERSION = 8, /* u32 */
    AT_TIMES = 12, /* u8 */
    AT_KIND = 13, /* u8 */
    AT_DELIMITER = 14, /* u8; a byte of 0 follows */
    AT_SINCE = 16, /* u64 */
    AT_FIELDS = 24, /* CLI_FIELDS_BYTES */
    HEAD = AT_FIELDS + CLI_FIELDS_BYTES /* the name follows */
};

static bry_status write_meaning(const line_format *m, bry_buffer *note)
{
    bry_sink memory = bry_buffer_sink(note);
    unsigned char head[HEAD] = {0};
    memcpy(head + AT_MAGIC, magic, sizeof magic);
    cli_put(head + AT_VERSION, VERSION, 4);
    head[AT_TIMES] = m->times;
    head[AT_KIND] = (unsigned char)m->kind;
    head[AT_DELIMITER] = (unsigned char)m->fields.delimiter;
    cli_put(head + AT_SINCE, m->since, 8);
    cli_put_fields(head + AT_FIELDS, &m->fields);
    bry_status status = memory.write(memory.opaque, head, sizeof head);
    return status == BRY_OK ? memory.write(memory.opaque, m->name, m->name_len) : status;
}

static bry_status read_meaning(line_format *m, const bry_buffer *note, bry_load *load)
{
    static const char unknown[] = "unknown kind of key";
    const unsigned char *head = note->bytes;
    if (note->len < HEAD || memcmp(head + AT_MAGIC, magic, sizeof magic) != 0)
        return cli_note_refuse(load, "not a state of \"bloomery seen\"");
    if (cli_get(head + AT_VERSION, 4) != VERSION)
        return cli_note_fail(load, BRY_E_VERSION, AT_VERSION, "unsupported version of the state");
    *m = (line_format){.times = head[AT_TIMES],
                       .kind = (key_kind)head[AT_KIND],
                       .fields = cli_get_fields(head + AT_FIELDS, (char)head[AT_DELIMITER]),
                       .name = (const char *)head + HEAD,
                       .name_len = note->len - HEAD,
                       .since = cli_get(head + AT_SINCE, 8)};
    if (head[AT_TIMES] > 1 || head[AT_KIND] > KEY_MEMBER || head[AT_DELIMITER + 1] != 0)
        return cli_note_fail(load, BRY_E_BADDATA, AT_TIMES, unknown);
    if ((m->kind == KEY_FIELD) != (m->fields.count != 0) ||
        (m->kind != KEY_FIELD && m->fields.delimiter) ||
        (m->kind == KEY_MEMBER) != (m->name_len != 0) || m->name_len > MOST_NAME ||
        (m->name_len && memchr(m->name, 0, m->name_len)))
        return cli_note_fail(load, BRY_E_BADDATA, AT_KIND, unknown);
    return BRY_OK;
}

/* ---- loading ------------------------------------------------------------------------------- */

/* Loads the state from the request's path and checks that it matches the request. */
static int seen_state_load(const seen_request *asked, const cli_memory *memory,
                           seen_kept_state *kept)
{
    bry_load load = cli_memory_load(memory);
    void *window = NULL;
    line_format has = {0};
    bry_buffer note = BRY_BUFFER;
    load.note = &note;
    load.note_max = HEAD + MOST_NAME;
    *kept = (seen_kept_state){.since = SEEN_NEVER};
    bry_status status = cli_load_object(asked->state, BRY_JOB_WINDOW, &load, &window);
    if (status == BRY_OK)
        status = read_meaning(&has, &note, &load);
    kept->window = window;
    int code = status == BRY_OK ? check_window(asked, kept->window)
                                : cli_load_failed(status, &load, memory, asked->state, "window");
    if (code == CLI_GO_ON)
        code = check_line_format(asked, &has);
    if (code == CLI_GO_ON)
        kept->since = has.since;
    bry_buffer_free(&note);
    if (code != CLI_GO_ON) {
        bry_window_destroy(kept->window);
        kept->window = NULL;
    }
    return code;
}

int seen_window_open(const seen_request *asked, cli_memory *memory, seen_kept_state *kept)
{
    struct stat facts;
    *kept = (seen_kept_state){.since = SEEN_NEVER, .fresh = true};
    cli_memory_init(memory, 0);
    if (!asked->state)
        return create_window(asked, memory, &kept->window);
    if (cli_is_stream(asked->state))
        return cli_misuse("--state needs a file, not \"-\"");
    int code = cli_target_check(asked->state, true, CLI_LOCK_REFUSE);
    if (code != CLI_GO_ON)
        return code;
    if (stat(asked->state, &facts) != 0) /* the check has reported other errors */
        return create_window(asked, memory, &kept->window);
    return seen_state_load(asked, memory, kept);
}

/* ---- saving -------------------------------------------------------------------------------- */

int seen_state_save(const seen_request *asked, const seen_kept_state *kept)
{
    static const char taken[] =
        "another run has created it since; the lines of this run are not in it";
    line_format is = line_format_of(asked->fields);
    is.since = kept->since;
    bry_buffer note = BRY_BUFFER;
    bry_status status = write_meaning(&is, &note);
    int code = status == BRY_OK ? cli_target_save(asked->state, kept->fresh ? taken : NULL,
                                                  BRY_JOB_WINDOW, kept->window, &note)
                                : cli_fail("%s", bry_status_text(status));
    bry_buffer_free(&note);
    return code;
}
