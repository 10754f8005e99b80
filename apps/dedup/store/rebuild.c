#include "apps/dedup/store/rebuild.h"

dedup_status dedup_rebuild_open(dedup_store *store, dedup_repo *repo)
{
    dedup_status status = dedup_repo_exclude_readers(repo);
    if (status == DEDUP_OK)
        status = dedup_empty_dir(repo->fd, "units");
    if (status == DEDUP_OK)
        status = dedup_empty_dir(repo->fd, "index");
    if (status == DEDUP_OK) /* every container is unknown to it, and entered */
        status = dedup_store_open_plain(store, repo, true);
    dedup_repo_admit_readers(repo);
    if (status != DEDUP_OK)
        return status;
    status = dedup_units_build(&store->units, repo, &store->rows);
    if (status != DEDUP_OK)
        dedup_store_close(store);
    return status;
}
