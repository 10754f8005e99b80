#include "cli/core/output/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *cli_compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown compiler";
#endif
}

cli_colours cli_colours_of(FILE *out)
{
    static const cli_colours none = {"", "", ""}, some = {"\033[1m", "\033[1;31m", "\033[0m"};
    const char *unwanted = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool plain = (unwanted && *unwanted) || (terminal && strcmp(terminal, "dumb") == 0);
    return !plain && isatty(fileno(out)) == 1 ? some : none;
}

static void print_message(const char *word, const char *format, va_list arguments)
{
    cli_colours use = cli_colours_of(stderr);
    fprintf(stderr, "%s: ", cli_program);
    if (*word)
        fprintf(stderr, "%s%s:%s ", use.bad, word, use.off);
    /* The analyzer loses sight of va_start() in the fortified form of this. */
    vfprintf(stderr, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    fputc('\n', stderr);
}

int cli_fail(bry_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(bry_status_word(status), format, arguments);
    va_end(arguments);
    return CLI_FAILED;
}

int cli_misuse(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message("USAGE", format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try \"%s %s%s--help\".\n", cli_program, command ? command : "",
            command ? " " : "");
    return CLI_USAGE;
}

void cli_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message("", format, arguments);
    va_end(arguments);
}

cli_quoted cli_quote(const char *word)
{
    /* Room for one more character or escape, the dots, the closing quote and the end. */
    const size_t full = sizeof((cli_quoted *)0)->text - 9;
    cli_quoted quoted;
    size_t len = 0;
    quoted.text[len++] = '"';
    for (; *word && len < full; word++) {
        unsigned char c = (unsigned char)*word;
        if (c < 0x20 || c >= 0x7f)
            len += (size_t)snprintf(quoted.text + len, sizeof quoted.text - len, "\\x%02x", c);
        else
            quoted.text[len++] = (char)c;
    }
    snprintf(quoted.text + len, sizeof quoted.text - len, "%s", *word ? "...\"" : "\"");
    return quoted;
}

int cli_print_version(void)
{
    printf("%s %s (%s, %s)\n", cli_program, bry_version(), bry_isa(), cli_compiler());
    return CLI_YES;
}

int cli_finish(int code)
{
    int failed_before = ferror(stdout);
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before)
        return code;
    return cli_fail(BRY_E_IO, "standard output: %s", errno ? strerror(errno) : "a write failed");
}
