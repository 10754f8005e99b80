/* Maps on servers, in a build without the client for them. */
#include "cli/map/map_command.h"
#include "cli/map/map_remote.h"

static int without_cluster(void)
{
    return cli_fail("this build has no client for servers (CMake: BLOOMERY_CLUSTER)");
}

int cli_remote_target(const cli_map_wants *wants, cli_map_target *target)
{
    (void)wants;
    (void)target;
    return without_cluster();
}

int cli_dir_target(const char *path, cli_map_target *target)
{
    (void)path;
    (void)target;
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
