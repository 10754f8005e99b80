/* Maps on servers, in a build without the client for them. */
#include "cli/map/map_command.h"
#include "cli/map/map_remote.h"

static int without_cluster(void)
{
    return cli_fail("this build has no client for servers (CMake: BLOOMERY_CLUSTER)");
}

int cli_remote_source(const char *url, cli_map_source *source)
{
    (void)url;
    (void)source;
    return without_cluster();
}

int cli_dir_source(const char *path, cli_memory *memory, cli_map_source *source)
{
    (void)path;
    (void)memory;
    (void)source;
    return without_cluster();
}

int cli_remote_put(const char *url, const char *key, const char *value, cli_pairs *pairs,
                   uint64_t wait)
{
    (void)url;
    (void)key;
    (void)value;
    (void)pairs;
    (void)wait;
    return without_cluster();
}

int cli_remote_del(const char *url, char **keys, size_t n, char end, uint64_t wait)
{
    (void)url;
    (void)keys;
    (void)n;
    (void)end;
    (void)wait;
    return without_cluster();
}

int cli_remote_info(const char *url, cli_remote_facts *facts)
{
    (void)url;
    (void)facts;
    return without_cluster();
}

bool cli_remote_continues(const cli_remote_build *build)
{
    (void)build;
    return false;
}

int cli_remote_load(const cli_remote_build *build, cli_pairs *pairs)
{
    (void)build;
    (void)pairs;
    return without_cluster();
}

int cli_map_drop(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return without_cluster();
}

int cli_map_ls(int argc, char **argv)
{
    return cli_map_drop(argc, argv);
}

int cli_map_save_command(int argc, char **argv)
{
    return cli_map_drop(argc, argv);
}

int cli_map_restore(int argc, char **argv)
{
    return cli_map_drop(argc, argv);
}
