/* Both indexes rebuilt from the containers. */
#ifndef BLOOMERY_DEDUP_REBUILD_H
#define BLOOMERY_DEDUP_REBUILD_H

#include "apps/dedup/store/store.h"

/* Removes the indexes of a repository locked for writing and opens the store with new ones, which
 * are complete but not saved. If the process dies meanwhile, the next writer does the rest. */
dedup_status dedup_rebuild_open(dedup_store *store, dedup_repo *repo);

#endif
