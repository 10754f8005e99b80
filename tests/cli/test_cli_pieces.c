/* Pieces of the program: numbers, JSON, tables, quoting. */
#include "cli/core/json_write.h"
#include "cli/core/numbers.h"
#include "cli/core/output.h"
#include "cli/core/text_table.h"
#include "support/cmocka_all.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef const char *parse(const char *text, uint64_t *value);

static void assert_reads(parse *function, const char *text, uint64_t expected)
{
    uint64_t value = ~expected;
    const char *problem = function(text, &value);
    if (problem)
        fail_msg("\"%s\" %s", text, problem);
    assert_int_equal(value, expected);
}

static void assert_refuses(parse *function, const char *text, const char *part)
{
    uint64_t value = 42;
    const char *problem = function(text, &value);
    if (!problem) {
        fail_msg("\"%s\" is taken for %llu", text, (unsigned long long)value);
        return;
    }
    if (!strstr(problem, part))
        fail_msg("\"%s\" %s", text, problem);
    assert_int_equal(value, 42);
}

static void test_counts_are_exact(void **state)
{
    (void)state;
    assert_reads(cli_parse_count, "0", 0);
    assert_reads(cli_parse_count, "18446744073709551615", UINT64_MAX);
    assert_reads(cli_parse_count, "18446744073709551.615k", UINT64_MAX);
    assert_reads(cli_parse_count, "1.8446744073709551615e19", UINT64_MAX);
    assert_reads(cli_parse_count, "2^63", (uint64_t)1 << 63);
    assert_reads(cli_parse_count, "3^40", UINT64_C(12157665459056928801));
    assert_reads(cli_parse_count, "7^0", 1);
    assert_reads(cli_parse_count, "1^999999", 1);
    assert_reads(cli_parse_count, "0^0", 1);
    assert_reads(cli_parse_count, "0^5", 0);
    assert_reads(cli_parse_count, "0.0009765625Mi", 1024);
    assert_reads(cli_parse_count, "16777215Ti", UINT64_C(16777215) << 40);
    assert_reads(cli_parse_count, "9007199254740993", UINT64_C(9007199254740993)); /* 2^53 + 1 */
    assert_reads(cli_parse_count, "5.", 5);
    assert_reads(cli_parse_count, "100000000000000000000000000e-26", 1);

    assert_refuses(cli_parse_count, "18446744073709551616", "too large");
    assert_refuses(cli_parse_count, "16777216Ti", "too large");
    assert_refuses(cli_parse_count, "3^41", "too large");
    assert_refuses(cli_parse_count, "2^18446744073709551615", "too large");
    assert_refuses(cli_parse_count, "1.5", "whole");
    assert_refuses(cli_parse_count, "0.3Ki", "whole");
    assert_refuses(cli_parse_count, "0.00000000000000000000001", "whole");
    assert_refuses(cli_parse_count, "1.5^2", "whole");
    assert_refuses(cli_parse_count, "1e-2000000000", "whole");
    assert_refuses(cli_parse_count, "64MiB", "not a count");
    assert_refuses(cli_parse_count, "1i", "not a count");
    assert_refuses(cli_parse_count, "2^^3", "not a count");
    assert_refuses(cli_parse_count, "2^3^4", "not a count");
    assert_refuses(cli_parse_count, "2^ 3", "not a count");
}

static void test_bytes(void **state)
{
    (void)state;
    assert_reads(cli_parse_bytes, "4096", 4096);
    assert_reads(cli_parse_bytes, "4096B", 4096);
    assert_reads(cli_parse_bytes, "64MiB", (uint64_t)64 << 20);
    assert_reads(cli_parse_bytes, "64Mi", (uint64_t)64 << 20);
    assert_reads(cli_parse_bytes, "64MB", 64000000);
    assert_reads(cli_parse_bytes, "1.5kB", 1500);
    assert_reads(cli_parse_bytes, "2^20", 1 << 20);
    assert_refuses(cli_parse_bytes, "64MiBB", "not a size");
    assert_refuses(cli_parse_bytes, "64b", "not a size");
    assert_refuses(cli_parse_bytes, "0.5B", "whole");
    assert_refuses(cli_parse_bytes, "-1k", "below zero");
}

static void test_spans(void **state)
{
    (void)state;
    assert_reads(cli_parse_span, "100ms", 100);
    assert_reads(cli_parse_span, "60s", 60000);
    assert_reads(cli_parse_span, "5m", 300000);
    assert_reads(cli_parse_span, "5min", 300000);
    assert_reads(cli_parse_span, "1h", 3600000);
    assert_reads(cli_parse_span, "7d", 604800000);
    assert_reads(cli_parse_span, "1.5s", 1500);
    assert_reads(cli_parse_span, "0.001s", 1);
    assert_reads(cli_parse_span, "1e3s", 1000000);
    assert_refuses(cli_parse_span, "60", "needs a unit");
    assert_refuses(cli_parse_span, "0.0001s", "whole");
    assert_refuses(cli_parse_span, "60sec", "not a time");
    assert_refuses(cli_parse_span, "60 s", "not a time");
    assert_refuses(cli_parse_span, "s", "not a time");
    assert_refuses(cli_parse_span, "-60s", "below zero");
    assert_refuses(cli_parse_span, "213503982335d", "too large");
}

static void test_shares_are_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double share;
    } good[] = {{"0.1%", 0.001},
                {"0.7%", 0.007},
                {"29%", 0.29},
                {"1e-3", 1e-3},
                {".5", .5},
                {"99.9999999999%", 0.999999999999},
                {"0.010000000000000000208", 0.01},
                {"1000e-9%", 1e-8}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double share = 0;
        assert_null(cli_parse_share(good[i].text, &share));
        assert_true(share == good[i].share);
    }
    static const char *const bad[] = {"",  "0",   "1",    "100%", "1e-400", "-0.1", "nan",
                                      "5", "0x1", "1%00", "%",    "1e-3 ",  ".",    "-"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double share = 42;
        assert_non_null(cli_parse_share(bad[i], &share));
        assert_true(share == 42);
    }
}

/* What a function writes, as a string to free. */
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

static void test_json(void **state)
{
    (void)state;
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

static void test_numbers_round_trip(void **state)
{
    (void)state;
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

static void test_table(void **state)
{
    (void)state;
    cli_table table = CLI_TABLE("lr");
    fill(&table);
    char *text;
    WRITTEN(text, assert_true(cli_table_print(&table, out)));
    assert_string_equal(text, "n\xc3\xa4me      ns\na       10.5\nlonger     9\n");
    free(text);
    WRITTEN(text, assert_true(cli_table_print_markdown(&table, out)));
    assert_string_equal(text, "| n\xc3\xa4me   |   ns |\n|---|---:|\n| a      | 10.5 |\n"
                              "| longer |    9 |\n");
    free(text);
    cli_table_free(&table);
    table.failed = true;
    WRITTEN(text, assert_false(cli_table_print(&table, out)));
    assert_string_equal(text, "");
    free(text);
}

static void test_quotes_fit(void **state)
{
    (void)state;
    char word[300];
    for (size_t len = 0; len < sizeof word; len++) {
        memset(word, len % 2 ? '\x1b' : 'x', len);
        word[len] = '\0';
        cli_quoted quoted = cli_quote(word);
        size_t used = strlen(quoted.text);
        assert_true(used >= 2 && used < sizeof quoted.text);
        assert_true(quoted.text[0] == '"' && quoted.text[used - 1] == '"');
    }
}

/* A write that failed long before the end, in a child since stdout is lost. */
static void test_an_early_failure_is_not_forgotten(void **state)
{
    (void)state;
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

static void test_bytes_are_said(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *said;
    } cases[] = {
        {0, "0 B"},
        {999, "999 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {12397976, "11.8 MiB"},
        {(uint64_t)256 << 20, "256 MiB"},
        {1944023040, "1.81 GiB"},
        {UINT64_MAX, "16.0 EiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(cli_say_bytes(cases[i].bytes).text, cases[i].said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_said),
        cmocka_unit_test(test_counts_are_exact),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_shares_are_nearest),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_numbers_round_trip),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_quotes_fit),
        cmocka_unit_test(test_an_early_failure_is_not_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
