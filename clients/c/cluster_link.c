/* A connection to one node: opened with hiredis, which also parses the replies; read and written
 * here, without blocking and without SIGPIPE. */
#include "clients/c/cluster_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE ((size_t)16 << 10)

/* Waits until the connection can be read or written. False if the time is over. */
static bool link_wait(const redisContext *link, short events, uint64_t deadline)
{
    for (;;) {
        uint64_t now = bryc__now();
        struct pollfd one = {link->fd, events, 0};
        int found = poll(&one, 1, now < deadline ? (int)(deadline - now) : 0);
        if (found > 0 || (found < 0 && errno != EINTR))
            return true; /* the call that follows reports errors */
        if (found == 0 && now >= deadline)
            return false;
    }
}

static redisReply *link_failed(bryc_client *client, const redisContext *link, const char *why)
{
    bryc__fail(client, BRY_E_IO, "%s:%d: %s", link->tcp.host, link->tcp.port, why);
    return NULL;
}

redisReply *bryc__link_call(bryc_client *client, redisContext *link, const char *bytes, size_t len)
{
    uint64_t deadline = bryc__now() + client->reply_ms;
    char piece[PIECE];
    for (size_t at = 0; at < len;) {
        ssize_t n = send(link->fd, bytes + at, len - at, MSG_NOSIGNAL);
        if (n > 0)
            at += (size_t)n;
        else if (errno != EAGAIN && errno != EINTR)
            return link_failed(client, link, strerror(errno));
        else if (!link_wait(link, POLLOUT, deadline))
            return link_failed(client, link, "no answer in time");
    }
    for (;;) {
        void *reply = NULL;
        if (redisReaderGetReply(link->reader, &reply) != REDIS_OK)
            return link_failed(client, link, link->reader->errstr);
        if (reply)
            return reply;
        ssize_t n = read(link->fd, piece, sizeof piece);
        if (n > 0)
            redisReaderFeed(link->reader, piece, (size_t)n);
        else if (n == 0)
            return link_failed(client, link, "the server closed the connection");
        else if (errno != EAGAIN && errno != EINTR)
            return link_failed(client, link, strerror(errno));
        else if (!link_wait(link, POLLIN, deadline))
            return link_failed(client, link, "no answer in time");
    }
}

/* AUTH, if there is a password. */
static bry_status link_authenticate(bryc_client *client, redisContext *link)
{
    const char *arguments[] = {"AUTH", client->url.user, client->url.password};
    char *bytes;
    if (!client->url.password)
        return BRY_OK;
    if (!client->url.user)
        arguments[1] = client->url.password;
    int len = redisFormatCommandArgv(&bytes, client->url.user ? 3 : 2, arguments, NULL);
    if (len < 0)
        return bryc__fail(client, BRY_E_NOMEM, "out of memory");
    redisReply *reply = bryc__link_call(client, link, bytes, (size_t)len);
    explicit_bzero(bytes, (size_t)len);
    redisFreeCommand(bytes);
    if (!reply)
        return BRY_E_IO;
    bry_status status = BRY_OK;
    if (reply->type == REDIS_REPLY_ERROR)
        status = bryc__fail(client,
                            strncmp(reply->str, "LOADING", 7) == 0 ? BRY_E_IO : BRY_E_UNSUPPORTED,
                            "%s:%d: %s", link->tcp.host, link->tcp.port, reply->str);
    freeReplyObject(reply);
    return status;
}

redisContext *bryc__link_open(bryc_client *client, const char *host, uint32_t port,
                              bry_status *status)
{
    struct timeval limit = {client->connect_ms / 1000, (client->connect_ms % 1000) * 1000L};
    redisContext *link = redisConnectWithTimeout(host, (int)port, limit);
    *status = BRY_E_IO;
    if (!link) {
        bryc__fail(client, BRY_E_NOMEM, "out of memory");
        return NULL;
    }
    int flags = link->err ? -1 : fcntl(link->fd, F_GETFL);
    if (link->err)
        bryc__fail(client, BRY_E_IO, "%s:%u: %s", host, port, link->errstr);
    else if (flags < 0 || fcntl(link->fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
             fcntl(link->fd, F_SETFD, FD_CLOEXEC) != 0)
        bryc__fail(client, BRY_E_IO, "%s:%u: %s", host, port, strerror(errno));
    else if ((*status = link_authenticate(client, link)) == BRY_OK)
        return link;
    redisFree(link);
    return NULL;
}

bry_status bryc__node_connect(bryc_client *client, bryc__node *node)
{
    bry_status status;
    node->link = bryc__link_open(client, node->host, node->port, &status);
    if (!node->link)
        return status;
    node->whole_replies = node->link->reader->fn;
    node->link->reader->privdata = &node->flat;
    node->down_until = 0;
    return BRY_OK;
}

void bryc__node_disconnect(bryc__node *node)
{
    if (node->link)
        redisFree(node->link);
    node->link = NULL;
    bryc__flat_clear(&node->flat);
}

void bryc__check_process(bryc_client *client)
{
    pid_t process = getpid();
    if (process == client->process)
        return;
    client->process = process;
    for (uint32_t i = 0; i < client->count; i++)
        bryc__node_disconnect(client->nodes[i]);
}
