#include "cli/serve/serve_report.h"

#include "cli/core/output/output.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_SAID 4096 /* the last bytes that it wrote to its standard streams */
#define LAST_LINES 5 /* printed from a log without warnings */

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

void serve_say_ready(const serve_child *child, const serve_settings *settings, const char *dir,
                     const char *log)
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

/* The output is collected first, because the message before it depends on whether there is any. */
int serve_report_no_start(const serve_child *child, const char *server, const char *log,
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

int serve_report_end(const serve_child *child)
{
    show_server_output(child->said, stderr);
    if (WIFEXITED(child->how) && WEXITSTATUS(child->how) == 0)
        return CLI_YES;
    return cli_fail("the server %s %s%s", WIFSIGNALED(child->how) ? "was ended by" : "ended with",
                    how_it_ended(child).text,
                    WIFEXITED(child->how) && child->told ? " after a signal" : "");
}
