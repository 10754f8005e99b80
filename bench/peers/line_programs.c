#include "bench/peers/line_programs.h"

#include "bench/harness/keys.h"
#include "bench/harness/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
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

/* ---- programs ------------------------------------------------------------------------------ */

enum { NOT_THERE = 127 };

static double wall_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

line_run line_program_run(const char *const *arguments, int file, line_reader *reader,
                          void *context)
{
    line_run run = {0};
    int pipe_ends[2] = {-1, -1};
    if (lseek(file, 0, SEEK_SET) != 0 || (reader && pipe2(pipe_ends, O_CLOEXEC) != 0))
        return run;
    double started = wall_seconds();
    /* fork(), not vfork() or posix_spawn(): with those the peak memory of the child would include
     * ours. */
    pid_t child = fork();
    if (child == 0) {
        int out = reader ? pipe_ends[1] : open("/dev/null", O_WRONLY);
        if (dup2(file, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
            _exit(NOT_THERE);
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(NOT_THERE);
    }
    if (reader) {
        close(pipe_ends[1]);
        if (child > 0)
            reader(context, pipe_ends[0]);
        close(pipe_ends[0]);
    }
    int status = 0;
    struct rusage used;
    pid_t waited = -1;
    while (child > 0 && (waited = wait4(child, &status, 0, &used)) < 0 && errno == EINTR)
        continue;
    if (waited != child || child < 0)
        return run;
    run.seconds = wall_seconds() - started;
    run.processor = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    run.peak_bytes = (uint64_t)used.ru_maxrss * 1024;
    run.there = !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE);
    run.done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return run;
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
