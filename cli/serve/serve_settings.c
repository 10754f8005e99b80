#include "cli/serve/serve_settings.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "text/number_parse.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_WORDS 8 /* words of a line that are relevant here */
#define MOST_WAITING 64 /* files that are open or still to be read */
#define MOST_FILES 1000 /* in total; more means that a file includes itself */

static void set_setting_name(serve_name *name, const char *text)
{
    snprintf(name->text, sizeof name->text, "%s", text);
}

void serve_settings_init(serve_settings *settings)
{
    *settings = (serve_settings){0};
    set_setting_name(&settings->log_dir, "appendonlydir");
    set_setting_name(&settings->log_name, "appendonly.aof");
    set_setting_name(&settings->snapshot_name, "dump.rdb");
    set_setting_name(&settings->policy, "noeviction");
}

void serve_settings_persist(serve_settings *settings, const char *when)
{
    settings->log = strcmp(when, "no") != 0;
    settings->snapshots = !settings->log;
    if (settings->log)
        set_setting_name(&settings->sync, when);
}

/* ---- one line ------------------------------------------------------------------------------ */

static int setting_hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* One character after a backslash within quotes; advances *at. */
static char read_escaped(const char **at)
{
    static const char letters[] = "nrtba", meant[] = "\n\r\t\b\a";
    const char *from = *at + 1;
    *at += 2;
    if (*from == 'x' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])) {
        *at += 2;
        return (char)(setting_hex(from[1]) * 16 + setting_hex(from[2]));
    }
    const char *found = strchr(letters, *from);
    return found ? meant[found - letters] : *from;
}

/* Splits the line in place and resolves quotes and escapes. Returns the number of words, at most
 * `most`; 0 for a line that servers refuse. */
static size_t split_words(char *line, char **words, size_t most)
{
    const char *at = line;
    char *to = line;
    size_t count = 0;
    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at || count == most)
            return count;
        words[count++] = to;
        char quote = 0;
        while (quote || (*at && !isspace((unsigned char)*at))) {
            if (!*at)
                return 0;
            if (quote && *at == quote) {
                quote = 0;
                if (*++at && !isspace((unsigned char)*at))
                    return 0;
            } else if (quote == '"' && *at == '\\' && at[1]) {
                *to++ = read_escaped(&at);
            } else if (quote == '\'' && *at == '\\' && at[1] == '\'') {
                *to++ = '\'';
                at += 2;
            } else if (!quote && (*at == '"' || *at == '\'')) {
                quote = *at++;
            } else {
                *to++ = *at++;
            }
        }
        at += *at != '\0'; /* the NUL replaces the space */
        *to++ = '\0';
    }
}

/* The server reads the units of sizes in any case: 3g, 512m. In upper case they mean the same to
 * text_parse_bytes(). */
static bool parse_server_bytes(const char *value, uint64_t *bytes)
{
    char upper[32];
    size_t len = strlen(value);
    if (len > sizeof upper)
        return false;
    for (size_t i = 0; i < len; i++)
        upper[i] = (char)toupper((unsigned char)value[i]);
    return !text_parse_bytes(upper, len, bytes);
}

static void take_setting(serve_settings *settings, const char *name, const char *value)
{
    uint64_t bytes;
    const struct {
        const char *name;
        serve_name *setting;
    } names[] = {{"appendfsync", &settings->sync},
                 {"appenddirname", &settings->log_dir},
                 {"appendfilename", &settings->log_name},
                 {"dbfilename", &settings->snapshot_name},
                 {"maxmemory-policy", &settings->policy}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(name, names[i].name) == 0)
            set_setting_name(names[i].setting, value);
    if (strcasecmp(name, "appendonly") == 0)
        settings->log = strcasecmp(value, "yes") == 0;
    else if (strcasecmp(name, "save") == 0)
        settings->snapshots = *value != '\0';
    else if (strcasecmp(name, "maxmemory") == 0 && parse_server_bytes(value, &bytes))
        settings->memory = bytes;
}

static bool is_module(const char *path, const char *module)
{
    char real[PATH_MAX];
    const char *name = strrchr(path, '/');
    return strcmp(name ? name + 1 : path, "bloomery.so") == 0 ||
           (realpath(path, real) && strcmp(real, module) == 0);
}

/* ---- files --------------------------------------------------------------------------------- */

typedef struct source {
    char *path;
    FILE *file; /* NULL: not opened yet */
    unsigned long line;
} source;

typedef struct settings_reader {
    serve_settings *settings;
    const char *module;
    source waiting[MOST_WAITING]; /* the last one is read first */
    size_t count, files;
    bool moved; /* a line `dir` has changed the working directory */
} settings_reader;

static bool push_source(settings_reader *at, const char *path)
{
    if (at->count == MOST_WAITING || at->files == MOST_FILES)
        return false;
    char *copy = strdup(path);
    if (!copy)
        return false;
    at->files++;
    at->waiting[at->count++] = (source){.path = copy};
    return true;
}

static void pop_source(settings_reader *at)
{
    source *last = &at->waiting[--at->count];
    if (last->file)
        fclose(last->file);
    free(last->path);
}

/* Servers accept wildcards and include all matching files, in order. */
static int include_file(settings_reader *at, const source *here, const char *path)
{
    glob_t found = {0};
    bool fits = true;
    if (*path != '/' && at->moved)
        return cli_fail("%s: line %lu: include: %s must be an absolute path after a dir line",
                        cli_name(here->path).text, here->line, cli_name(path).text);
    cli_quotation file = cli_name(here->path);
    unsigned long line = here->line;
    if (!strpbrk(path, "*?["))
        fits = push_source(at, path);
    else if (glob(path, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; fits && i > 0; i--)
            fits = push_source(at, found.gl_pathv[i - 1]);
    globfree(&found);
    return fits ? CLI_GO_ON : cli_fail("%s: line %lu: include: too many files", file.text, line);
}

static int take_setting_line(settings_reader *at, const source *here, char *line)
{
    char *words[MOST_WORDS];
    line += strspn(line, " \t\r\n");
    size_t count = *line == '#' ? 0 : split_words(line, words, MOST_WORDS);
    if (count < 2)
        return CLI_GO_ON;
    if (strcasecmp(words[0], "include") == 0 && count == 2)
        return include_file(at, here, words[1]);
    if (strcasecmp(words[0], "loadmodule") == 0 && is_module(words[1], at->module))
        return cli_fail(
            "%s: line %lu: bloomery serve loads the module itself; remove this line and "
            "write settings as lines such as bloomery.max-key-bytes 512mb",
            cli_name(here->path).text, here->line);
    if (strcasecmp(words[0], "dir") == 0)
        at->moved = true;
    take_setting(at->settings, words[0], words[1]);
    return CLI_GO_ON;
}

/* If a file cannot be opened, the server itself reports that and ends. */
int serve_settings_read(serve_settings *settings, const char *path, const char *module)
{
    settings_reader at = {.settings = settings, .module = module};
    char *line = NULL;
    size_t size = 0;
    int code = push_source(&at, path) ? CLI_GO_ON : cli_no_memory();
    while (code == CLI_GO_ON && at.count > 0) {
        source *last = &at.waiting[at.count - 1];
        if (!last->file)
            last->file = fopen(last->path, "r");
        if (last->file && getline(&line, &size, last->file) >= 0) {
            last->line++;
            code = take_setting_line(&at, last, line);
        } else {
            pop_source(&at);
        }
    }
    while (at.count > 0)
        pop_source(&at);
    free(line);
    return code;
}
