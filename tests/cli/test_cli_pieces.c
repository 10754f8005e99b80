/* Parts of the program: JSON, tables, quoting. */
#include "cli/core/json/json_write.h"
#include "cli/core/output/output.h"
#include "cli/core/output/text_table.h"
#include "support/cmocka_all.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The output of a function, as a string to free. */
#define WRITTEN(text, statement)                                                                   \
    do {                                                                                           \
        size_t written_len;                                                                        \
        FILE *out = open_memstream(&(text), &written_len);                                         \
        assert_non_null(out);                                                                      \
        statement;                                                                                 \
        assert_int_equal(fclose(out), 0);                                                          \
    } while (0)

static void write_sample(FILE *out)
{
    cli_json json = CLI_JSON_TO(out);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "a\"b", "line\n\ttab \\ \x01\x7f \xc3\xa9 \xf0\x9f\x8d\xba");
    cli_json_text(&json, "broken", "\xc3|\xff|\xed\xa0\x80|\xc0\x80|\xf4\x90\x80\x80|\xe2\x82");
    cli_json_text(&json, "nothing", NULL);
    cli_json_open(&json, "list", '[');
    cli_json_count(&json, NULL, UINT64_MAX);
    cli_json_bool(&json, NULL, true);
    cli_json_open(&json, NULL, '{');
    cli_json_close(&json, '}');
    cli_json_number(&json, NULL, NAN);
    cli_json_number(&json, NULL, -INFINITY);
    cli_json_close(&json, ']');
    cli_json_bool(&json, "last", false);
    cli_json_close(&json, '}');
}

TEST(test_json)
{
    char *text;
    WRITTEN(text, write_sample(out));
    assert_string_equal(text,
                        "{\n"
                        "  \"a\\\"b\": \"line\\u000a\\u0009tab \\\\ \\u0001\\u007f \xc3\xa9 "
                        "\xf0\x9f\x8d\xba\",\n"
                        "  \"broken\": \"\\ufffd|\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd|"
                        "\\ufffd\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\",\n"
                        "  \"nothing\": null,\n"
                        "  \"list\": [\n"
                        "    18446744073709551615,\n"
                        "    true,\n"
                        "    {},\n"
                        "    null,\n"
                        "    null\n"
                        "  ],\n"
                        "  \"last\": false\n"
                        "}\n");
    free(text);
}

TEST(test_numbers_round_trip)
{
    static const double numbers[] = {0,       0.1,     1.0 / 3, 1e300, 5e-324,
                                     DBL_MAX, DBL_MIN, -2.5,    1e15,  123456789.123456789};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char *text;
        cli_json json = {0};
        WRITTEN(text, json.out = out; cli_json_number(&json, NULL, numbers[i]));
        assert_true(strtod(text, NULL) == numbers[i]);
        free(text);
    }
}

static void fill(cli_table *table)
{
    static const char *const cells[] = {"n\xc3\xa4me", "ns", "a", "10.5", "longer", "9"};
    for (size_t i = 0; i < 6; i++)
        cli_table_add(table, "%s", cells[i]);
}

TEST(test_table)
{
    cli_table table = CLI_TABLE("lr");
    fill(&table);
    char *text;
    WRITTEN(text, assert_true(cli_table_print(&table, out)));
    assert_string_equal(text, "n\xc3\xa4me      ns\na       10.5\nlonger     9\n");
    free(text);
    cli_table_free(&table);
    table.failed = true;
    WRITTEN(text, assert_false(cli_table_print(&table, out)));
    assert_string_equal(text, "");
    free(text);
}

TEST(test_quotes_fit)
{
    char word[300];
    for (size_t len = 0; len < sizeof word; len++) {
        memset(word, len % 2 ? '\x1b' : 'x', len);
        word[len] = '\0';
        cli_quotation quoted = cli_quote(word);
        size_t used = strlen(quoted.text);
        assert_true(used >= 2 && used < sizeof quoted.text);
        assert_true(quoted.text[0] == '"' && quoted.text[used - 1] == '"');
    }
}

TEST(test_names_are_quoted_if_they_could_be_misread)
{
    static const char *const names[][2] = {
        {"x.map", "x.map"},
        {"/tmp/a-b_c/x.map", "/tmp/a-b_c/x.map"},
        {"gr\xc3\xb6\xc3\x9f"
         "e.map",
         "gr\xc3\xb6\xc3\x9f"
         "e.map"},
        {"-", "standard input"},
        {"", "\"\""},
        {"a b", "\"a b\""},
        {"x:", "\"x:\""},
        {"it's", "\"it's\""},
        {"a\"b", "\"a\\\"b\""},
        {"a\\b", "\"a\\\\b\""},
        {"a\nb", "\"a\\x0a"
                 "b\""},
        {"a\xff", "\"a\\xff\""},
        {"a\xc2\x9b", "\"a\\xc2\\x9b\""}, /* a control character */
        {"a\xe2\x80\xae", "\"a\\xe2\\x80\\xae\""}, /* from right to left */
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(cli_name(names[i][0]).text, names[i][1]);
    for (size_t len = 900; len < 1200; len++) {
        char name[1200];
        memset(name, 'x', len);
        name[len] = '\0';
        cli_quotation shown = cli_name(name);
        size_t used = strlen(shown.text);
        assert_true(used < sizeof shown.text);
        assert_true(len < sizeof shown.text ? used == len : shown.text[used - 1] == '"');
    }
}

/* A write that failed long before the end; in a child, because stdout is lost. */
TEST(test_an_early_failure_is_not_forgotten)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/full", "w", stdout) || setvbuf(stdout, NULL, _IONBF, 0) != 0 ||
            !freopen("/dev/null", "w", stderr))
            _exit(100);
        fputs("unbuffered, so that nothing is left to flush", stdout);
        _exit(cli_finish(CLI_YES));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CLI_FAILED);
}
