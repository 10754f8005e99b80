/* Commands that this build was made without. */
#include "cli/core/command.h"
#include "cli/core/output/output.h"

/* Defines a command that says so. */
#define ABSENT(name, option)                                                                       \
    int cli_##name(int argc, char **argv)                                                          \
    {                                                                                              \
        (void)argc;                                                                                \
        (void)argv;                                                                                \
        return cli_fail("this build has no command " #name " (CMake: " #option ")");               \
    }

#ifndef BLOOMERY_CLUSTER
ABSENT(cluster, BLOOMERY_CLUSTER)
ABSENT(demo, BLOOMERY_CLUSTER)
#endif
