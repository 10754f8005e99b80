#include "bench/peers/line_programs.h"

#include "bench/harness/keys.h"
#include "bench/harness/temporary_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- lines --------------------------------------------------------------------------------- */

void line_write(uint64_t i, char to[LINE_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint64_t of = i;
    if (line_is_repeat(i)) {
        of = bench_random(i) % i;
        of -= line_is_repeat(of);
    }
    uint64_t number = bench_random(of);
    for (int at = 0; at < LINE_BYTES - 1; at++, number <<= 4)
        to[at] = digits[number >> 60];
    to[LINE_BYTES - 1] = '\n';
    to[LINE_BYTES] = '\0';
}

int line_file(uint64_t lines)
{
    int fd = bench_temporary_file();
    if (fd < 0)
        return -1;
    int copy = dup(fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "we");
    bool good = file != NULL;
    for (uint64_t i = 0; i < lines && good; i++) {
        char line[LINE_BYTES + 1];
        line_write(i, line);
        good = fwrite(line, 1, LINE_BYTES, file) == LINE_BYTES;
    }
    int why = errno;
    if (file ? fclose(file) != 0 : copy >= 0 && close(copy) != 0) {
        why = good ? errno : why;
        good = false;
    }
    if (good)
        return fd;
    close(fd);
    errno = why;
    return -1;
}

/* ---- what they print ----------------------------------------------------------------------- */

/* The next line from i on that is a first occurrence. */
static uint64_t next_first(uint64_t i)
{
    return line_is_repeat(i) ? i + 1 : i;
}

void line_check_read(void *context, int fd)
{
    line_check *check = context;
    FILE *in = fdopen(dup(fd), "re");
    char line[LINE_BYTES + 2], wanted[LINE_BYTES + 1];
    uint64_t at = 0;
    check->printed = check->missing = 0;
    check->wrong = in == NULL;
    while (in && fgets(line, sizeof line, in)) {
        check->printed++;
        if (!check->in_order)
            continue;
        for (;;) { /* those in between are missing */
            at = next_first(at);
            if (at >= check->lines) {
                check->wrong = true;
                break;
            }
            line_write(at++, wanted);
            if (strcmp(line, wanted) == 0)
                break;
            check->missing++;
        }
    }
    if (in)
        fclose(in);
    uint64_t first = check->lines - check->lines / 20;
    if (!check->wrong && check->printed > first)
        check->wrong = true;
    check->missing = first - (check->printed < first ? check->printed : first);
}
