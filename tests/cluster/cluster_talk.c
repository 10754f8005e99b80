/*
 * The C client, driven by the tests: cluster_talk URL
 *
 * Reads lines of words. "KEY command…" adds a command to the batch, where KEY is the position of its
 * key, or @N for node number N. An empty line sends the batch and prints a line for each command:
 * its status, and its reply. "nodes" prints the nodes; "fork" lets a child process go on.
 *
 * TALK_PATIENCE limits the patience, in milliseconds, and the time for a reply to 300 ms.
 */
#include <bloomery_cluster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BATCH_MOST 100000
#define WORDS_MOST 8

static char *lines[BATCH_MOST];
static const char *words[BATCH_MOST][WORDS_MOST];
static bryc_command commands[BATCH_MOST];

static void print_reply(const redisReply *reply)
{
    if (!reply)
        printf("-");
    else if (reply->type == REDIS_REPLY_INTEGER)
        printf("%lld", reply->integer);
    else if (reply->type == REDIS_REPLY_NIL)
        printf("nil");
    else if (reply->type != REDIS_REPLY_ARRAY)
        printf("%s", reply->str);
    for (size_t i = 0; reply && i < reply->elements; i++) {
        printf(i ? "," : "");
        print_reply(reply->element[i]);
    }
}

static void send_batch(bryc_client *client, size_t n)
{
    bry_status status = bryc_send(client, commands, n);
    for (size_t i = 0; i < n; i++) {
        printf("%s ", bry_status_word(commands[i].status));
        print_reply(commands[i].reply);
        putchar('\n');
        freeReplyObject(commands[i].reply);
        free(lines[i]);
    }
    printf("= %s %s\n", bry_status_word(status), status == BRY_OK ? "" : bryc_error(client));
}

static void add_command(char *line, size_t at)
{
    bryc_command *command = &commands[at];
    *command = (bryc_command){.argv = words[at]};
    lines[at] = strdup(line);
    char *rest, *word = strtok_r(lines[at], " ", &rest);
    if (word[0] == '@') {
        command->node = (uint32_t)strtoul(word + 1, NULL, 10);
        command->flags = BRYC_FIXED;
    } else {
        command->key = (uint32_t)strtoul(word, NULL, 10);
    }
    while ((word = strtok_r(NULL, " ", &rest)) && command->argc < WORDS_MOST)
        words[at][command->argc++] = word;
}

static void print_nodes(const bryc_client *client)
{
    for (uint32_t i = 0; i < bryc_nodes(client); i++) {
        bryc_node node;
        bryc_node_at(client, i, &node);
        printf("%s:%u %u\n", node.host, node.port, node.slots);
    }
    printf("= OK \n");
}

/* The child goes on; the parent only waits for it, and then closes its own connections. */
static void continue_in_child(void)
{
    int status;
    pid_t child = fork();
    if (child > 0 && waitpid(child, &status, 0) == child && status != 0)
        exit(4);
}

int main(int argc, char **argv)
{
    bryc_client *client;
    bryc_options options = BRYC_OPTIONS;
    if (argc != 2)
        return 2;
    const char *patience = getenv("TALK_PATIENCE");
    options.patience_ms = patience ? (uint32_t)strtoul(patience, NULL, 10) : 60000;
    options.reply_ms = patience ? 300 : 0;
    options.password = getenv("BLOOMERY_PASSWORD");
    bry_status status = bryc_open(argv[1], &options, &client);
    printf("= %s %s\n", bry_status_word(status), status == BRY_OK ? "" : bryc_error(client));
    char line[4096];
    size_t n = 0;
    fflush(stdout);
    while (status == BRY_OK && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "fork") == 0) {
            continue_in_child();
        } else if (strcmp(line, "nodes") == 0) {
            print_nodes(client);
        } else if (line[0] == '\0') {
            send_batch(client, n);
            n = 0;
        } else if (n < BATCH_MOST) {
            add_command(line, n++);
        }
        fflush(stdout);
    }
    bryc_close(client);
    return 0;
}
