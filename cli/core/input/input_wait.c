#include "cli/core/input/input_wait.h"

#include <errno.h>
#include <stddef.h>
#include <sys/select.h>

static const int ends[CLI_END_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t ended_by;

static void end_input_on_signal(int number)
{
    ended_by = number;
}

void cli_wait_begin(cli_wait *wait)
{
    struct sigaction action = {.sa_handler = end_input_on_signal,
                               .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    ended_by = 0;
    for (int i = 0; i < CLI_END_SIGNALS; i++) {
        sigaction(ends[i], NULL, &wait->before[i]);
        if (wait->before[i].sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
}

int cli_wait_end(const cli_wait *wait)
{
    for (int i = 0; i < CLI_END_SIGNALS; i++)
        sigaction(ends[i], &wait->before[i], NULL);
    return ended_by;
}

bool cli_wait_is_over(void)
{
    return ended_by != 0;
}

bool cli_wait_is_readable(int fd)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    struct timeval none = {0, 0};
    return select(fd + 1, &set, NULL, NULL, &none) != 0;
}

bool cli_wait_for(int fd)
{
    sigset_t held, open;
    sigemptyset(&held);
    for (int i = 0; i < CLI_END_SIGNALS; i++)
        sigaddset(&held, ends[i]);
    sigprocmask(SIG_BLOCK, &held, &open);
    int ready = -1;
    while (!ended_by && ready < 0) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(fd, &set);
        ready = pselect(fd + 1, &set, NULL, NULL, NULL, &open);
        if (ready < 0 && errno != EINTR)
            break; /* the read reports the error */
    }
    sigprocmask(SIG_SETMASK, &open, NULL);
    return !ended_by;
}
