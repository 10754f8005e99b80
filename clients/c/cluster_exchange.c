/*
 * Requests to many nodes at once.
 *
 *   requests ── slot ──► node ──► queue ──► socket ──► reply ──► deliver()
 *      ▲                                                │
 *      └── not before ◄── MOVED, ASK, TRYAGAIN, broken ─┘
 *
 * Each round gives the requests that wait to their nodes, then reads and writes all sockets without
 * blocking until something has to be sent again. A request is redirected or repeated by making it
 * wait again, with a delay that doubles, until the patience of the client is used up.
 *
 * With WAIT: it follows the requests of a round to a node on the same connection. Requests become
 * done when it is answered. If the connection breaks before, they are sent again, because their
 * replica may not have them.
 */
#include "clients/c/cluster_exchange.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECE ((size_t)16 << 10)
#define VECTORS 64
#define NODES_AT_ONCE 1024
#define REFRESH_MS 100u

/* Entries of a queue that are no requests. */
#define ENTRY_ASKING (UINT32_MAX - 1)
#define ENTRY_WAIT UINT32_MAX

static const char asking_bytes[] = "*1\r\n$6\r\nASKING\r\n";

/* 0 for the first repetition of a redirected request, then 10 ms, doubling to 640 ms. */
static uint64_t backoff(unsigned tries)
{
    return tries == 0 ? 0 : (uint64_t)10 << (tries < 7 ? tries - 1 : 6);
}

static void finish_request(bryc__exchange *self, bryc__request *request, bryc__state state)
{
    request->state = (uint8_t)state;
    self->pending--;
}

static void fail_request(bryc__exchange *self, bryc__request *request, bry_status status)
{
    request->status = status;
    finish_request(self, request, BRYC__FAILED);
}

/* Makes a request wait until it is sent again, or fails it. The message says why. */
static void repeat_request(bryc__exchange *self, bryc__request *request, uint64_t delay)
{
    uint64_t now = bryc__now();
    if (request->deadline == 0)
        request->deadline = now + self->client->patience_ms;
    if (now + delay > request->deadline) {
        fail_request(self, request, BRY_E_IO);
        return;
    }
    request->state = BRYC__WAITING;
    request->not_before = now + delay;
    if (request->not_before < self->next)
        self->next = request->not_before;
    if (request->tries < UINT8_MAX)
        request->tries++;
}

/* ---- queues -------------------------------------------------------------------------------- */

/* Room for ASKING, a request and WAIT. */
static bool queue_reserve(bryc__node *node)
{
    if (node->queued + 3 <= node->capacity)
        return true;
    size_t capacity = node->capacity ? 2 * node->capacity : 64;
    uint32_t *queue = realloc(node->queue, capacity * sizeof *queue);
    if (!queue)
        return false;
    node->queue = queue;
    node->capacity = capacity;
    return true;
}

static void queue_push(bryc__node *node, uint32_t entry)
{
    if (node->answered == node->queued)
        node->heard_at = bryc__now();
    node->queue[node->queued++] = entry;
}

static void queue_clear(bryc__node *node)
{
    node->queued = node->sent = node->sent_bytes = node->answered = node->confirmed = 0;
    node->waits = node->replaced = false;
}

/* The connection is lost: what has no reply, or no confirmation, is sent again. */
static void node_broke(bryc__exchange *self, uint32_t number, const char *why)
{
    bryc__node *node = self->client->nodes[number];
    bryc__fail(self->client, BRY_E_IO, "%s:%u: %s", node->host, node->port, why);
    for (size_t i = node->confirmed; i < node->queued; i++) {
        uint32_t entry = node->queue[i];
        bryc__request *request = entry < self->n ? &self->requests[entry] : NULL;
        if (!request || request->node != number ||
            (request->state != BRYC__SENT && request->state != BRYC__ANSWERED))
            continue;
        request->asked = false;
        bool reached = i < node->sent || (i == node->sent && node->sent_bytes > 0);
        request->lost |= reached;
        if (!reached) { /* NOLINT(bugprone-branch-clone): the last branch does so for another reason */
            repeat_request(self, request, backoff(request->tries));
        } else if (request->state == BRYC__ANSWERED && request->flags & BRYC_ONCE) {
            self->confirmed = 0;
            finish_request(self, request, BRYC__DONE);
        } else if (request->flags & BRYC_ONCE ||
                   (request->flags & BRYC_FIXED && request->tries > 0)) {
            fail_request(self, request, BRY_E_IO);
        } else {
            repeat_request(self, request, backoff(request->tries));
        }
    }
    queue_clear(node);
    bryc__node_disconnect(node);
    self->client->stale = true;
}

/* ---- sending ------------------------------------------------------------------------------- */

static size_t entry_bytes(const bryc__exchange *self, uint32_t entry, const char *wait,
                          size_t wait_len, struct iovec *to)
{
    if (entry == ENTRY_ASKING)
        *to = (struct iovec){(char *)(uintptr_t)asking_bytes, sizeof asking_bytes - 1};
    else if (entry == ENTRY_WAIT)
        *to = (struct iovec){(char *)(uintptr_t)wait, wait_len};
    else
        *to = (struct iovec){(char *)(uintptr_t)self->requests[entry].bytes,
                             self->requests[entry].len};
    return to->iov_len;
}

/* Sends what the socket takes. False if the connection is broken. */
static bool node_send(const bryc__exchange *self, bryc__node *node)
{
    char wait[80], replicas[16], limit[16];
    snprintf(replicas, sizeof replicas, "%u", self->wait);
    snprintf(limit, sizeof limit, "%u", self->wait_ms);
    int wait_len = snprintf(wait, sizeof wait, "*3\r\n$4\r\nWAIT\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n",
                            strlen(replicas), replicas, strlen(limit), limit);
    while (node->sent < node->queued) {
        struct iovec vectors[VECTORS];
        size_t count = 0;
        for (size_t i = node->sent; i < node->queued && count < VECTORS; i++)
            entry_bytes(self, node->queue[i], wait, (size_t)wait_len, &vectors[count++]);
        // cppcheck-suppress uninitvar ; at least one is queued
        vectors[0].iov_base = (char *)vectors[0].iov_base + node->sent_bytes;
        vectors[0].iov_len -= node->sent_bytes;
        struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};
        ssize_t sent = sendmsg(node->link->fd, &message, MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        node->heard_at = bryc__now();
        for (size_t i = 0; i < count && sent > 0; i++) {
            size_t part = (size_t)sent < vectors[i].iov_len ? (size_t)sent : vectors[i].iov_len;
            sent -= (ssize_t)part;
            if (part == vectors[i].iov_len) {
                node->sent++;
                node->sent_bytes = 0;
            } else {
                node->sent_bytes = (i == 0 ? node->sent_bytes : 0) + part;
            }
        }
    }
    return true;
}

/* Chooses the node of a request. False if it has to wait or has failed. */
static bool choose_node(bryc__exchange *self, bryc__request *request)
{
    bryc_client *client = self->client;
    if (!(request->flags & BRYC_FIXED) && !request->asked)
        request->node = client->owners[request->slot];
    if (request->node == BRYC__NONE) {
        bryc__fail(client, BRY_E_IO, "no node of the cluster has slot %u", request->slot);
        client->stale = true;
        repeat_request(self, request, backoff(request->tries + 1));
        return false;
    }
    bryc__node *node = client->nodes[request->node];
    uint64_t now = bryc__now();
    bry_status status = BRY_OK;
    if (!node->link && now < node->down_until && !(request->flags & BRYC_FIXED))
        status = BRY_E_IO;
    else if (!node->link)
        status = bryc__node_connect(client, node);
    if (status == BRY_OK)
        return true;
    if (status == BRY_E_UNSUPPORTED || request->flags & BRYC_FIXED) {
        fail_request(self, request, BRY_E_IO);
        return false;
    }
    client->stale = true;
    request->asked = false;
    repeat_request(self, request, backoff(request->tries + 1));
    if (!node->down_until || now >= node->down_until)
        node->down_until = bryc__now() + backoff(request->tries + 1) / 2;
    return false;
}

static bool enqueue(const bryc__exchange *self, uint32_t number)
{
    bryc__request *request = &self->requests[number];
    bryc__node *node = self->client->nodes[request->node];
    if (!queue_reserve(node))
        return false;
    if (node->queued == 0)
        node->link->reader->fn =
            self->flat ? bryc__flat_functions() : (redisReplyObjectFunctions *)node->whole_replies;
    if (request->asked || request->flags & BRYC_ASKING)
        queue_push(node, ENTRY_ASKING);
    queue_push(node, number);
    node->waits = self->wait > 0;
    request->state = BRYC__SENT;
    return true;
}

/* Gives waiting requests to their nodes, and notes when the next one is due. */
static void dispatch(bryc__exchange *self)
{
    bryc_client *client = self->client;
    uint64_t now = bryc__now();
    self->next = UINT64_MAX;
    for (uint32_t i = 0; i < self->n; i++) {
        bryc__request *request = &self->requests[i];
        if (request->state != BRYC__WAITING)
            continue;
        if (request->not_before <= now && choose_node(self, request) && !enqueue(self, i)) {
            bryc__fail(client, BRY_E_NOMEM, "out of memory");
            fail_request(self, request, BRY_E_NOMEM);
        }
        if (request->state == BRYC__WAITING && request->not_before < self->next)
            self->next = request->not_before;
    }
    for (uint32_t i = 0; i < client->count; i++) {
        bryc__node *node = client->nodes[i];
        if (node->waits)
            queue_push(node, ENTRY_WAIT);
        node->waits = false;
    }
}

/* ---- replies ------------------------------------------------------------------------------- */

/* The text of an error reply, or NULL. */
static const char *error_text(const bryc__exchange *self, void *reply, size_t *len)
{
    if (self->flat) {
        const bryc__flat *flat = reply;
        *len = flat->items[0].len;
        return flat->items[0].type == REDIS_REPLY_ERROR ? bryc__text(flat, &flat->items[0]) : NULL;
    }
    const redisReply *whole = reply;
    *len = whole->len;
    return whole->type == REDIS_REPLY_ERROR ? whole->str : NULL;
}

static bool begins_with(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);
    return len >= n && memcmp(text, word, n) == 0 && (len == n || text[n] == ' ');
}

/* Replies that mean "not here" or "not now". True if the request is sent again or has failed. */
static bool redirect(bryc__exchange *self, uint32_t number, bryc__request *request,
                     const char *text, size_t len)
{
    static const char *const later[] = {"TRYAGAIN",   "CLUSTERDOWN", "LOADING",
                                        "MASTERDOWN", "BUSY",        "READONLY"};
    enum { READONLY = 5 };
    bryc_client *client = self->client;
    uint32_t slot, node;
    if (request->flags & BRYC_FIXED)
        return false;
    bool moved = begins_with(text, len, "MOVED"), asked = begins_with(text, len, "ASK");
    if (moved || asked) {
        bryc__fail(client, BRY_E_IO, "%s:%u: %.*s", client->nodes[number]->host,
                   client->nodes[number]->port, (int)(len < 200 ? len : 200), text);
        if (!bryc__redirection(client, number, text, len, &slot, &node))
            return false;
        request->asked = asked;
        request->node = node;
        if (moved) {
            client->owners[slot] = node;
            client->stale = true;
        }
        repeat_request(self, request, backoff(request->tries > 3 ? request->tries - 3u : 0));
        return true;
    }
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        if (!begins_with(text, len, later[i]))
            continue;
        if (i == READONLY && !client->is_cluster) {
            /* Its address may belong to another server by now; otherwise it stays a replica. */
            if (request->tries >= 3)
                return false;
            client->nodes[number]->replaced = true;
        }
        bryc__fail(client, BRY_E_IO, "%s:%u: %.*s", client->nodes[number]->host,
                   client->nodes[number]->port, (int)(len < 200 ? len : 200), text);
        request->asked = false;
        client->stale = client->is_cluster;
        repeat_request(self, request, backoff(request->tries + 1));
        return true;
    }
    return false;
}

/* WAIT was answered: what was sent before it is done. */
static void confirm_requests(bryc__exchange *self, uint32_t number, int64_t replicas)
{
    bryc__node *node = self->client->nodes[number];
    uint32_t count = replicas < 0 ? 0 : (uint32_t)replicas;
    if (count < self->confirmed)
        self->confirmed = count;
    for (size_t i = node->confirmed; i < node->answered; i++) {
        uint32_t entry = node->queue[i];
        if (entry < self->n && self->requests[entry].node == number &&
            self->requests[entry].state == BRYC__ANSWERED)
            finish_request(self, &self->requests[entry], BRYC__DONE);
    }
    node->confirmed = node->answered;
}

static int64_t wait_answer(const bryc__exchange *self, void *reply)
{
    if (self->flat) {
        const bryc__item *item = ((bryc__flat *)reply)->items;
        return item->type == REDIS_REPLY_INTEGER ? item->number : -1;
    }
    const redisReply *whole = reply;
    return whole->type == REDIS_REPLY_INTEGER ? whole->integer : -1;
}

/* The reply to the next entry of the node's queue. */
static void take_reply(bryc__exchange *self, uint32_t number, void *reply)
{
    bryc__node *node = self->client->nodes[number];
    uint32_t entry = node->queue[node->answered++];
    bool kept = false;
    size_t len = 0;
    if (entry == ENTRY_WAIT) {
        confirm_requests(self, number, wait_answer(self, reply));
    } else if (entry != ENTRY_ASKING) {
        bryc__request *request = &self->requests[entry];
        const char *text = error_text(self, reply, &len);
        if (!text || !redirect(self, number, request, text, len)) {
            self->deliver(self->context, entry, reply);
            kept = true;
            if (self->wait && !text)
                request->state = BRYC__ANSWERED;
            else
                finish_request(self, request, BRYC__DONE);
        }
    }
    if (!self->flat && !kept)
        freeReplyObject(reply);
    bryc__flat_clear(&self->client->nodes[number]->flat);
}

/* Reads what there is. NULL, or why the connection is broken. */
static const char *node_read(bryc__exchange *self, uint32_t number)
{
    bryc__node *node = self->client->nodes[number];
    char piece[PIECE];
    for (;;) {
        ssize_t n = read(node->link->fd, piece, sizeof piece);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR ? NULL : strerror(errno);
        if (n == 0)
            return "the server closed the connection";
        node->heard_at = bryc__now();
        if (redisReaderFeed(node->link->reader, piece, (size_t)n) != REDIS_OK)
            return "out of memory";
        for (;;) {
            void *reply = NULL;
            if (redisReaderGetReply(node->link->reader, &reply) != REDIS_OK)
                return node->link->reader->errstr;
            if (!reply)
                break;
            if (node->answered == node->sent) {
                if (!self->flat)
                    freeReplyObject(reply);
                return "unexpected reply";
            }
            take_reply(self, number, reply);
        }
        if (node->replaced)
            return "the server has become a replica";
        if ((size_t)n < sizeof piece)
            return NULL;
    }
}

/* ---- the loop ------------------------------------------------------------------------------ */

static bool is_busy(const bryc__node *node)
{
    return node->link && node->answered < node->queued;
}

static void serve_node(bryc__exchange *self, uint32_t number, short events)
{
    bryc__node *node = self->client->nodes[number];
    char text[160];
    const char *why = NULL;
    if (events & (POLLIN | POLLHUP | POLLERR))
        why = node_read(self, number);
    if (!why && node->sent < node->queued && !node_send(self, node))
        why = strerror(errno);
    uint64_t limit = self->client->reply_ms + (self->wait ? self->wait_ms : 0);
    if (!why && is_busy(node) && bryc__now() > node->heard_at + limit)
        why = "no answer in time";
    if (why) {
        snprintf(text, sizeof text, "%s", why); /* it may belong to the connection */
        node_broke(self, number, text);
    }
}

/* Waits for sockets until a request is due, and serves those that are ready. False: none is in
 * use. */
static bool serve_nodes(bryc__exchange *self, struct pollfd *sockets, uint32_t *numbers,
                        uint32_t room)
{
    bryc_client *client = self->client;
    nfds_t count = 0;
    for (uint32_t i = 0; i < client->count && count < room; i++) {
        const bryc__node *node = client->nodes[i];
        if (!is_busy(node))
            continue;
        numbers[count] = i;
        sockets[count++] = (struct pollfd){
            node->link->fd, (short)(POLLIN | (node->sent < node->queued ? POLLOUT : 0)), 0};
    }
    if (count == 0)
        return false;
    uint64_t now = bryc__now();
    int limit = self->next <= now ? 0 : self->next - now < 100 ? (int)(self->next - now) : 100;
    if (poll(sockets, count, limit) < 0)
        return true;
    for (nfds_t i = 0; i < count; i++)
        serve_node(self, numbers[i], sockets[i].revents);
    return true;
}

/* Each redirection names the new node of its slot, so the map of slots need not be read again for
 * each. The message of the request that failed is kept. */
static void refresh_if_stale(bryc_client *client)
{
    uint64_t now = bryc__now();
    if (!client->stale || !client->is_cluster || now < client->refreshed_at + REFRESH_MS)
        return;
    char message[sizeof client->message];
    memcpy(message, client->message, sizeof message);
    if (bryc__learn_slots(client) == BRY_OK)
        memcpy(client->message, message, sizeof message);
    else
        client->refreshed_at = now;
}

void bryc__exchange_run(bryc__exchange *self)
{
    bryc_client *client = self->client;
    bryc__check_process(client);
    self->confirmed = UINT32_MAX;
    self->pending = self->n;
    while (self->pending > 0) {
        struct pollfd sockets[NODES_AT_ONCE];
        uint32_t numbers[NODES_AT_ONCE];
        refresh_if_stale(client);
        dispatch(self);
        bool busy = true;
        while (busy && self->pending > 0 && bryc__now() < self->next)
            busy = serve_nodes(self, sockets, numbers, NODES_AT_ONCE);
        uint64_t now = bryc__now();
        if (!busy && self->pending > 0 && self->next > now)
            bryc__sleep(self->next - now);
    }
    /* All requests may be done before WAIT is answered, after errors. The reply that is still to
     * come must not be taken for that to the next command. */
    for (uint32_t i = 0; i < client->count; i++) {
        bryc__node *node = client->nodes[i];
        if (node->answered < node->queued)
            bryc__node_disconnect(node);
        queue_clear(node);
    }
}
