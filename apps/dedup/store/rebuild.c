#include "apps/dedup/store/rebuild.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Removes all files in a folder of the repository. */
static bry_status empty_folder(const dedup_repo *repo, const char *name)
{
    dedup_names names;
    int folder = openat(repo->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno == ENOENT ? BRY_OK : dedup_problem(BRY_E_IO, "%s: ", name);
    int copy = dup(folder);
    bry_status status =
        copy < 0 ? dedup_problem(BRY_E_IO, "%s: ", name) : dedup_names_read(copy, name, &names);
    if (status == BRY_OK) {
        for (size_t i = 0; status == BRY_OK && i < names.count; i++)
            if (unlinkat(folder, names.name[i], 0) != 0)
                status = dedup_problem(BRY_E_IO, "%s/%s: ", name, names.name[i]);
        dedup_names_free(&names);
    }
    if (status == BRY_OK)
        status = dedup_sync(folder, name);
    close(folder);
    return status;
}

bry_status dedup_rebuild_open(dedup_store *store, dedup_repo *repo)
{
    bry_status status = dedup_repo_exclude_readers(repo);
    if (status == BRY_OK)
        status = empty_folder(repo, "units");
    if (status == BRY_OK)
        status = empty_folder(repo, "index");
    if (status == BRY_OK) /* every container is unknown to it, and entered */
        status = dedup_store_open_plain(store, repo, true);
    dedup_repo_admit_readers(repo);
    if (status != BRY_OK)
        return status;
    status = dedup_units_build(&store->units, repo, &store->rows);
    if (status != BRY_OK)
        dedup_store_close(store);
    return status;
}
