/*
 * bloomery serve: runs a Redis or Valkey server with the module in the foreground, for this machine
 * only, with settings under which no acknowledged change is lost.
 *
 * It runs the installed server unchanged. It adds a command line (--dry-run prints it), checks with
 * helpful messages beforehand, and a greeting. Settings from --config replace our defaults; the
 * other options replace both.
 */
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/memory_limit.h"
#include "cli/core/output/output.h"
#include "cli/core/stop_signals.h"
#include "cli/serve/serve_child.h"
#include "cli/serve/serve_dir.h"
#include "cli/serve/serve_places.h"
#include "cli/serve/serve_settings.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PORT 6379
#define DEFAULT_DIR "bloomery-data"
#define LOG_NAME "bloomery.log"
#define MOST_SAID 4096 /* the last bytes that it wrote to its standard streams */
#define LAST_LINES 5 /* printed from a log without warnings */

typedef struct request {
    uint64_t port, max_memory;
    const char *dir, *log, *server, *module, *config;
    const char *appendonly; /* always, everysec or no; NULL: not given */
    bool dry_run;
} request;

/* The server's command line, and the strings in it. */
typedef struct command_line {
    char *args[64];
    size_t count;
    char port[8], memory[24];
    cli_path server, module, dir, log, config;
    serve_settings settings; /* the resulting settings */
    int lock; /* of the directory */
} command_line;

static void add_setting(command_line *line, const char *name, const char *value)
{
    line->args[line->count++] = (char *)(uintptr_t)name; /* execv() does not change them */
    line->args[line->count++] = (char *)(uintptr_t)value;
    line->args[line->count] = NULL;
}

/* ---- the command line ---------------------------------------------------------------------- */

static void add_persistence(command_line *line, const char *mode)
{
    if (strcmp(mode, "no") != 0) {
        add_setting(line, "--appendonly", "yes");
        add_setting(line, "--appendfsync", mode);
        add_setting(line, "--save", ""); /* no snapshots: the log suffices */
    } else {
        add_setting(line, "--appendonly", "no");
        add_setting(line, "--save", "3600 1 300 100 60 10000");
    }
}

static uint64_t default_memory(const request *asked)
{
    cli_memory memory;
    cli_memory_init(&memory, asked->max_memory);
    return memory.most;
}

static void make_command_line(command_line *line, const request *asked)
{
    snprintf(line->memory, sizeof line->memory, "%" PRIu64, default_memory(asked));
    snprintf(line->port, sizeof line->port, "%" PRIu64, asked->port);

    line->args[line->count++] = line->server.text;
    /* defaults, which a configuration file can change */
    add_persistence(line, asked->appendonly ? asked->appendonly : "always");
    add_setting(line, "--maxmemory", line->memory);
    add_setting(line, "--maxmemory-policy", "noeviction");
    add_setting(line, "--enable-debug-command", "no");
    add_setting(line, "--enable-module-command", "no");
    if (asked->config)
        add_setting(line, "--include", line->config.text);
    /* the options, and what this program relies on */
    if (asked->config && asked->appendonly)
        add_persistence(line, asked->appendonly);
    if (asked->config && asked->max_memory)
        add_setting(line, "--maxmemory", line->memory);
    add_setting(line, "--bind", "127.0.0.1");
    add_setting(line, "--port", line->port);
    add_setting(line, "--dir", line->dir.text);
    add_setting(line, "--logfile", line->log.text);
    add_setting(line, "--daemonize", "no");
    add_setting(line, "--loadmodule", line->module.text);
}

/* The settings that result from that command line, in the same order. */
static int find_settings(const request *asked, command_line *line)
{
    serve_settings *settings = &line->settings;
    serve_settings_init(settings);
    serve_settings_persist(settings, asked->appendonly ? asked->appendonly : "always");
    settings->memory = default_memory(asked);
    if (!asked->config)
        return CLI_GO_ON;
    int code = serve_settings_read(settings, line->config.text, line->module.text);
    if (asked->appendonly)
        serve_settings_persist(settings, asked->appendonly);
    if (asked->max_memory)
        settings->memory = asked->max_memory;
    return code;
}

/* Quotes an argument for a shell. */
static void print_line(const command_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        const char *text = line->args[i];
        bool plain = *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789/._-+=:,@%") == strlen(text);
        if (i)
            putchar(' ');
        if (plain) {
            fputs(text, stdout);
            continue;
        }
        putchar('\'');
        for (; *text; text++)
            if (*text == '\'')
                fputs("'\\''", stdout);
            else
                putchar(*text);
        putchar('\'');
    }
    putchar('\n');
}

/* ---- it answers ---------------------------------------------------------------------------- */

static const char *durability_text(const serve_settings *settings)
{
    if (!settings->log)
        return settings->snapshots
                   ? "snapshots only, no log: changes after the last snapshot can be lost"
                   : "neither log nor snapshots: all data is lost when the server ends";
    if (strcasecmp(settings->sync.text, "everysec") == 0)
        return "log synced every second: a crash can lose the last two seconds";
    if (strcasecmp(settings->sync.text, "no") == 0)
        return "log synced by the system: a crash can lose the latest changes";
    return "log synced before each answer: acknowledged changes survive a crash";
}

static void say_memory(const serve_settings *settings)
{
    double bytes = (double)settings->memory;
    if (settings->memory == 0)
        puts("  memory  no limit: the kernel kills a server that takes too much");
    else {
        if (bytes >= 1 << 30)
            printf("  memory  at most %.1f GiB; then ", bytes / (1 << 30));
        else
            printf("  memory  at most %.1f MiB; then ", bytes / (1 << 20));
        if (strcasecmp(settings->policy.text, "noeviction") == 0)
            puts("changes that need more are refused");
        else
            printf("keys are evicted, by %s\n", settings->policy.text);
    }
}

/* The server answers. `log` is "" if it has no log file. */
static void serve_say_ready(const serve_child *child, const serve_settings *settings,
                            const char *dir, const char *log)
{
    unsigned port = child->port;
    printf("Bloomery %s listens on 127.0.0.1:%u%s%s.\n\n", bry_version(), port,
           *child->version ? " with " : "", child->version);
    printf("  data    %s\n", dir);
    printf("          %s\n", durability_text(settings));
    say_memory(settings);
    if (*log)
        printf("  log     %s\n", log);
    printf("\nConnect with any Redis client:  redis-cli -p %u\n"
           "and type\n"
           "\n"
           "  MAP.SET routes 10.0.0.1 rack1 10.0.0.2 rack2\n"
           "  MAP.GET routes 10.0.0.1 10.9.9.9\n"
           "\n"
           "  WINDOW.CREATE seen WINDOW 60s\n"
           "  WINDOW.ADD seen request-1\n"
           "  WINDOW.ADD seen request-1\n"
           "\n"
           "  COUNTER.CREATE sales WINDOW 10m\n"
           "  COUNTER.INCRBY sales tea 3 till7:1041\n"
           "  COUNTER.INCRBY sales tea 3 till7:1041\n"
           "\n"
           "  INFO bloomery\n"
           "\n"
           "Ctrl-C ends it.\n",
           port);
    fflush(stdout);
}

/* ---- it does not --------------------------------------------------------------------------- */

/* Prints one line of the server's output, indented and without control characters. Blank lines are
 * omitted. */
static bool show_log_line(const char *line, FILE *to)
{
    size_t len = strcspn(line, "\r\n");
    if (strspn(line, " \t") >= len)
        return false;
    fputs("  ", to);
    for (size_t i = 0; i < len; i++)
        fputc(iscntrl((unsigned char)line[i]) ? '?' : line[i], to);
    fputc('\n', to);
    return true;
}

static bool show_server_output(int said, FILE *to)
{
    char text[MOST_SAID + 1];
    off_t end = said < 0 ? 0 : lseek(said, 0, SEEK_END);
    off_t from = end > MOST_SAID ? end - MOST_SAID : 0;
    ssize_t len = end > 0 ? pread(said, text, MOST_SAID, from) : 0;
    bool any = false;
    text[len > 0 ? len : 0] = '\0';
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        any |= show_log_line(line, to);
    return any;
}

/* Servers print their greeting at warning level. */
static bool is_greeting(const char *text)
{
    static const char *const greetings[] = {"oO0OoO0", "version=", "Configuration loaded",
                                            "Server initialized", "overcommit"};
    for (size_t i = 0; i < sizeof greetings / sizeof greetings[0]; i++)
        if (strstr(text, greetings[i]))
            return true;
    return false;
}

/* Prints the warnings of the log since `from`, which are few if a server does not start, or the
 * last lines if there are none. */
static bool show_server_log(const char *path, long from, FILE *to)
{
    char text[1024], last[LAST_LINES][1024];
    size_t count = 0;
    bool any = false;
    FILE *log = *path ? fopen(path, "r") : NULL;
    if (!log)
        return false;
    if (fseek(log, from, SEEK_SET) == 0)
        while (fgets(text, sizeof text, log)) {
            const char *warning = strstr(text, " # ");
            if (warning && !is_greeting(warning))
                any |= show_log_line(warning + 3, to);
            memcpy(last[count++ % LAST_LINES], text, sizeof text);
        }
    fclose(log);
    for (size_t i = count > LAST_LINES ? count - LAST_LINES : 0; !any && i < count; i++)
        show_log_line(last[i % LAST_LINES], to);
    return any || count > 0;
}

typedef struct exit_text {
    char text[64];
} exit_text;

static exit_text how_it_ended(const serve_child *child)
{
    exit_text how;
    if (WIFSIGNALED(child->how))
        snprintf(how.text, sizeof how.text, "signal %d (%s)", WTERMSIG(child->how),
                 strsignal(WTERMSIG(child->how)));
    else
        snprintf(how.text, sizeof how.text, "exit code %d", WEXITSTATUS(child->how));
    return how;
}

/* The server ended before it answered; `logged` is the size its log had before. Returns an exit
 * code. The output is collected first, because the message before it depends on whether there
 * is any. */
static int serve_report_no_start(const serve_child *child, const char *server, const char *log,
                                 long logged)
{
    char *text = NULL;
    size_t size = 0;
    bool any = false;
    exit_text how = how_it_ended(child);
    FILE *to = open_memstream(&text, &size);
    if (to) {
        any = show_server_output(child->said, to);
        any |= show_server_log(log, logged, to);
        fclose(to);
    }
    int code;
    if (any) {
        code = cli_fail("the server did not start (%s); it printed:", how.text);
        fputs(text, stderr);
    } else if (child->said < 0) {
        code = cli_fail("the server did not start (%s); its output, if any, is above", how.text);
    } else {
        code =
            cli_fail("the server did not start (%s) and printed nothing: is %s a Redis or Valkey "
                     "server?",
                     how.text, cli_name(server).text);
    }
    free(text);
    return code;
}

/* The server has ended. Returns an exit code. */
static int serve_report_end(const serve_child *child)
{
    show_server_output(child->said, stderr);
    if (WIFEXITED(child->how) && WEXITSTATUS(child->how) == 0)
        return CLI_YES;
    return cli_fail("the server %s %s%s", WIFSIGNALED(child->how) ? "was ended by" : "ended with",
                    how_it_ended(child).text,
                    WIFEXITED(child->how) && child->told ? " after a signal" : "");
}

/* ---- the run ------------------------------------------------------------------------------- */

static void say_loading(void)
{
    puts("The server is loading its data ...");
    fflush(stdout);
}

static long size_of_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (long)about.st_size : 0;
}

static int run_server(const request *asked, const command_line *line)
{
    serve_child child;
    cli_note_closed_pipe(); /* the server goes on, even if nobody reads what this program prints */
    const char *log = line->log.text;
    long logged = size_of_file(log);
    if (!serve_child_start(&child, line->args, (uint16_t)asked->port, line->lock, *log != '\0'))
        return cli_fail("%s: cannot start: %s", cli_name(line->server.text).text, strerror(errno));
    if (serve_child_ready(&child, say_loading)) {
        serve_say_ready(&child, &line->settings, line->dir.text, log);
        serve_child_wait(&child);
    } else if (!child.told) {
        return serve_report_no_start(&child, line->server.text, log, logged);
    }
    int code = serve_report_end(&child);
    if (code == CLI_YES)
        puts("The server has shut down cleanly.");
    return code;
}

/* A dry run creates nothing and does not try the port. */
static int find_dir(const request *asked, command_line *line)
{
    const char *dir = asked->dir ? asked->dir : DEFAULT_DIR;
    if (asked->dry_run)
        return serve_absolute("dir", dir, &line->dir);
    int code = serve_check_port((uint16_t)asked->port);
    if (code == CLI_GO_ON)
        code = serve_prepare_dir(dir, &line->dir);
    if (code == CLI_GO_ON)
        code = serve_take_dir(&line->dir, (uint16_t)asked->port, &line->lock);
    if (code == CLI_GO_ON)
        code = serve_check_data(&line->dir, &line->settings);
    return code;
}

static int find_server_parts(const request *asked, command_line *line)
{
    int code = serve_find_server(asked->server, &line->server);
    if (code == CLI_GO_ON)
        code = serve_find_module(asked->module, &line->module);
    if (code == CLI_GO_ON && asked->config)
        code = serve_find_file("config", asked->config, &line->config);
    if (code == CLI_GO_ON)
        code = find_settings(asked, line);
    if (code == CLI_GO_ON)
        code = find_dir(asked, line);
    if (code != CLI_GO_ON || (asked->log && strcmp(asked->log, "-") == 0))
        return code; /* a server without a log file writes to standard output */
    if (asked->log)
        return serve_absolute("log", asked->log, &line->log);
    return serve_join(&line->dir, LOG_NAME, &line->log);
}

static int check_request(const request *asked)
{
    const char *when = asked->appendonly;
    if (asked->port > UINT16_MAX)
        return cli_misuse("--port: %" PRIu64 " is not a port from 1 to 65535", asked->port);
    if (when && strcmp(when, "always") != 0 && strcmp(when, "everysec") != 0 &&
        strcmp(when, "no") != 0)
        return cli_misuse("--appendonly: %s is not always, everysec or no", cli_quote(when).text);
    return CLI_GO_ON;
}

static const char about_text[] =
    "Starts the installed Redis or Valkey with the module bloomery.so, in the\n"
    "foreground, for programs on this machine. At its memory limit the server refuses\n"
    "commands that need more; it evicts nothing unless FILE sets a maxmemory-policy.\n"
    "Ctrl-C or SIGTERM ends it cleanly.";
static const char more_text[] =
    "Settings in FILE replace these defaults, but not options given here, nor the address,\n"
    "port, directory and log. 64mb, 64MB and 64MiB are 64 x 2^20 bytes; 64M is 64 million.";
static const char examples_text[] = "  bloomery serve --dir /var/lib/bloomery\n"
                                    "  bloomery serve --port 7000 --max-memory 4gb --dry-run";

int cli_serve(int argc, char **argv)
{
    static command_line line; /* static, because paths are large */
    request asked = {.port = DEFAULT_PORT};
    cli_option options[] = {
        {"port", CLI_PLAIN, "N", "port on 127.0.0.1 (default 6379)", &asked.port},
        {"dir", CLI_TEXT, "DIR", "directory for the data (default ./bloomery-data)", &asked.dir},
        {"appendonly", CLI_TEXT, "WHEN",
         "when to sync the log: always (default), everysec; no: no log", &asked.appendonly},
        {"max-memory", CLI_BYTES, "B",
         "memory for all data, such as 512mb or 4gb (default 3/4 of the machine's)",
         &asked.max_memory},
        {"log", CLI_TEXT, "FILE",
         "log file of the server (default bloomery.log in DIR); - is stdout", &asked.log},
        {"config", CLI_TEXT, "FILE", "further settings of the server, such as users",
         &asked.config},
        {"server", CLI_TEXT, "BIN", "redis-server or valkey-server (default: the one in PATH)",
         &asked.server},
        {"module", CLI_TEXT, "FILE", "the module (default: the one beside this program)",
         &asked.module},
        {"dry-run", CLI_FLAG, NULL, "print the command line of the server and start nothing",
         &asked.dry_run},
    };
    const cli_syntax syntax = {
        .usage = "[options]",
        .about = about_text,
        CLI_OPTIONS(options),
        .examples = examples_text,
        .more = more_text,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    if ((code = check_request(&asked)) != CLI_GO_ON ||
        (code = find_server_parts(&asked, &line)) != CLI_GO_ON)
        return code;
    make_command_line(&line, &asked);
    if (!asked.dry_run)
        return run_server(&asked, &line);
    print_line(&line);
    return CLI_YES;
}
