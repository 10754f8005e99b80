#include "cli/seen/seen_output.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 256 * 1024 };

bool seen_output_init(seen_output *output, int fd)
{
    *output = (seen_output){.fd = fd, .buffer = malloc(ROOM)};
    return output->buffer != NULL;
}

void seen_output_free(seen_output *output)
{
    free(output->buffer);
    output->buffer = NULL;
}

static void write_all_output(seen_output *output, const char *bytes, size_t len)
{
    while (len > 0 && !output->problem) {
        ssize_t done = write(output->fd, bytes, len);
        if (done >= 0) {
            bytes += done;
            len -= (size_t)done;
        } else if (errno == EAGAIN) { /* another process made the pipe non-blocking */
            struct pollfd wait = {.fd = output->fd, .events = POLLOUT};
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            output->problem = errno;
        }
    }
}

void seen_output_flush(seen_output *output)
{
    write_all_output(output, output->buffer, output->held);
    output->held = 0;
}

void seen_output_add(seen_output *output, const char *bytes, size_t len)
{
    if (len > ROOM - output->held)
        seen_output_flush(output);
    if (len >= ROOM) {
        write_all_output(output, bytes, len);
        return;
    }
    if (len == 0)
        return;
    memcpy(output->buffer + output->held, bytes, len);
    output->held += len;
}
