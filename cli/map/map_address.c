/* What every build knows about maps on servers: that they are not files. */
#include "cli/map/map_remote.h"

#include <strings.h>

bool cli_map_is_remote(const char *path)
{
    return strncasecmp(path, "redis://", 8) == 0 || strncasecmp(path, "rediss://", 9) == 0;
}

int cli_map_check_file(const char *command, const char *path)
{
    if (!cli_map_is_remote(path))
        return CLI_GO_ON;
    return cli_misuse(command, "this command is for files; \"map save\" and \"map restore\" copy a "
                               "map from and to servers");
}

int cli_map_check_address(const char *command, const char *word, bool named)
{
    if (cli_map_is_remote(word))
        return CLI_GO_ON;
    return cli_misuse(command, "%s is not an address: redis://HOST:PORT%s", cli_quote(word).text,
                      named ? "/NAME" : "");
}
