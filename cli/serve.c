/*
 * bloomery serve: a Redis or Valkey server with the module, in the foreground, on this machine
 * alone, with settings under which nothing that was acknowledged is lost.
 *
 * The server is the one that is installed, as it is; all that this adds is a command line
 * (--dry-run prints it), checks beforehand whose messages name what to do, and a few lines to begin
 * with. What --config says comes after our defaults and before what the other options say.
 */
#include "args.h"
#include "command.h"
#include "memory.h"
#include "output.h"
#include "serve_child.h"
#include "serve_places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char command[] = "serve";

#define DEFAULT_PORT 6379
#define DEFAULT_FOLDER "bloomery-data"
#define LOG_NAME "bloomery.log"

typedef struct request {
    uint64_t port, max_memory;
    const char *folder, *log, *server, *module, *config;
    const char *appendonly; /* always, everysec or no; NULL: not said */
    bool dry_run;
} request;

/* The server's command line, and the texts that it points to. */
typedef struct command_line {
    char *args[64];
    size_t count;
    char port[8], memory[24];
    serve_path server, module, folder, log, config;
} command_line;

static void add(command_line *line, const char *name, const char *value)
{
    line->args[line->count++] = (char *)(uintptr_t)name; /* execv() changes nothing of it */
    line->args[line->count++] = (char *)(uintptr_t)value;
    line->args[line->count] = NULL;
}

/* ---- the command line ---------------------------------------------------------------------- */

static bool with_log(const request *asked)
{
    return !asked->appendonly || strcmp(asked->appendonly, "no") != 0;
}

static void add_persistence(command_line *line, const request *asked, const char *mode)
{
    if (with_log(asked)) {
        add(line, "--appendonly", "yes");
        add(line, "--appendfsync", mode);
        add(line, "--save", ""); /* the log is enough */
    } else {
        add(line, "--appendonly", "no");
        add(line, "--save", "3600 1 300 100 60 10000");
    }
}

static void make_line(command_line *line, const request *asked)
{
    cli_memory memory;
    cli_memory_init(&memory, asked->max_memory);
    snprintf(line->memory, sizeof line->memory, "%" PRIu64, memory.most);
    snprintf(line->port, sizeof line->port, "%" PRIu64, asked->port);

    line->args[line->count++] = line->server.text;
    /* defaults, which a configuration file may change */
    add_persistence(line, asked, asked->appendonly ? asked->appendonly : "always");
    add(line, "--maxmemory", line->memory);
    add(line, "--maxmemory-policy", "noeviction");
    add(line, "--enable-debug-command", "no");
    add(line, "--enable-module-command", "no");
    if (asked->config)
        add(line, "--include", line->config.text);
    /* what was asked for, and what this program relies on */
    if (asked->config && asked->appendonly)
        add_persistence(line, asked, asked->appendonly);
    if (asked->config && asked->max_memory)
        add(line, "--maxmemory", line->memory);
    add(line, "--bind", "127.0.0.1");
    add(line, "--port", line->port);
    add(line, "--dir", line->folder.text);
    add(line, "--logfile", line->log.text);
    add(line, "--daemonize", "no");
    add(line, "--loadmodule", line->module.text);
}

/* As a shell would read it. */
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

/* ---- what people read ---------------------------------------------------------------------- */

static void say_loading(void)
{
    puts("The server reads its data ...");
    fflush(stdout);
}

static const char *durability(const request *asked)
{
    if (!with_log(asked))
        return "snapshots only, no log: what came after the last one can be lost";
    if (asked->appendonly && strcmp(asked->appendonly, "everysec") == 0)
        return "log synced every second: a crash can lose the last two";
    return "log synced before each answer: what was acknowledged stays";
}

static void say_ready(const request *asked, const command_line *line, const serve_child *child)
{
    const char *port = line->port;
    printf("Bloomery %s serves on 127.0.0.1:%s%s%s.\n\n", bry_version(), port,
           *child->version ? " with " : "", child->version);
    printf("  data    %s\n", line->folder.text);
    if (!asked->config || asked->appendonly)
        printf("          %s\n", durability(asked));
    if (!asked->config || asked->max_memory)
        printf("  memory  at most %.1f GiB; then changes that need more are refused\n",
               strtod(line->memory, NULL) / (1 << 30));
    if (*line->log.text)
        printf("  log     %s\n", line->log.text);
    printf("\nConnect with any Redis client:  redis-cli -p %s\n"
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

/* Servers greet at the same level at which they warn. */
static bool is_greeting(const char *text)
{
    static const char *const greetings[] = {"oO0OoO0", "version=", "Configuration loaded",
                                            "Server initialized", "overcommit"};
    for (size_t i = 0; i < sizeof greetings / sizeof greetings[0]; i++)
        if (strstr(text, greetings[i]))
            return true;
    return false;
}

/* The warnings that the server has logged since `from`; they are few when it does not start. */
static void show_warnings(const char *path, long from)
{
    char text[1024];
    FILE *log = fopen(path, "r");
    if (!log)
        return;
    if (fseek(log, from, SEEK_SET) == 0)
        while (fgets(text, sizeof text, log)) {
            const char *warning = strstr(text, " # ");
            if (warning && !is_greeting(warning))
                fprintf(stderr, "  %.*s\n", (int)strcspn(warning + 3, "\n"), warning + 3);
        }
    fclose(log);
}

static long size_of(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (long)about.st_size : 0;
}

static int report_end(const serve_child *child)
{
    if (WIFEXITED(child->how) && WEXITSTATUS(child->how) == 0)
        return CLI_YES;
    if (WIFSIGNALED(child->how))
        return cli_fail(BRY_E_IO, "the server was ended by signal %d (%s)", WTERMSIG(child->how),
                        strsignal(WTERMSIG(child->how)));
    return cli_fail(BRY_E_IO, "the server ended with exit code %d%s", WEXITSTATUS(child->how),
                    child->told ? ", having been told to" : "");
}

/* ---- the run ------------------------------------------------------------------------------- */

static int run(const request *asked, const command_line *line)
{
    serve_child child;
    long logged = size_of(line->log.text);
    if (!serve_child_start(&child, line->args, (uint16_t)asked->port))
        return cli_fail(BRY_E_IO, "%s cannot be started: %s", cli_quote(line->server.text).text,
                        strerror(errno));
    if (serve_child_ready(&child, say_loading)) {
        say_ready(asked, line, &child);
        serve_child_wait(&child);
    } else if (!child.told) {
        int code =
            cli_fail(BRY_E_IO, "the server did not start%s", *line->log.text ? "; it says:" : "");
        if (*line->log.text)
            show_warnings(line->log.text, logged);
        return code;
    }
    int code = report_end(&child);
    if (code == CLI_YES)
        puts("The server has ended cleanly.");
    return code;
}

/* Nothing is made and no port is tried for a dry run. */
static int find_all(const request *asked, command_line *line)
{
    const char *folder = asked->folder ? asked->folder : DEFAULT_FOLDER;
    int code = serve_find_server(asked->server, &line->server);
    if (code == CLI_GO_ON)
        code = serve_find_module(asked->module, &line->module);
    if (code == CLI_GO_ON && asked->config)
        code = serve_find_file("config", asked->config, &line->config);
    if (code == CLI_GO_ON && !asked->dry_run)
        code = serve_check_port((uint16_t)asked->port);
    if (code == CLI_GO_ON && !asked->dry_run)
        code = serve_prepare_folder(folder, with_log(asked), &line->folder);
    else if (code == CLI_GO_ON)
        code = serve_absolute("dir", folder, &line->folder);
    if (code != CLI_GO_ON || (asked->log && strcmp(asked->log, "-") == 0))
        return code; /* a server without a log file writes to standard output */
    if (asked->log)
        return serve_absolute("log", asked->log, &line->log);
    return serve_join(&line->folder, LOG_NAME, &line->log);
}

int cli_serve(int argc, char **argv)
{
    static command_line line; /* paths are too large for comfort on the stack */
    request asked = {.port = DEFAULT_PORT};
    cli_option options[] = {
        {"port", CLI_COUNT, "N", "of 127.0.0.1 (default 6379)", &asked.port, 0},
        {"dir", CLI_TEXT, "D", "folder of the data (default bloomery-data here)", &asked.folder, 0},
        {"appendonly", CLI_TEXT, "WHEN",
         "the log is on disk: always, before an answer (default); everysec; no log",
         &asked.appendonly, 0},
        {"maxmemory", CLI_BYTES, "B", "memory for all data (default 3/4 of the machine's)",
         &asked.max_memory, 0},
        {"log", CLI_TEXT, "FILE", "what the server says (default bloomery.log in D); - here",
         &asked.log, 0},
        {"config", CLI_TEXT, "FILE", "further settings of the server, such as users", &asked.config,
         0},
        {"server", CLI_TEXT, "BIN", "redis-server or valkey-server (default: the one in PATH)",
         &asked.server, 0},
        {"module", CLI_TEXT, "SO", "bloomery.so (default: the one beside this program)",
         &asked.module, 0},
        {"dry-run", CLI_FLAG, NULL, "prints the server's command line and starts nothing",
         &asked.dry_run, 0},
    };
    const cli_syntax syntax = {
        .command = command,
        .usage = "[options]",
        .about =
            "Starts the installed Redis or Valkey with the module bloomery.so, in the\n"
            "foreground, for programs on this machine. Nothing is ever evicted: at its memory\n"
            "limit the server refuses what would need more. Ctrl-C or SIGTERM ends it cleanly.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .more = "Settings of FILE replace these defaults, but not what options say, nor address,\n"
                "port, folder and log.",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    if (asked.port > UINT16_MAX)
        return cli_misuse(command, "--port: %" PRIu64 " is not a port, 1 to 65535", asked.port);
    if (asked.appendonly && strcmp(asked.appendonly, "always") != 0 &&
        strcmp(asked.appendonly, "everysec") != 0 && strcmp(asked.appendonly, "no") != 0)
        return cli_misuse(command, "--appendonly: %s is not always, everysec or no",
                          cli_quote(asked.appendonly).text);
    if ((code = find_all(&asked, &line)) != CLI_GO_ON)
        return code;
    make_line(&line, &asked);
    if (!asked.dry_run)
        return run(&asked, &line);
    print_line(&line);
    return CLI_YES;
}
