#include "apps/dedup/store/rebuild.h"

bry_status dedup_rebuild_open(dedup_store *store, dedup_repo *repo)
{
    bry_status status = dedup_repo_exclude_readers(repo);
    if (status == BRY_OK)
        status = dedup_empty_folder(repo->fd, "units");
    if (status == BRY_OK)
        status = dedup_empty_folder(repo->fd, "index");
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
