/* The option --engine of a command on objects of one job. */
#ifndef BLOOMERY_CLI_ENGINE_OPTION_H
#define BLOOMERY_CLI_ENGINE_OPTION_H

#include <bloomery/job.h>

/* "compact, kbf, or auto: compact (default)", for the help; valid until the next call. */
const char *cli_engine_help(bry_job job);

/* Sets *engine if the option was given (`text` is not NULL). CLI_GO_ON, or an exit code after a
 * message. */
int cli_engine_read(bry_job job, const char *text, bry_engine *engine);

#endif
