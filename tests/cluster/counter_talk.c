/*
 * The counters of the C client, driven by the tests: counter_talk URL
 *
 * Reads lines of words and prints the answer, then "= STATUS message".
 *
 *   create NAME [option=value …]    window, skew, error, engine, capacity, parts, seed, hot=a,b; and
 *   open NAME [option=value …]      replicas, nowait, wait, retry, outbox
 *   add counter delta …             prints the id and "value applied" for each
 *   repeat id sent counter delta …
 *   get counter …     recover     info     drop NAME     close     fork
 */
#include <bloomery_cluster_counters.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64

static bryc_client *client;
static bryc_counters *table;

static bool is_option(const char *word, const char *name, const char **value)
{
    size_t len = strlen(name);
    *value = word + len + 1;
    return strncmp(word, name, len) == 0 && word[len] == '=';
}

static void read_hot_names(char *text, bryc_key *hot, bryc_counters_options *options)
{
    char *rest;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        hot[options->hot_count++] = (bryc_key){word, strlen(word)};
    options->hot = hot;
}

static void read_option(char *word, bryc_key *hot, bryc_counters_options *options,
                        bryc_counters_use *use)
{
    const char *value;
    if (is_option(word, "window", &value))
        options->window_ms = strtoull(value, NULL, 10);
    else if (is_option(word, "skew", &value))
        options->skew_ms = strtoull(value, NULL, 10);
    else if (is_option(word, "error", &value))
        options->error = strtod(value, NULL);
    else if (is_option(word, "engine", &value))
        bry_engine_parse(value, &options->engine);
    else if (is_option(word, "capacity", &value))
        options->capacity = strtoull(value, NULL, 10);
    else if (is_option(word, "parts", &value))
        options->parts = strtoull(value, NULL, 10);
    else if (is_option(word, "seed", &value))
        options->seed = strtoull(value, NULL, 10);
    else if (is_option(word, "hot", &value))
        read_hot_names(word + 4, hot, options);
    else if (is_option(word, "replicas", &value))
        use->replicas = (uint32_t)strtoul(value, NULL, 10);
    else if (is_option(word, "wait", &value))
        use->wait_ms = (uint32_t)strtoul(value, NULL, 10);
    else if (is_option(word, "retry", &value))
        use->retry_ms = (uint32_t)strtoul(value, NULL, 10);
    else if (is_option(word, "outbox", &value))
        use->outbox = value;
    else if (strcmp(word, "nowait") == 0)
        use->no_wait = 1;
}

static bry_status open_counters(bool create, char *rest)
{
    bryc_counters_options options = BRYC_COUNTERS_OPTIONS;
    bryc_counters_use use = BRYC_COUNTERS_USE;
    bryc_key hot[MOST];
    char *name = strtok_r(NULL, " ", &rest), *word;
    while ((word = strtok_r(NULL, " ", &rest)))
        read_option(word, hot, &options, &use);
    bryc_counters_close(table);
    table = NULL;
    return create ? bryc_counters_create(client, name, &options, &use, &table)
                  : bryc_counters_open(client, name, &use, &table);
}

static void print_added(const bryc_operation *operation, bry_status status, const bryc_added *added,
                        size_t n)
{
    printf("%s %" PRIu64, operation->id, operation->sent_ms);
    for (size_t i = 0; i < n && status == BRY_OK; i++)
        printf(" %" PRId64 " %d", added[i].value, added[i].applied);
    putchar('\n');
}

static void print_recovered(void *opaque, const bryc_operation *operation, bry_status status,
                            const bryc_added *added, size_t n)
{
    (void)opaque;
    print_added(operation, status, added, n);
}

static bry_status add_words(bool repeat, char *rest)
{
    bryc_operation operation = {.sent_ms = 0};
    bryc_increment increments[MOST];
    bryc_added added[MOST];
    size_t n = 0;
    char *word;
    if (repeat) {
        snprintf(operation.id, sizeof operation.id, "%s", strtok_r(NULL, " ", &rest));
        operation.sent_ms = strtoull(strtok_r(NULL, " ", &rest), NULL, 10);
    }
    for (; n < MOST && (word = strtok_r(NULL, " ", &rest)); n++) {
        increments[n].name = (bryc_key){word, strlen(word)};
        increments[n].delta = strtoll(strtok_r(NULL, " ", &rest), NULL, 10);
    }
    bry_status status = repeat ? bryc_counters_repeat(table, &operation, increments, n, added)
                               : bryc_counters_add(table, increments, n, added, &operation);
    print_added(&operation, status, added, n);
    return status;
}

static bry_status get_words(char *rest)
{
    bryc_key names[MOST];
    int64_t values[MOST];
    bool there[MOST];
    size_t n = 0;
    char *word;
    for (; n < MOST && (word = strtok_r(NULL, " ", &rest)); n++)
        names[n] = (bryc_key){word, strlen(word)};
    bry_status status = bryc_counters_get(table, names, n, values, there);
    for (size_t i = 0; i < n && status == BRY_OK; i++) {
        if (there[i])
            printf("%" PRId64 "%c", values[i], i + 1 < n ? ' ' : '\n');
        else
            printf("none%c", i + 1 < n ? ' ' : '\n');
    }
    return status;
}

static bry_status print_info(void)
{
    bryc_counters_info info;
    bry_status status = bryc_counters_get_info(table, &info);
    printf("%" PRIu64 " counters %" PRIu64 " applied %" PRIu64 " repeats %" PRIu64 " parts\n",
           info.counters, info.applied, info.repeats, info.parts);
    return status;
}

static bry_status run_words(char *line)
{
    char *rest, *what = strtok_r(line, " ", &rest);
    int status;
    if (strcmp(what, "create") == 0 || strcmp(what, "open") == 0)
        return open_counters(what[0] == 'c', rest);
    if (strcmp(what, "add") == 0 || strcmp(what, "repeat") == 0)
        return add_words(what[0] == 'r', rest);
    if (strcmp(what, "get") == 0)
        return get_words(rest);
    if (strcmp(what, "recover") == 0)
        return bryc_counters_recover(table, print_recovered, NULL);
    if (strcmp(what, "info") == 0)
        return print_info();
    if (strcmp(what, "drop") == 0)
        return bryc_counters_drop(client, strtok_r(NULL, " ", &rest));
    if (strcmp(what, "record") == 0)
        printf("%s\n", bryc_counters_record(table));
    if (strcmp(what, "fork") == 0) {
        pid_t child = fork();
        if (child > 0)
            _exit(waitpid(child, &status, 0) == child ? 0 : 4);
    }
    if (strcmp(what, "close") == 0) {
        bryc_counters_close(table);
        table = NULL;
    }
    return BRY_OK;
}

int main(int argc, char **argv)
{
    bryc_options options = BRYC_OPTIONS;
    char line[4096];
    options.reply_ms = 1000;
    if (argc != 2)
        return 2;
    bry_status status = bryc_open(argv[1], &options, &client);
    printf("= %s %s\n", bry_status_word(status), status == BRY_OK ? "" : bryc_error(client));
    fflush(stdout);
    while (status == BRY_OK && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        bry_status done = run_words(line);
        printf("= %s %s\n", bry_status_word(done), done == BRY_OK ? "" : bryc_error(client));
        fflush(stdout);
    }
    bryc_counters_close(table);
    bryc_close(client);
    return 0;
}
