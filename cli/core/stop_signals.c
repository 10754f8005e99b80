#include "cli/core/stop_signals.h"

#include "cli/core/exit_codes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t stopped, pipe_is_noted;

bool cli_is_pipe_closed(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO};
    return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP));
}

int cli_end_by(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    return CLI_FAILED;
}

static void on_closed_pipe(int number)
{
    int kept = errno;
    if (cli_is_pipe_closed()) {
        if (pipe_is_noted)
            stopped = 1;
        else
            cli_end_by(number); /* when this handler returns */
    }
    errno = kept;
}

void cli_catch_closed_pipe(void)
{
    struct sigaction action = {.sa_handler = on_closed_pipe, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
}

void cli_note_closed_pipe(void)
{
    pipe_is_noted = 1;
}

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

void cli_note_stop_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    cli_note_closed_pipe();
}

bool cli_is_stopped(void)
{
    return stopped;
}
