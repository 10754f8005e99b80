#include "bench/peers/program_run.h"

#include "bench/harness/bench_fail.h"
#include "cli/core/steady_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_THERE = 127 };

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

program_usage program_run(const char *const *arguments, int file, program_reader *reader,
                          void *context)
{
    program_usage run = {0};
    int pipe_ends[2] = {-1, -1};
    if (lseek(file, 0, SEEK_SET) != 0 || (reader && pipe2(pipe_ends, O_CLOEXEC) != 0))
        return run;
    double started = cli_clock_seconds(CLOCK_MONOTONIC);
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
    run.seconds = cli_clock_seconds(CLOCK_MONOTONIC) - started;
    run.processor = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    run.peak_bytes = (uint64_t)used.ru_maxrss * 1024;
    run.there = !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE);
    run.done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return run;
}

bool program_bloomery(const char *what, cli_path *path)
{
    return (cli_find_beside("bloomery", path) && cli_is_executable(path->text)) ||
           bench_fail("%s needs the program bloomery in the directory of bloomery-bench", what);
}
