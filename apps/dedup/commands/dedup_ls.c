/* bloomery dedup ls: the archives of a repository, or the entries of an archive. */
#include "apps/dedup/archive/manifest.h"
#include "apps/dedup/commands/dedup_command.h"
#include "cli/core/output/text_table.h"
#include "text/number_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *name;
    bool json;
} request;

/* The entry that was met last: it is printed when its content, and so its size, is known. */
typedef struct ls_printer {
    cli_json json;
    bool as_json, any;
    dedup_file_entry entry;
    bry_buffer texts; /* path and target */
    uint64_t size;
} ls_printer;

static void print_json_entry(ls_printer *list, const char *path, const char *target)
{
    const dedup_file_entry *entry = &list->entry;
    const char type[2] = {(char)entry->type, 0};
    cli_json *json = &list->json;
    cli_json_open(json, NULL, '{');
    cli_json_bytes(json, "path", path, entry->path.len);
    cli_json_text(json, "type", type);
    cli_json_count(json, "mode", entry->mode);
    cli_json_count(json, "user", entry->user);
    cli_json_count(json, "group", entry->group);
    cli_json_number(json, "time", (double)entry->seconds + (double)entry->nanoseconds / 1e9);
    cli_json_count(json, "size", list->size);
    if (entry->target.len)
        cli_json_bytes(json, "target", target, entry->target.len);
    cli_json_close(json, '}');
}

/* Control characters as ls(1) prints them to a terminal: a name may contain anything. JSON has them
 * exactly. */
static void print_name(const char *name)
{
    for (; *name; name++)
        putchar((unsigned char)*name < ' ' || *name == 127 ? '?' : *name);
}

static void print_last_entry(ls_printer *list)
{
    static const char letters[] = "rwxrwxrwx";
    char mode[11];
    if (!list->any)
        return;
    const char *path = (const char *)list->texts.bytes;
    const char *target = path + list->entry.path.len + 1;
    if (list->as_json) {
        print_json_entry(list, path, target);
        return;
    }
    const dedup_file_entry *entry = &list->entry;
    mode[0] = entry->type == DEDUP_FILE || entry->type == DEDUP_HARDLINK ? '-' : (char)entry->type;
    for (int i = 0; i < 9; i++)
        mode[i + 1] = entry->mode >> (8 - i) & 1 ? letters[i] : '-';
    mode[10] = 0;
    printf("%s %5" PRIu32 " %5" PRIu32 " %12" PRIu64 " %s ", mode, entry->user, entry->group,
           list->size, dedup_time_of(entry->seconds).text);
    print_name(path);
    if (entry->target.len) {
        printf(" %s ", entry->type == DEDUP_HARDLINK ? "link to" : "->");
        print_name(target);
    }
    putchar('\n');
}

static dedup_status list_item(void *context, const dedup_item *item)
{
    ls_printer *list = context;
    if (item->tag != 'E') {
        list->size += item->len;
        return DEDUP_OK;
    }
    print_last_entry(list);
    list->any = true;
    list->size = 0;
    list->entry = item->entry;
    list->texts.len = 0;
    dedup_status status = dedup_append(&list->texts, item->entry.path.bytes, item->entry.path.len);
    if (status == DEDUP_OK)
        status = dedup_append(&list->texts, "", 1);
    if (status == DEDUP_OK)
        status = dedup_append(&list->texts, item->entry.target.bytes, item->entry.target.len);
    return status == DEDUP_OK ? dedup_append(&list->texts, "", 1) : status;
}

static dedup_status list_archive(dedup_store *store, const dedup_archive *archive, bool as_json)
{
    ls_printer list = {.json = CLI_JSON_TO(stdout), .as_json = as_json};
    const dedup_walk walk = {.context = &list, .item = list_item};
    if (as_json) {
        cli_json_open(&list.json, NULL, '{');
        cli_json_open(&list.json, "entries", '[');
    }
    dedup_status status = dedup_manifest_walk(store, &archive->root, archive->depth, &walk);
    if (status == DEDUP_OK)
        print_last_entry(&list);
    if (as_json) {
        cli_json_close(&list.json, ']');
        cli_json_close(&list.json, '}');
    }
    bry_buffer_free(&list.texts);
    return status;
}

static void print_archives_json(const dedup_archive *archives, size_t count)
{
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "archives", '[');
    for (size_t i = 0; i < count; i++) {
        cli_json_open(&json, NULL, '{');
        cli_json_bytes(&json, "name", archives[i].name, strlen(archives[i].name));
        cli_json_number(&json, "time", (double)archives[i].ms / 1000);
        cli_json_count(&json, "entries", archives[i].entries);
        cli_json_count(&json, "bytes", archives[i].bytes);
        cli_json_count(&json, "new_bytes", archives[i].new_bytes);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

/* Without the indexes, which may be damaged. */
static dedup_status list_archives(void *context, dedup_repo *repo, dedup_store *store)
{
    const request *asked = context;
    dedup_archive *archives;
    size_t count;
    (void)store;
    dedup_status status = dedup_archive_list(repo, &archives, &count, NULL, NULL);
    if (status != DEDUP_OK)
        return status;
    if (asked->json) {
        print_archives_json(archives, count);
    } else if (count > 0) {
        cli_table table = CLI_TABLE("llrrr");
        static const char *const head[] = {"archive", "time", "entries", "size", "new"};
        for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
            cli_table_add(&table, "%s", head[i]);
        for (size_t i = 0; i < count; i++) {
            cli_table_add(&table, "%s", archives[i].name);
            cli_table_add(&table, "%s", dedup_time_of((int64_t)(archives[i].ms / 1000)).text);
            cli_table_add(&table, "%" PRIu64, archives[i].entries);
            cli_table_add(&table, "%s", text_size_of(archives[i].bytes).text);
            cli_table_add(&table, "%s", text_size_of(archives[i].new_bytes).text);
        }
        if (!cli_table_print(&table, stdout))
            status = dedup_no_memory();
        cli_table_free(&table);
    }
    free(archives);
    return status;
}

static dedup_status list_entries(void *context, dedup_repo *repo, dedup_store *store)
{
    const request *asked = context;
    dedup_archive archive;
    dedup_status status = dedup_find_archive(repo, store, asked->name, &archive);
    if (status != DEDUP_OK)
        return status;
    status = list_archive(store, &archive, asked->json);
    return status == DEDUP_MISSING ? DEDUP_DAMAGED : status; /* only of a part */
}

int dedup_ls(int argc, char **argv)
{
    request asked = {.name = NULL};
    cli_option options[] = {DEDUP_JSON_ROW(&asked.json)};
    const cli_syntax syntax = {
        .usage = "REPO [NAME] [options]",
        .about = "Lists the archives of a repository by their time, with the size of their files\n"
                 "and of the chunks that were new; or the entries of the archive NAME.",
        CLI_OPTIONS(options),
        .examples = "  bloomery dedup ls /backup/repo\n"
                    "  bloomery dedup ls /backup/repo monday",
        .most_words = 2,
        .least_words = 1,
        .missing = "missing repository",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON && words == 2)
        code = dedup_check_name(argv[1]);
    if (code != CLI_GO_ON)
        return code;
    asked.name = argv[1];
    return words == 2 ? dedup_run(argv[0], DEDUP_READ, DEDUP_EXACT_INDEX, list_entries, &asked)
                      : dedup_run(argv[0], DEDUP_READ, DEDUP_NO_INDEX, list_archives, &asked);
}
