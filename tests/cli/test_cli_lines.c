/* Reading and writing of lines: the line reader, JSON lines, base64. */
#include "cli/core/input/lines.h"
#include "cli/core/json/base64.h"
#include "cli/core/json/json_read.h"
#include "cli/core/json/json_write.h"
#include "support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- lines --------------------------------------------------------------------------------- */

/* A pipe that a child fills in pieces of `step` bytes. */
static int pipe_of(const char *bytes, size_t len, size_t step, pid_t *child)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *child = fork();
    assert_true(*child >= 0);
    if (*child == 0) {
        close(ends[0]);
        for (size_t at = 0; at < len; at += step)
            if (write(ends[1], bytes + at, len - at < step ? len - at : step) < 0)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

static void end_pipe(int fd, pid_t child)
{
    int status;
    close(fd);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static int file_of(const char *bytes, size_t len)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    int fd = dup(fileno(file));
    fclose(file);
    assert_int_equal(write(fd, bytes, len), len);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void assert_line(cli_lines *lines, const char *bytes, size_t len)
{
    cli_text line;
    assert_int_equal(cli_lines_next(lines, &line), BRY_OK);
    assert_non_null(line.bytes);
    assert_int_equal(line.len, len);
    assert_memory_equal(line.bytes, bytes, len);
}

static void assert_end(cli_lines *lines)
{
    cli_text line = {(char *)lines, 1};
    assert_int_equal(cli_lines_next(lines, &line), BRY_OK);
    assert_null(line.bytes);
    assert_false(cli_lines_ready(lines));
}

TEST(test_lines_in_pieces)
{
    static const char bytes[] = "one\n\ntwo\r\n\0three\0\nlast";
    for (size_t step = 1; step < sizeof bytes; step++) {
        pid_t child;
        int fd = pipe_of(bytes, sizeof bytes - 1, step, &child);
        cli_lines lines = CLI_LINES(fd, '\n');
        assert_line(&lines, "one", 3);
        assert_line(&lines, "", 0);
        assert_line(&lines, "two\r", 4);
        assert_line(&lines, "\0three\0", 7);
        assert_int_equal(lines.number, 4);
        assert_line(&lines, "last", 4);
        assert_end(&lines);
        assert_end(&lines);
        assert_int_equal(lines.number, 5);
        cli_lines_free(&lines);
        end_pipe(fd, child);

        fd = pipe_of(bytes, sizeof bytes - 1, step, &child);
        lines = (cli_lines)CLI_LINES(fd, '\0');
        assert_line(&lines, "one\n\ntwo\r\n", 10);
        assert_line(&lines, "three", 5);
        assert_line(&lines, "\nlast", 5);
        assert_end(&lines);
        cli_lines_free(&lines);
        end_pipe(fd, child);
    }
}

/* Lines in memory stay where they are until more input is read. */
TEST(test_ready_lines_do_not_move)
{
    int fd = file_of("a\nbb\nccc", 8);
    cli_lines lines = CLI_LINES(fd, '\n');
    cli_text first, second;
    assert_false(cli_lines_ready(&lines));
    assert_int_equal(cli_lines_next(&lines, &first), BRY_OK);
    assert_true(cli_lines_ready(&lines));
    assert_int_equal(cli_lines_next(&lines, &second), BRY_OK);
    assert_memory_equal(first.bytes, "a", 1);
    assert_memory_equal(second.bytes, "bb", 2);
    assert_false(cli_lines_ready(&lines)); /* it could go on */
    assert_line(&lines, "ccc", 3);
    assert_end(&lines);
    cli_lines_free(&lines);
    close(fd);
}

TEST(test_longest_line)
{
    size_t len = CLI_LINE_MAX + 3;
    char *bytes = malloc(len);
    assert_non_null(bytes);
    for (unsigned more = 0; more < 2; more++) {
        memset(bytes, 'x', len);
        bytes[0] = '\n';
        bytes[1 + CLI_LINE_MAX + more] = '\n';
        int fd = file_of(bytes, len);
        cli_lines lines = CLI_LINES(fd, '\n');
        assert_line(&lines, "", 0);
        cli_text line;
        bry_status status = cli_lines_next(&lines, &line);
        assert_int_equal(status, more ? BRY_E_TOOLONG : BRY_OK);
        assert_int_equal(lines.number, more ? 1 : 2);
        cli_lines_free(&lines);
        close(fd);
    }
    /* and one that has no end at all */
    memset(bytes, 'x', len);
    int fd = file_of(bytes, len);
    cli_lines lines = CLI_LINES(fd, '\n');
    cli_text line;
    assert_int_equal(cli_lines_next(&lines, &line), BRY_E_TOOLONG);
    cli_lines_free(&lines);
    close(fd);
    free(bytes);
}

TEST(test_reading_fails)
{
    cli_lines lines = CLI_LINES(-1, '\n');
    cli_text line;
    uint64_t count;
    bool exact;
    assert_int_equal(cli_lines_next(&lines, &line), BRY_E_IO);
    assert_int_equal(cli_lines_count(&lines, &count, &exact), BRY_E_IO);
    cli_lines_free(&lines);
}

static bool allow(void *context)
{
    unsigned *left = context;
    return *left > 0 && (*left)--;
}

/* The callback is called before each read, and may end the input. */
TEST(test_reading_is_stopped)
{
    for (unsigned reads = 0; reads < 3; reads++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], "one\ntwo\nhalf", 12), 12);
        unsigned left = reads;
        cli_lines lines = CLI_LINES(ends[0], '\n');
        lines.may_read = allow;
        lines.context = &left;
        if (reads == 0) {
            assert_end(&lines);
            assert_int_equal(lines.number, 0);
        } else {
            assert_line(&lines, "one", 3);
            assert_line(&lines, "two", 3);
            if (reads == 2) {
                assert_int_equal(write(ends[1], " a line\nand", 11), 11);
                assert_line(&lines, "half a line", 11);
            }
            assert_end(&lines); /* without the incomplete line */
            assert_int_equal(lines.number, reads + 1);
        }
        assert_int_equal(left, 0);
        assert_end(&lines);
        cli_lines_free(&lines);
        close(ends[0]);
        close(ends[1]);
    }
}

TEST(test_counts)
{
    static const struct {
        const char *bytes;
        size_t lines;
    } inputs[] = {{"", 0}, {"\n", 1}, {"a", 1}, {"a\n", 1}, {"a\nb", 2}, {"a\n\n\nb\n", 4}};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        uint64_t count = 99;
        bool exact = false;
        size_t len = strlen(inputs[i].bytes);
        int fd = file_of(inputs[i].bytes, len);
        cli_lines lines = CLI_LINES(fd, '\n');
        assert_int_equal(cli_lines_count(&lines, &count, &exact), BRY_OK);
        assert_int_equal(count, inputs[i].lines);
        assert_true(exact);
        cli_text line;
        for (count = 0; cli_lines_next(&lines, &line) == BRY_OK && line.bytes;)
            count++;
        assert_int_equal(count, inputs[i].lines);
        cli_lines_free(&lines);
        close(fd);

        pid_t child;
        fd = pipe_of(inputs[i].bytes, len, 1, &child);
        lines = (cli_lines)CLI_LINES(fd, '\n');
        exact = false;
        assert_int_equal(cli_lines_count(&lines, &count, &exact), BRY_OK);
        assert_int_equal(count, inputs[i].lines);
        assert_true(exact);
        for (count = 0; cli_lines_next(&lines, &line) == BRY_OK && line.bytes;)
            count++;
        assert_int_equal(count, inputs[i].lines);
        cli_lines_free(&lines);
        end_pipe(fd, child);
    }
}

/* The beginning of a long pipe is counted, and none of it is lost. */
TEST(test_counts_of_a_long_pipe)
{
    size_t n = 3000000, len = n * 2;
    char *bytes = malloc(len);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++) {
        bytes[2 * i] = 'x';
        bytes[2 * i + 1] = '\n';
    }
    pid_t child;
    int fd = pipe_of(bytes, len, 65536, &child);
    cli_lines lines = CLI_LINES(fd, '\n');
    uint64_t count;
    bool exact = true;
    assert_int_equal(cli_lines_count(&lines, &count, &exact), BRY_OK);
    assert_false(exact);
    assert_true(count >= (4 << 20) / 2 && count < n);
    cli_text line;
    for (count = 0; cli_lines_next(&lines, &line) == BRY_OK && line.bytes; count++)
        assert_int_equal(line.len, 1);
    assert_int_equal(count, n);
    cli_lines_free(&lines);
    end_pipe(fd, child);
    free(bytes);

    fd = file_of("ab\ncd\nef\n", 9); /* a file is counted from its offset, which does not change */
    assert_int_equal(lseek(fd, 3, SEEK_SET), 3);
    lines = (cli_lines)CLI_LINES(fd, '\n');
    assert_int_equal(cli_lines_count(&lines, &count, &exact), BRY_OK);
    assert_int_equal(count, 2);
    assert_line(&lines, "cd", 2);
    cli_lines_free(&lines);
    close(fd);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Reads from a block of exactly the line's size, so that a sanitizer detects reads beyond it. */
static const char *read_line(const char *text, size_t len, cli_json_member members[3], char **block,
                             size_t *column)
{
    members[0] = (cli_json_member){.name = "key"};
    members[1] = (cli_json_member){.name = "value"};
    members[2] = (cli_json_member){.name = ""};
    *block = malloc(len ? len : 1);
    assert_non_null(*block);
    memcpy(*block, text, len);
    return cli_json_line_read((cli_text){*block, len}, members, 3, column);
}

TEST(test_json_is_read)
{
    static const struct {
        const char *text, *key;
        size_t len;
    } good[] = {
        {"{\"key\":\"abc\"}", "abc", 3},
        {" \t{ \"key\" : \"\" } \r", "", 0},
        {"{\"value\":\"x\",\"key\":\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "a\"\\/\b\f\n\r\t", 9},
        {"{\"key\":\"\\u0041\\u00e9\\u20ac\\u0000z\"}", "A\xc3\xa9\xe2\x82\xac\0z", 8},
        {"{\"key\":\"\\ud83c\\uDF7A\"}", "\xf0\x9f\x8d\xba", 4},
        {"{\"key\":\"\\ud800\\udc00\\udbff\\udfff\"}", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8},
        {"{\"key\":\"\xc3\xa9\xf0\x9f\x8d\xba\x7f\"}", "\xc3\xa9\xf0\x9f\x8d\xba\x7f", 7},
        {"{\"\\u006bey\":\"k\",\"\":7}", "k", 1},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cli_json_member members[3];
        char *block;
        size_t column = 0;
        const char *problem =
            read_line(good[i].text, strlen(good[i].text), members, &block, &column);
        if (problem)
            fail_msg("%s: column %zu: %s", good[i].text, column, problem);
        assert_int_equal(members[0].type, CLI_JSON_STRING);
        assert_int_equal(members[0].text.len, good[i].len);
        assert_memory_equal(members[0].text.bytes, good[i].key, good[i].len);
        free(block);
    }
    static const struct {
        const char *text;
        uint64_t number;
    } numbers[] = {{"{\"value\":0}", 0},
                   {"{\"value\": 18446744073709551615 }", UINT64_MAX},
                   {"{\"value\":42,\"key\":\"\"}", 42}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        cli_json_member members[3];
        char *block;
        size_t column;
        assert_null(read_line(numbers[i].text, strlen(numbers[i].text), members, &block, &column));
        assert_int_equal(members[1].type, CLI_JSON_WHOLE);
        assert_int_equal(members[1].number, numbers[i].number);
        free(block);
    }
    cli_json_member members[3];
    char *block;
    size_t column;
    assert_null(read_line("{}", 2, members, &block, &column));
    for (int i = 0; i < 3; i++)
        assert_int_equal(members[i].type, CLI_JSON_MISSING);
    free(block);
}

TEST(test_json_is_refused)
{
    static const struct {
        const char *text, *part;
        size_t column;
    } bad[] = {
        {"", "ends too early", 1},
        {"   ", "ends too early", 4},
        {"[]", "in braces", 1},
        {"\xef\xbb\xbf{}", "in braces", 1},
        {"null", "in braces", 1},
        {"{", "ends too early", 2},
        {"{\"key\"", "ends too early", 7},
        {"{\"key\":", "ends too early", 8},
        {"{\"key\":\"a", "ends too early", 10},
        {"{\"key\":\"a\\", "ends too early", 11},
        {"{\"key\":\"a\\u12", "ends too early", 14},
        {"{\"key\":\"a\"", "ends too early", 11},
        {"{\"key\" \"a\"}", "colon", 8},
        {"{\"key\":\"a\",}", "name of a member", 12},
        {"{,}", "name of a member", 2},
        {"{key:\"a\"}", "name of a member", 2},
        {"{\"key\":\"a\" \"value\":\"b\"}", "comma or a closing", 12},
        {"{\"key\":\"a\"} x", "after the object", 13},
        {"{\"key\":\"a\"}{}", "after the object", 12},
        {"{\"kez\":\"a\"}", "unknown member", 2},
        {"{\"key\":\"a\",\"key\":\"a\"}", "duplicate", 12},
        {"{\"key\":\"\\x\"}", "invalid escape", 9},
        {"{\"key\":\"\\u12g4\"}", "invalid escape", 9},
        {"{\"key\":\"\\ud800\"}", "surrogate", 9},
        {"{\"key\":\"x\\udc00\"}", "surrogate", 10},
        {"{\"key\":\"\\ud800\\u0041\"}", "surrogate", 9},
        {"{\"key\":\"\\ud800x\"}", "surrogate", 9},
        {"{\"key\":\"\\ud800\\ud800\"}", "surrogate", 9},
        {"{\"key\":\"a\tb\"}", "control", 10},
        {"{\"key\":\"\xff\"}", "UTF-8", 9},
        {"{\"key\":\"\xc0\x80\"}", "UTF-8", 9},
        {"{\"key\":\"\xed\xa0\x80\"}", "UTF-8", 9},
        {"{\"key\":\"a\xe2\x82\"}", "UTF-8", 10},
        {"{\"key\":'a'}", "string or a whole", 8},
        {"{\"value\":-1}", "string or a whole", 10},
        {"{\"value\":1.5}", "string or a whole", 10},
        {"{\"value\":1e3}", "string or a whole", 10},
        {"{\"value\":true}", "string or a whole", 10},
        {"{\"value\":null}", "string or a whole", 10},
        {"{\"value\":[1]}", "string or a whole", 10},
        {"{\"value\":{}}", "string or a whole", 10},
        {"{\"value\":01}", "begin with 0", 10},
        {"{\"value\":18446744073709551616}", "too large", 10},
        {"{\"value\":1x}", "comma or a closing", 11},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cli_json_member members[3];
        char *block;
        size_t column = 0;
        const char *problem = read_line(bad[i].text, strlen(bad[i].text), members, &block, &column);
        if (!problem)
            fail_msg("%s is accepted", bad[i].text);
        else if (!strstr(problem, bad[i].part) || column != bad[i].column)
            fail_msg("%s: column %zu: %s", bad[i].text, column, problem);
        free(block);
    }
}

/* Truncated and altered lines are refused or read, and nothing outside the line is touched. */
TEST(test_json_of_any_bytes)
{
    static const char whole[] = "{\"key\":\"a\\ud83c\\udf7a\xc3\xa9\",\"value\":120}";
    size_t len = sizeof whole - 1;
    for (size_t cut = 0; cut < len; cut++) {
        cli_json_member members[3];
        char *block;
        size_t column = 0;
        assert_non_null(read_line(whole, cut, members, &block, &column));
        assert_true(column >= 1 && column <= cut + 1);
        free(block);
    }
    for (size_t at = 0; at < len; at++)
        for (unsigned byte = 0; byte < 256; byte++) {
            char altered[sizeof whole];
            memcpy(altered, whole, sizeof whole);
            altered[at] = (char)byte;
            cli_json_member members[3];
            char *block;
            size_t column = 0;
            if (read_line(altered, len, members, &block, &column))
                assert_true(column >= 1 && column <= len + 1);
            free(block);
        }
}

static void assert_written(const char *bytes, size_t len, const char *expected)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    cli_json_line_member(out, "v", bytes, len);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

TEST(test_json_is_written)
{
    assert_written("", 0, "\"v\":\"\"");
    assert_written("a\"\\\n\0\x7f/", 7, "\"v\":\"a\\\"\\\\\\u000a\\u0000\\u007f/\"");
    assert_written("\xc3\xa9", 2, "\"v\":\"\xc3\xa9\"");
    assert_written("\xc3", 1, "\"v_base64\":\"ww==\"");
    assert_written("\xff\xfe", 2, "\"v_base64\":\"//4=\"");
    assert_written("\xff\xfe\xfd", 3, "\"v_base64\":\"//79\"");
    assert_written("\xff\0\0\0", 4, "\"v_base64\":\"/wAAAA==\"");
}

/* ---- base64 -------------------------------------------------------------------------------- */

TEST(test_base64_round_trips)
{
    unsigned char bytes[256 + 3];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 167 + 13);
    for (size_t len = 0; len < sizeof bytes; len++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        cli_base64_write(out, bytes, len);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(size, (len + 2) / 3 * 4);
        assert_true(cli_base64_read(text, &size));
        assert_int_equal(size, len);
        assert_memory_equal(text, bytes, len);
        free(text);
    }
}

TEST(test_base64_is_strict)
{
    static const char *const bad[] = {"A",    "AA",       "AAA",  "=",     "====",
                                      "A===", "AA=A",     "AAA*", "AA A",  "AB==",
                                      "AAB=", "AA==AAAA", "-_-_", "AAAAA", "\xc3\xa9\xc3\xa9",
                                      "AAA\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[16];
        size_t len = strlen(bad[i]);
        memcpy(text, bad[i], len);
        if (cli_base64_read(text, &len))
            fail_msg("%s is accepted", bad[i]);
    }
}
