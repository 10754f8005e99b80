#include "cli/serve/serve_places.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path from the installed program's directory to the installed module, set by CMake. */
#ifndef BLOOMERY_MODULE_FROM_BIN
#define BLOOMERY_MODULE_FROM_BIN "../lib/bloomery/bloomery.so"
#endif

int serve_join(const cli_path *dir, const char *name, cli_path *found)
{
    return cli_join_path(found, dir->text, strlen(dir->text), name)
               ? CLI_GO_ON
               : cli_fail("%s/%s: %s", cli_name(dir->text).text, name, strerror(ENAMETOOLONG));
}

int serve_absolute(const char *option, const char *named, cli_path *found)
{
    cli_path here;
    bool fits = false;
    if (*named == '/')
        fits = (size_t)snprintf(found->text, sizeof found->text, "%s", named) < sizeof found->text;
    else if (getcwd(here.text, sizeof here.text))
        fits = cli_join_path(found, here.text, strlen(here.text), named);
    return fits ? CLI_GO_ON
                : cli_fail("--%s: %s: %s", option, cli_name(named).text, strerror(ENAMETOOLONG));
}

/* ---- the server ---------------------------------------------------------------------------- */

int serve_find_server(const char *named, cli_path *found)
{
    static const char *const names[] = {"redis-server", "valkey-server"};
    if (named && strchr(named, '/')) {
        snprintf(found->text, sizeof found->text, "%s", named);
        if (strlen(named) < sizeof found->text && cli_is_executable(named))
            return CLI_GO_ON;
        return cli_fail("--server: %s: not an executable file", cli_name(named).text);
    }
    if (named)
        return cli_find_in_path(named, found)
                   ? CLI_GO_ON
                   : cli_fail("--server: %s: not found in PATH", cli_name(named).text);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (cli_find_in_path(names[i], found))
            return CLI_GO_ON;
    return cli_fail("neither redis-server nor valkey-server is installed; run \"apt-get install "
                    "redis-server\", or name a server with --server");
}

/* ---- the module and other files ------------------------------------------------------------ */

int serve_find_file(const char *option, const char *named, cli_path *found)
{
    struct stat about;
    if (!realpath(named, found->text) || stat(found->text, &about) != 0)
        return cli_fail("--%s: %s: %s", option, cli_name(named).text, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return cli_fail("--%s: %s: not a regular file", option, cli_name(named).text);
    if (access(found->text, R_OK) != 0)
        return cli_fail("--%s: %s: %s", option, cli_name(named).text, strerror(errno));
    return CLI_GO_ON;
}

/* Servers refuse modules that are not executable, and report that only in their log. */
static int check_module(const char *path)
{
    if (access(path, X_OK) == 0)
        return CLI_GO_ON;
    cli_quotation name = cli_name(path);
    return cli_fail("%s: not executable, as servers require of modules; run \"chmod +x %s\"",
                    name.text, name.text);
}

int serve_find_module(const char *named, cli_path *found)
{
    static const char *const places[] = {"bloomery.so", BLOOMERY_MODULE_FROM_BIN};
    if (named) {
        int code = serve_find_file("module", named, found);
        return code != CLI_GO_ON ? code : check_module(found->text);
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (cli_find_beside(places[i], found))
            return check_module(found->text);
    return cli_fail("bloomery.so: not found beside this program, nor where it is installed; name "
                    "it with --module");
}

/* ---- the port ------------------------------------------------------------------------------ */

/* Sets SO_REUSEADDR as the server does, so that a port with connections in TIME_WAIT does not count
 * as in use. */
int serve_check_port(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1, problem = 0;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0)
        return cli_fail("socket: %s", strerror(errno));
    if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0)
        problem = errno;
    close(listener);
    if (problem == EADDRINUSE)
        return cli_fail(
            "127.0.0.1:%u: in use, perhaps by another server; choose a port with --port", port);
    return problem == 0 ? CLI_GO_ON : cli_fail("127.0.0.1:%u: %s", port, strerror(problem));
}
