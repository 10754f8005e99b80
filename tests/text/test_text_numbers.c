/* Numbers as people write them and read them. */
#include "support/cmocka_all.h"
#include "text/number_format.h"
#include "text/number_parse.h"

#include <string.h>

typedef const char *parse(const char *text, size_t len, uint64_t *value);

static void assert_reads(parse *function, const char *text, uint64_t expected)
{
    uint64_t value = ~expected;
    const char *problem = function(text, strlen(text), &value);
    if (problem)
        fail_msg("\"%s\" %s", text, problem);
    assert_int_equal(value, expected);
}

static void assert_refuses(parse *function, const char *text, const char *part)
{
    uint64_t value = 42;
    const char *problem = function(text, strlen(text), &value);
    if (!problem) {
        fail_msg("\"%s\" is taken for %llu", text, (unsigned long long)value);
        return;
    }
    if (!strstr(problem, part))
        fail_msg("\"%s\" %s", text, problem);
    assert_int_equal(value, 42);
}

TEST(test_counts_are_exact)
{
    assert_reads(text_parse_count, "0", 0);
    assert_reads(text_parse_count, "18446744073709551615", UINT64_MAX);
    assert_reads(text_parse_count, "18446744073709551.615k", UINT64_MAX);
    assert_reads(text_parse_count, "1.8446744073709551615e19", UINT64_MAX);
    assert_reads(text_parse_count, "2^63", (uint64_t)1 << 63);
    assert_reads(text_parse_count, "3^40", UINT64_C(12157665459056928801));
    assert_reads(text_parse_count, "7^0", 1);
    assert_reads(text_parse_count, "1^999999", 1);
    assert_reads(text_parse_count, "0^0", 1);
    assert_reads(text_parse_count, "0^5", 0);
    assert_reads(text_parse_count, "0.0009765625Mi", 1024);
    assert_reads(text_parse_count, "16777215Ti", UINT64_C(16777215) << 40);
    assert_reads(text_parse_count, "9007199254740993", UINT64_C(9007199254740993)); /* 2^53 + 1 */
    assert_reads(text_parse_count, "5.", 5);
    assert_reads(text_parse_count, "10k", 10000);
    assert_reads(text_parse_count, "10K", 10000);
    assert_reads(text_parse_count, "10M", 10000000);
    assert_reads(text_parse_count, "10G", UINT64_C(10000000000));
    assert_reads(text_parse_count, "10T", UINT64_C(10000000000000));
    assert_reads(text_parse_count, "1E6", 1000000);
    assert_reads(text_parse_count, "1E+3", 1000);
    assert_reads(text_parse_count, "0.001M", 1000);
    assert_reads(text_parse_count, ".5k", 500);
    assert_reads(text_parse_count, "007", 7);
    assert_reads(text_parse_count, "1.50e2", 150);
    assert_reads(text_parse_count, "1000e-3", 1);
    assert_reads(text_parse_count, "16Ki", 16384);
    assert_reads(text_parse_count, "16ki", 16384);
    assert_reads(text_parse_count, "2Gi", (uint64_t)2 << 30);
    assert_reads(text_parse_count, "100000000000000000000000000e-26", 1);
}

TEST(test_what_is_no_count)
{
    assert_refuses(text_parse_count, "18446744073709551616", "too large");
    assert_refuses(text_parse_count, "16777216Ti", "too large");
    assert_refuses(text_parse_count, "3^41", "too large");
    assert_refuses(text_parse_count, "2^18446744073709551615", "too large");
    assert_refuses(text_parse_count, "1.5", "whole");
    assert_refuses(text_parse_count, "0.3Ki", "whole");
    assert_refuses(text_parse_count, "0.00000000000000000000001", "whole");
    assert_refuses(text_parse_count, "1.5^2", "whole");
    assert_refuses(text_parse_count, "1e-2000000000", "whole");
    assert_refuses(text_parse_count, "10m", "which means minutes: write M for millions");
    assert_refuses(text_parse_count, "1.5m", "minutes");
    assert_refuses(text_parse_count, "10mi", "wrong case: write k, M, G");
    assert_refuses(text_parse_count, "10g", "wrong case: write k, M, G");
    assert_refuses(text_parse_count, "10t", "wrong case: write k, M, G");
    assert_refuses(text_parse_count, "16kI", "wrong case: write k, M, G");
    assert_refuses(text_parse_count, "16min", "not a count");
    assert_refuses(text_parse_count, "64kb", "not a count");
    assert_refuses(text_parse_count, "64MiB", "not a count");
    assert_refuses(text_parse_count, "1i", "not a count");
    assert_refuses(text_parse_count, "2^^3", "not a count");
    assert_refuses(text_parse_count, "2^3^4", "not a count");
    assert_refuses(text_parse_count, "2^ 3", "not a count");
    static const char *const bad[] = {"",     "abc", "10X",    "10 M", " 10", "10M ", "+5",
                                      "0x10", "nan", "inf",    "1e",   "1e+", "1..2", ".",
                                      "-",    "2^",  "2^-1",   "2^3k", "1kk", "10MB", "1,000",
                                      "60s",  "5%",  "--json", "-5x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refuses(text_parse_count, bad[i], "not a count");
    static const char *const negative[] = {"-5", "-.5", "-1e3"};
    for (size_t i = 0; i < sizeof negative / sizeof negative[0]; i++)
        assert_refuses(text_parse_count, negative[i], "below zero");
    assert_refuses(text_parse_count, "0.0001k", "whole");
    assert_refuses(text_parse_count, "1e-3", "whole");
    assert_refuses(text_parse_count, "1e99999999999999", "too large");
    assert_refuses(text_parse_count, "9999999999999999999999999999999999999999", "too large");
    assert_refuses(text_parse_count, "0.99999999999999999999999999999999999999999",
                   "too many digits");
}

TEST(test_bytes)
{
    assert_reads(text_parse_bytes, "4096", 4096);
    assert_reads(text_parse_bytes, "4096B", 4096);
    assert_reads(text_parse_bytes, "64MiB", (uint64_t)64 << 20);
    assert_reads(text_parse_bytes, "64b", 64);
    static const char *const same[] = {"64Mi", "64MB", "64mb", "64Mb", "64MiB", "64mib", "64MIB"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        assert_reads(text_parse_bytes, same[i], (uint64_t)64 << 20);
    assert_reads(text_parse_bytes, "1.5kB", 1536);
    assert_reads(text_parse_bytes, "1.5k", 1500);
    assert_reads(text_parse_bytes, "64M", 64000000);
    assert_reads(text_parse_bytes, "2G", UINT64_C(2000000000));
    assert_reads(text_parse_bytes, "1GB", 1 << 30);
    assert_refuses(text_parse_bytes, "64m", "minutes: write mb (2^20 bytes) or M (10^6 bytes)");
    assert_refuses(text_parse_bytes, "64mi", "wrong case: write k, M, G");
    assert_refuses(text_parse_bytes, "1g", "wrong case: write k, M, G");
    assert_reads(text_parse_bytes, "2tb", (uint64_t)2 << 40);
    assert_reads(text_parse_bytes, "2^20", 1 << 20);
    assert_refuses(text_parse_bytes, "64MiBB", "not a size");
    assert_refuses(text_parse_bytes, "64bm", "not a size");
    assert_refuses(text_parse_bytes, "64ib", "not a size");
    assert_refuses(text_parse_bytes, "64 MB", "not a size");
    assert_refuses(text_parse_bytes, "0.5B", "whole");
    assert_refuses(text_parse_bytes, "-1k", "below zero");
}

TEST(test_spans)
{
    assert_reads(text_parse_span, "100ms", 100);
    assert_reads(text_parse_span, "60s", 60000);
    assert_reads(text_parse_span, "5m", 300000);
    assert_reads(text_parse_span, "5min", 300000);
    assert_reads(text_parse_span, "1h", 3600000);
    assert_reads(text_parse_span, "7d", 604800000);
    assert_reads(text_parse_span, "1.5s", 1500);
    assert_reads(text_parse_span, "0.001s", 1);
    assert_reads(text_parse_span, "1e3s", 1000000);
    assert_refuses(text_parse_span, "60", "needs a unit");
    assert_refuses(text_parse_span, "0.0001s", "whole");
    assert_refuses(text_parse_span, "60sec", "not a time");
    assert_refuses(text_parse_span, "60 s", "not a time");
    assert_refuses(text_parse_span, "s", "not a time");
    assert_refuses(text_parse_span, "-60s", "below zero");
    assert_refuses(text_parse_span, "213503982335d", "too large");
    assert_refuses(text_parse_span, "1M", "not a time"); /* a million, elsewhere */
    assert_refuses(text_parse_span, "1S", "not a time");
    assert_refuses(text_parse_span, "2^20", "not a time");

    assert_reads(text_parse_span_or_ms, "60000", 60000);
    assert_reads(text_parse_span_or_ms, "1E3", 1000);
    assert_reads(text_parse_span_or_ms, "1m", 60000);
    assert_reads(text_parse_span_or_ms, "2^20", 1 << 20);
    assert_refuses(text_parse_span_or_ms, "0.5", "whole");
    assert_refuses(text_parse_span_or_ms, "1M", "in lower case");
    assert_refuses(text_parse_span_or_ms, "", "not a time");
}

TEST(test_digits_alone)
{
    assert_reads(text_parse_plain, "0", 0);
    assert_reads(text_parse_plain, "0018446744073709551615", UINT64_MAX);
    assert_reads(text_parse_moment, "1700000000000", UINT64_C(1700000000000));
    assert_refuses(text_parse_plain, "18446744073709551616", "too large");
    assert_refuses(text_parse_plain, "-1", "below zero");
    static const char *const bad[] = {"", "-", "1k", "1.0", "1e3", "2^3", "+1", " 1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_refuses(text_parse_plain, bad[i], "digits only");
        assert_refuses(text_parse_moment, bad[i], "milliseconds, digits only");
    }
}

TEST(test_integers)
{
    static const struct {
        const char *text;
        int64_t number;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"-3", -3},
                {"007", 7},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    int64_t number = 42;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_null(text_parse_integer(good[i].text, strlen(good[i].text), &number));
        assert_int_equal(number, good[i].number);
    }
    static const char *const bad[] = {"", "-", "--1", "-1k", "1.0", "1e3", "+1", " 1", "-."};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_string_equal(text_parse_integer(bad[i], strlen(bad[i]), &number),
                            "is not an integer");
    static const char *const large[] = {"9223372036854775808", "-9223372036854775809",
                                        "18446744073709551616"};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        assert_true(text_is_out_of_range(text_parse_integer(large[i], strlen(large[i]), &number)));
}

/* A number that is too small or too large is told apart from what is not a number. */
TEST(test_out_of_range)
{
    static const struct {
        parse *of;
        const char *text;
        bool is_number;
    } cases[] = {
        {text_parse_count, "2^64", true},
        {text_parse_count, "-5", true},
        {text_parse_count, "-5k", true},
        {text_parse_count, "-2^3", true},
        {text_parse_count, "-5x", false},
        {text_parse_count, "-10m", false},
        {text_parse_count, "1e30", true},
        {text_parse_count, "1e30x", false},
        {text_parse_count, "1.5", false},
        {text_parse_count, "", false},
        {text_parse_bytes, "1e30mb", true},
        {text_parse_bytes, "-1kB", true},
        {text_parse_span, "-60s", true},
        {text_parse_span, "-60", false},
        {text_parse_span, "1e30d", true},
        {text_parse_plain, "-1", true},
        {text_parse_plain, "-1x", false},
        {text_parse_plain, "18446744073709551616", true},
        {text_parse_count, "99999999999999999999999999999999999999999999999999", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value;
        const char *problem = cases[i].of(cases[i].text, strlen(cases[i].text), &value);
        if (!problem || text_is_out_of_range(problem) != cases[i].is_number)
            fail_msg("%s %s", cases[i].text, problem);
    }
    static const char *const shares[] = {"0", "1", "2", "-0.1", "100%", "1e-999"};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double share;
        assert_true(text_is_out_of_range(text_parse_share(shares[i], strlen(shares[i]), &share)));
    }
}

/* The text is read up to its length: not beyond, and not only up to a NUL. */
TEST(test_lengths)
{
    static parse *const all[] = {text_parse_count, text_parse_bytes,  text_parse_span_or_ms,
                                 text_parse_plain, text_parse_moment, text_parse_span};
    uint64_t value = 42;
    for (size_t i = 0; i < 5; i++) {
        assert_null(all[i]("123", 2, &value));
        assert_int_equal(value, 12);
    }
    assert_null(text_parse_span("5min", 2, &value));
    assert_int_equal(value, 300000);
    assert_null(text_parse_count("2^34", 3, &value));
    assert_int_equal(value, 8);
    assert_null(text_parse_count("1e23", 3, &value));
    assert_int_equal(value, 100);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_non_null(all[i]("1\0", 2, &value));
        assert_non_null(all[i]("1\0002", 3, &value));
        assert_non_null(all[i]("5m\0", 3, &value));
        assert_non_null(all[i]("", 0, &value));
    }
    double share;
    assert_non_null(text_parse_share("0.1\0", 4, &share));
    assert_null(text_parse_share("0.12", 3, &share));
    assert_true(share == 0.1);
}

TEST(test_shares_are_nearest)
{
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
        assert_null(text_parse_share(good[i].text, strlen(good[i].text), &share));
        assert_true(share == good[i].share);
    }
    static const char *const bad[] = {"",       "0",     "1",    "100%",  "1e-400", "-0.1", "nan",
                                      "5",      "0x1",   "1%00", "%",     "1e-3 ",  ".",    "-",
                                      "0%",     "abc",   "-nan", "inf",   "1%%",    "1 %",  "-1%",
                                      "0x1p-3", "1/100", "0,01", "1e-3x", "1e999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double share = 42;
        assert_non_null(text_parse_share(bad[i], strlen(bad[i]), &share));
        assert_true(share == 42);
    }
}

TEST(test_sizes_are_written)
{
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
        assert_string_equal(text_size_of(cases[i].bytes).text, cases[i].said);
}

TEST(test_numbers_are_written)
{
    static const struct {
        double number;
        const char *shortest, *rounded, *with_point;
    } cases[] = {{0.0005, "0.0005", "0.0005", "0.0005"},
                 {1e-9, "1e-09", "1e-09", "1.0e-09"},
                 {0.01, "0.01", "0.01", "0.01"},
                 {0, "0", "0", "0.0"},
                 {1, "1", "1", "1.0"},
                 {1000000, "1000000", "1e+06", "1.0e+06"},
                 {0.000749999999625, "0.000749999999625", "0.00075", "0.00075"},
                 {1.0 / 3, "0.3333333333333333", "0.333333", "0.333333"},
                 {0.1 + 0.2, "0.30000000000000004", "0.3", "0.3"}};
    char text[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(text_number(cases[i].number, text), cases[i].shortest);
        assert_string_equal(text_rounded(cases[i].number, text), cases[i].rounded);
        assert_string_equal(text_with_point(cases[i].number, text), cases[i].with_point);
    }
}
