/* bloomery map drop and map ls: maps on servers. */
#include "cli/core/json/json_write.h"
#include "cli/map/map_client.h"
#include "cli/map/map_command.h"

#include <stdlib.h>
#include <string.h>

#define URL_FIRST .least_words = 1, .missing = "missing address: redis://HOST:PORT"

int cli_map_drop(int argc, char **argv)
{
    const cli_syntax syntax = {
        .usage = "URL",
        .about = "Deletes a map from a server or cluster: its record, then its slabs and values.",
        .examples = "  bloomery map drop redis://127.0.0.1:7000/routes",
        .most_words = 1,
        URL_FIRST "/NAME",
    };
    size_t words;
    cli_remote remote = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_remote_connect(argv[0], true, &remote);
    if (code == CLI_GO_ON) {
        bry_status status = bryc_map_drop(remote.client, bryc_url_name(remote.client));
        if (status != BRY_OK)
            code = cli_remote_failed(&remote, status);
    }
    cli_remote_close(&remote);
    return code == CLI_GO_ON ? CLI_YES : code;
}

/* ---- ls ------------------------------------------------------------------------------------ */

static void print_map_name(void *opaque, const char *name, const char *record)
{
    (void)opaque;
    (void)record;
    puts(name);
}

/* {"name": …} with the fields of the record, in their order. */
static void print_map_record(void *opaque, const char *name, const char *record)
{
    cli_json *json = opaque;
    char copy[512], *rest;
    cli_json_open(json, NULL, '{');
    cli_json_bytes(json, "name", name, strlen(name));
    snprintf(copy, sizeof copy, "%s", record);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (!value || strncmp(word, "pick=", 5) == 0) /* which may hold a secret */
            continue;
        *value++ = '\0';
        if (strcmp(word, "slabs") == 0 || strcmp(word, "capacity") == 0)
            cli_json_count(json, word, strtoull(value, NULL, 10));
        else if (strcmp(word, "error") == 0)
            cli_json_number(json, word, strtod(value, NULL));
        else
            cli_json_text(json, word, value);
    }
    cli_json_close(json, '}');
}

int cli_map_ls(int argc, char **argv)
{
    bool as_json = false;
    cli_option options[] = {
        {"json", CLI_FLAG, NULL, "JSON, with the options of each map", &as_json},
    };
    const cli_syntax syntax = {
        .usage = "URL [options]",
        .about =
            "Prints the names of the maps on the servers that the user may read, one per line.",
        CLI_OPTIONS(options),
        .examples = "  bloomery map ls redis://127.0.0.1:7000",
        .most_words = 1,
        URL_FIRST,
    };
    size_t words;
    cli_remote remote = {0};
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_remote_connect(argv[0], false, &remote);
    if (code == CLI_GO_ON) {
        cli_json json = CLI_JSON_TO(stdout);
        if (as_json)
            cli_json_open(&json, NULL, '[');
        bry_status status =
            bryc_map_list(remote.client, as_json ? print_map_record : print_map_name, &json);
        if (as_json)
            cli_json_close(&json, ']');
        if (status != BRY_OK)
            code = cli_remote_failed(&remote, status);
    }
    cli_remote_close(&remote);
    return code == CLI_GO_ON ? CLI_YES : code;
}
