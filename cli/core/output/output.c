#include "cli/core/output/output.h"

#include "cli/core/json/utf8.h"
#include "cli/core/stop_signals.h"

#include <errno.h>
#include <signal.h>
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

static void print_message(const char *format, va_list arguments)
{
    fprintf(stderr, "%s: ", cli_program);
    /* The analyzer loses sight of va_start() in the fortified form of this. */
    vfprintf(stderr, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    fputc('\n', stderr);
}

int cli_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    return CLI_FAILED;
}

int cli_no_memory(void)
{
    return cli_fail("%s", bry_status_text(BRY_E_NOMEM));
}

static char command_words[64];

const char *cli_command_words(void)
{
    return command_words;
}

void cli_enter(const char *word)
{
    size_t len = word ? strlen(command_words) : 0;
    snprintf(command_words + len, sizeof command_words - len, word ? " %s" : "%s",
             word ? word : "");
}

int cli_misuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try \"%s%s --help\".\n", cli_program, command_words);
    return CLI_USAGE;
}

void cli_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
}

/* Bytes of the printable character at the start of a text; 0 if it is not printable. Printable are
 * ASCII and other characters of UTF-8 that are visible: not the control characters below U+00A0,
 * nor the marks of U+2000 to U+206F, which change the direction of the text or take no room. */
static size_t printable_character(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t len = cli_utf8_character(s, strnlen(text, 4));
    bool hidden = len == 1   ? s[0] < 0x20 || s[0] == 0x7f
                  : len == 2 ? s[0] == 0xc2 && s[1] < 0xa0
                             : len == 3 && s[0] == 0xe2 && (s[1] == 0x80 || s[1] == 0x81);
    return hidden ? 0 : len;
}

/* In quotes, with at most `room` bytes. */
static cli_quotation quote_within(const char *word, size_t room)
{
    /* One more character or escape, the dots, the closing quote and the end fit. */
    const size_t full = room - 9;
    cli_quotation quoted;
    size_t len = 0, step;
    quoted.text[len++] = '"';
    for (; *word && len < full; word += step) {
        step = printable_character(word);
        if (*word == '"' || *word == '\\')
            quoted.text[len++] = '\\';
        if (step == 0)
            len += (size_t)snprintf(quoted.text + len, sizeof quoted.text - len, "\\x%02x",
                                    (unsigned char)*word);
        memcpy(quoted.text + len, word, step);
        len += step;
        step = step ? step : 1;
    }
    snprintf(quoted.text + len, sizeof quoted.text - len, "%s", *word ? "...\"" : "\"");
    return quoted;
}

cli_quotation cli_quote(const char *word)
{
    return quote_within(word, 96);
}

/* Whether a name is clear without quotes. */
static bool name_is_plain(const char *name)
{
    size_t len = 0, step;
    for (; name[len]; len += step) {
        step = printable_character(name + len);
        if (step == 0 || strchr(" \"'\\", name[len]))
            return false;
    }
    return len > 0 && len < sizeof((cli_quotation *)0)->text && name[len - 1] != ':';
}

cli_quotation cli_name(const char *name)
{
    cli_quotation plain;
    if (!name_is_plain(name))
        return quote_within(name, sizeof plain.text);
    snprintf(plain.text, sizeof plain.text, "%s", strcmp(name, "-") == 0 ? "standard input" : name);
    return plain;
}

cli_count_text cli_say_count(uint64_t count)
{
    cli_count_text text;
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), at = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            text.text[at++] = ',';
        text.text[at++] = digits[i];
    }
    text.text[at] = '\0';
    return text;
}

int cli_finish(int code)
{
    int failed_before = ferror(stdout);
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before)
        return code;
    if (cli_is_pipe_closed())
        return cli_end_by(SIGPIPE);
    return cli_fail("standard output: %s", errno ? strerror(errno) : "a write failed");
}

static int print_version(void)
{
    printf("%s%s %s (%s, %s)\n", cli_program, command_words, bry_version(), bry_isa(),
           cli_compiler());
    return CLI_YES;
}

int cli_main(int argc, char **argv, int (*run)(int argc, char **argv))
{
    cli_catch_closed_pipe();
    if (argc < 2 || (strcmp(argv[1], "-V") != 0 && strcmp(argv[1], "--version") != 0))
        return cli_finish(run(argc - 1, argv + 1));
    return cli_finish(argc == 2 ? print_version()
                                : cli_misuse("unexpected argument %s", cli_quote(argv[2]).text));
}
