#include "cli/cluster/cluster_view.h"

#include "cli/core/args.h"
#include "cli/core/array.h"
#include "cli/core/output/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASKED_AT_ONCE 64 /* each answer describes all nodes: 200 KB in a cluster of 1,000 */

bry_status view_tell(cluster_view *view, uint32_t node, uint32_t flags, const char *format, ...)
{
    char words[512];
    redisReply *reply;
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    bry_status status = view_ask(view, node, flags, &reply, words); /* it contains no % */
    freeReplyObject(reply);
    return status;
}

/* ---- connecting ---------------------------------------------------------------------------- */

int view_connect(cluster_view *view, const char *address)
{
    bryc_options options = BRYC_OPTIONS;
    char *url = NULL;
    *view = (cluster_view){0};
    options.user = getenv("BLOOMERY_USER");
    options.password = getenv("BLOOMERY_PASSWORD");
    options.reply_ms = 2000;
    options.connect_ms = 1000;
    if (asprintf(&url, "%s%s", strstr(address, "://") ? "" : "redis://", address) < 0)
        return cli_no_memory();
    bry_status status = bryc_open(url, &options, &view->prober);
    options.reply_ms = 60000;
    if (status == BRY_OK)
        status = bryc_open(url, &options, &view->client);
    free(url);
    if (status != BRY_OK)
        return cli_fail("%s", bryc_error(view->client ? view->client : view->prober));
    if (!bryc_is_cluster(view->client))
        return cli_fail("%s: a single server, not a node of a cluster", cli_name(address).text);
    status = view_refresh(view);
    if (status != BRY_OK)
        return cli_fail("%s", bryc_error(view->prober));
    return CLI_GO_ON;
}

void view_close(cluster_view *view)
{
    bryc_close(view->client);
    bryc_close(view->prober);
    free(view->nodes);
    free(view->open);
    *view = (cluster_view){0};
}

/* ---- CLUSTER NODES ------------------------------------------------------------------------- */

/* Copies the next word, which ends at a space or the end of the line. */
static const char *view_next_word(const char *at, char *word, size_t size)
{
    size_t len = strcspn(at, " \n"), kept = len < size ? len : size - 1;
    memcpy(word, at, kept);
    word[kept] = '\0';
    at += len;
    return *at == ' ' ? at + 1 : at;
}

/* HOST:PORT@BUS,NAME. False if there is no address. */
static bool view_read_address(const char *text, view_node *node)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    copy[strcspn(copy, "@")] = '\0';
    char *colon = strrchr(copy, ':');
    if (!colon || colon == copy)
        return false;
    *colon = '\0';
    node->port = (uint32_t)strtoul(colon + 1, NULL, 10);
    snprintf(node->host, sizeof node->host, "%.255s", copy);
    snprintf(node->name, sizeof node->name, "%s:%u", node->host, node->port);
    return node->port > 0;
}

/* Flags are words with commas between them. */
static bool has_flag(const char *flags, const char *name)
{
    size_t len = strlen(name);
    while (*flags) {
        size_t word = strcspn(flags, ",");
        if (word == len && memcmp(flags, name, len) == 0)
            return true;
        flags += flags[word] ? word + 1 : word;
    }
    return false;
}

/* One line: id address flags primary ping pong epoch state slots…. `rest` is set to the slots. */
static bool view_read_line(const char *line, view_node *node, bool *myself, const char **rest)
{
    char address[512], flags[256], word[64];
    *node = (view_node){0};
    line = view_next_word(line, node->id, sizeof node->id);
    line = view_next_word(line, address, sizeof address);
    line = view_next_word(line, flags, sizeof flags);
    line = view_next_word(line, word, sizeof word);
    if (strcmp(word, "-") != 0)
        snprintf(node->primary, sizeof node->primary, "%.40s", word);
    for (int i = 0; i < 4; i++)
        line = view_next_word(line, word, sizeof word);
    *rest = line;
    *myself = has_flag(flags, "myself");
    node->failed =
        has_flag(flags, "fail") || has_flag(flags, "noaddr") || has_flag(flags, "handshake");
    return view_read_address(address, node);
}

static const char *view_next_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end && end[1] ? end + 1 : NULL;
}

/* By address, so that they are always shown in the same order. */
static int compare_nodes(const void *left, const void *right)
{
    const view_node *a = left, *b = right;
    int hosts = strcmp(a->host, b->host);
    return hosts ? hosts : (a->port > b->port) - (a->port < b->port);
}

static bry_status list_nodes(cluster_view *view, const char *text)
{
    bool myself;
    const char *rest;
    size_t lines = 0;
    for (const char *line = text; line; line = view_next_line(line))
        lines++;
    view_node *nodes = calloc(lines, sizeof *nodes);
    if (!nodes)
        return BRY_E_NOMEM;
    uint32_t count = 0;
    for (const char *line = text; line; line = view_next_line(line)) {
        view_node *node = &nodes[count];
        if (view_read_line(line, node, &myself, &rest) &&
            bryc_node_find(view->client, node->host, node->port, &node->link) == BRY_OK &&
            bryc_node_find(view->prober, node->host, node->port, &node->probe) == BRY_OK)
            count++;
    }
    qsort(nodes, count, sizeof *nodes, compare_nodes);
    free(view->nodes);
    view->nodes = nodes;
    view->count = count;
    return BRY_OK;
}

static bry_status add_open_slot(cluster_view *view, uint32_t node, const char *word)
{
    view_open_slot open = {.node = node};
    char *end;
    open.slot = (uint32_t)strtoul(word + 1, &end, 10);
    open.importing = strncmp(end, "-<-", 3) == 0;
    snprintf(open.other, sizeof open.other, "%.40s", strlen(end) > 3 ? end + 3 : "");
    if (open.slot >= BRYC_SLOTS)
        return BRY_OK;
    if (!cli_array_reserve(&view->open, &view->open_capacity, view->open_count + 1,
                           sizeof *view->open))
        return BRY_E_NOMEM;
    view->open[view->open_count++] = open;
    return BRY_OK;
}

/* The slots in a primary's line about itself. */
static bry_status take_slots(cluster_view *view, uint32_t number, const char *words)
{
    char word[128];
    while (*words && *words != '\n') {
        words = view_next_word(words, word, sizeof word);
        if (word[0] == '[') {
            bry_status status = add_open_slot(view, number, word);
            if (status != BRY_OK)
                return status;
            continue;
        }
        char *end;
        unsigned long first = strtoul(word, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, NULL, 10) : first;
        for (unsigned long slot = first; slot <= last && slot < BRYC_SLOTS; slot++) {
            view->disputed = view->disputed || view->owners[slot] != VIEW_NONE;
            view->owners[slot] = number;
            view->nodes[number].slots++;
        }
    }
    return BRY_OK;
}

/* What a node says about itself. */
static bry_status take_description(cluster_view *view, uint32_t number, const redisReply *reply)
{
    view_node *known = &view->nodes[number], said;
    bool myself = false;
    const char *rest = NULL;
    for (const char *line = reply->str; line && !myself; line = view_next_line(line))
        if (!view_read_line(line, &said, &myself, &rest))
            myself = false;
    if (!myself || strcmp(said.id, known->id) != 0)
        return BRY_OK;
    known->answers = true;
    memcpy(known->primary, said.primary, sizeof known->primary);
    return known->primary[0] == '\0' ? take_slots(view, number, rest) : BRY_OK;
}

/* Asks some nodes about themselves, at the same time. Those that do not answer stay as the others
 * described them. */
static bry_status ask_view_nodes(cluster_view *view, const uint32_t *nodes, uint32_t count)
{
    static const char *const words[] = {"CLUSTER", "NODES"};
    bryc_command commands[ASKED_AT_ONCE];
    bry_status status = BRY_OK;
    for (uint32_t i = 0; i < count; i++)
        commands[i] = (bryc_command){.argc = 2,
                                     .argv = words,
                                     .flags = BRYC_FIXED | BRYC_ONCE,
                                     .node = view->nodes[nodes[i]].probe};
    bryc_send(view->prober, commands, count);
    for (uint32_t i = 0; i < count; i++) {
        if (commands[i].status == BRY_OK && status == BRY_OK)
            status = take_description(view, nodes[i], commands[i].reply);
        freeReplyObject(commands[i].reply);
    }
    return status;
}

bry_status view_refresh(cluster_view *view)
{
    bry_status status = BRY_E_IO;
    uint32_t known = bryc_nodes(view->prober);
    redisReply *reply = NULL;
    for (uint32_t i = 0; i < known && status != BRY_OK; i++)
        status = bryc_ask_node(view->prober, i, 0, &reply, "CLUSTER NODES");
    if (status != BRY_OK)
        return status;
    status = reply->str ? list_nodes(view, reply->str) : BRY_E_BADDATA;
    freeReplyObject(reply);
    view->open_count = 0;
    view->disputed = false;
    for (uint32_t slot = 0; slot < BRYC_SLOTS; slot++)
        view->owners[slot] = VIEW_NONE;
    uint32_t asked[ASKED_AT_ONCE], count = 0;
    for (uint32_t i = 0; i < view->count && status == BRY_OK; i++) {
        if (!view->nodes[i].failed)
            asked[count++] = i;
        if (count == ASKED_AT_ONCE || i + 1 == view->count) {
            status = ask_view_nodes(view, asked, count);
            count = 0;
        }
    }
    return status;
}
