/* Commands that this build was made without. */
#include "cli/core/command.h"
#include "cli/core/output/output.h"

#ifndef BLOOMERY_HAVE_FLOWS
int cli_flows(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_fail(BRY_E_UNSUPPORTED,
                    "this build was made without the command flows (CMake: BLOOMERY_FLOWS)");
}
#endif
