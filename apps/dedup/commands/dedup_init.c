/* bloomery dedup init: a new repository. */
#include "apps/dedup/commands/dedup_command.h"
#include "text/number_parse.h"

#include <inttypes.h>
#include <string.h>
#include <zstd.h>

typedef struct request {
    uint64_t chunk;
    const char *hash, *compress, *index;
} request;

static int read_compression(const char *text, int *level)
{
    uint64_t number = 3;
    if (strcmp(text, "none") == 0) {
        *level = 0;
        return CLI_GO_ON;
    }
    bool valid = strcmp(text, "zstd") == 0;
    if (strncmp(text, "zstd:", 5) == 0)
        valid = text_parse_plain(text + 5, strlen(text + 5), &number) == NULL && number >= 1 &&
                number <= 19;
    if (!valid)
        return cli_misuse("--compress: %s is not none, zstd or zstd:1 to zstd:19",
                          cli_quote(text).text);
    *level = (int)number;
    return CLI_GO_ON;
}

static int read_config_options(const request *asked, dedup_config *config)
{
    if (asked->chunk != 4096 && asked->chunk != 16384 && asked->chunk != 65536)
        return cli_misuse("--chunk: %" PRIu64 " bytes are not 4KB, 16KB or 64KB", asked->chunk);
    config->chunk = (uint32_t)asked->chunk;
    if (strcmp(asked->hash, "sha256") != 0 && strcmp(asked->hash, "sha1") != 0)
        return cli_misuse("--hash: %s is not sha256 or sha1", cli_quote(asked->hash).text);
    config->hash = strcmp(asked->hash, "sha1") == 0 ? DEDUP_SHA1 : DEDUP_SHA256;
    if (bry_engine_parse(asked->index, &config->engine) != BRY_OK ||
        (config->engine != BRY_ENGINE_DBA && config->engine != BRY_ENGINE_COMPACT))
        return cli_misuse("--engine: %s is not compact or dba", cli_quote(asked->index).text);
    return read_compression(asked->compress, &config->level);
}

int dedup_init(int argc, char **argv)
{
    request asked = {4096, "sha256", "zstd:3", "compact"};
    dedup_config config = {.chunk = 0};
    cli_option options[] = {
        {"chunk", CLI_BYTES, "SIZE", "average size of a chunk: 4KB (default), 16KB or 64KB",
         &asked.chunk},
        {"hash", CLI_TEXT, "NAME", "digest that names a chunk: sha256 (default) or sha1",
         &asked.hash},
        {"compress", CLI_TEXT, "HOW", "none, or zstd:1 to zstd:19 (default zstd:3)",
         &asked.compress},
        {"engine", CLI_TEXT, "E", "index in memory: compact (default) or dba", &asked.index},
    };
    const cli_syntax syntax = {
        .usage = "REPO [options]",
        .about =
            "Creates a repository in a directory that does not exist or is empty. The options\n"
            "cannot be changed later.",
        CLI_OPTIONS(options),
        .more = "Smaller chunks find more duplicates and need more memory and disk for the\n"
                "indexes: about 4 bytes and 100 bytes per chunk.",
        .examples = "  bloomery dedup init /backup/repo\n"
                    "  bloomery dedup init /backup/videos --chunk 64KB --compress none",
        DEDUP_ONE_REPOSITORY,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = read_config_options(&asked, &config);
    if (code != CLI_GO_ON)
        return code;
    dedup_status status = dedup_repo_create(argv[0], &config);
    if (status != DEDUP_OK)
        return dedup_report();
    dedup_repo repo;
    dedup_store store;
    status = dedup_open(&repo, &store, argv[0], DEDUP_WRITE, true); /* creates the indexes */
    if (status == DEDUP_OK) {
        status = dedup_store_save(&store);
        dedup_close(&repo, &store);
    }
    return status == DEDUP_OK ? CLI_YES : dedup_report();
}
