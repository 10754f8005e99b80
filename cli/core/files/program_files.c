#include "cli/core/files/program_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_join_path(cli_path *path, const char *dir, size_t len, const char *name)
{
    size_t name_size = strlen(name) + 1;
    if (len + 1 + name_size > sizeof path->text)
        return false;
    memcpy(path->text, dir, len);
    path->text[len] = '/';
    memcpy(path->text + len + 1, name, name_size);
    return true;
}

bool cli_is_executable(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

bool cli_find_beside(const char *name, cli_path *found)
{
    cli_path self, place;
    ssize_t len = readlink("/proc/self/exe", self.text, sizeof self.text);
    const char *slash = len > 0 ? memrchr(self.text, '/', (size_t)len) : NULL;
    return slash && cli_join_path(&place, self.text, (size_t)(slash - self.text), name) &&
           realpath(place.text, found->text);
}

bool cli_find_in_path(const char *name, cli_path *found)
{
    const char *at = getenv("PATH");
    for (; at && *at; at += *at == ':') {
        size_t len = strcspn(at, ":");
        if (cli_join_path(found, len ? at : ".", len ? len : 1, name) &&
            cli_is_executable(found->text))
            return true;
        at += len;
    }
    return cli_join_path(found, "/usr/bin", strlen("/usr/bin"), name) &&
           cli_is_executable(found->text);
}
