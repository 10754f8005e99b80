/*
 * The index in memory: a bry_index over the digests of all chunks. It says "new" without a disk
 * access, or names the units that may contain a chunk. A unit covers the chunks of a run of
 * containers; its tag is the number of the first.
 *
 * It is saved in REPO/units with bry_index_save_dir(), which writes only the parts that changed;
 * its note is the number of the next container. Containers from that number on are added when it is
 * loaded. If it cannot be loaded it is built again: everything it
 * needs is in the directories of the containers.
 */
#ifndef BLOOMERY_DEDUP_UNITS_H
#define BLOOMERY_DEDUP_UNITS_H

#include "apps/dedup/base/repository.h"
#include "apps/dedup/store/container.h"
#include "apps/dedup/store/exact.h"

#include <bloomery/index.h>

typedef struct dedup_units {
    const dedup_repo *repo;
    const dedup_rows *rows;
    bry_index *index;
    uint32_t unit; /* that takes chunks */
    bool open; /* there is one */
    bool rebuilt; /* could not be loaded */
    uint64_t next; /* number of the next container when they were saved; 0: unknown */
    uint64_t from,
        to; /* containers in whose units chunks were removed: first, and after the last */
} dedup_units;

/* Error of a look-up, and chunks of a unit: 2^16 up to 2^19 for a large repository. */
#define DEDUP_INDEX_ERROR 0x1p-14

/* Loads the units, or builds them. A problem with the saved ones is printed as a note. `adopted` is
 * the lowest number of containers that came back; 0: none. If the saved units were written without
 * them, they are built again. */
dedup_status dedup_units_open(dedup_units *units, const dedup_repo *repo, const dedup_rows *rows,
                              uint64_t adopted);

/* Builds them from the containers alone. */
dedup_status dedup_units_build(dedup_units *units, const dedup_repo *repo, const dedup_rows *rows);
void dedup_units_close(dedup_units *units);

bool dedup_units_may_have(const dedup_units *units, const dedup_digest *digest);

/* How many units may have a chunk, and the newest of them. 0: the chunk is new. */
size_t dedup_units_locate(const dedup_units *units, const dedup_digest *digest, uint32_t *unit);

/* Adds a chunk of the container that is being filled. DEDUP_FULL: the unit is full; complete the
 * container and call dedup_units_next() with the number of the next one. */
dedup_status dedup_units_add(dedup_units *units, const dedup_digest *digest);
dedup_status dedup_units_next(dedup_units *units, uint64_t container);

/* Removes the chunks of a container, which is gone from the rows. Another chunk of the same unit
 * with the same fingerprint goes with one, and so does a chunk that another container of the unit
 * has too; _mend() adds those again, after the last removal. */
dedup_status dedup_units_remove(dedup_units *units, const dedup_directory *directory);
dedup_status dedup_units_mend(dedup_units *units);

/* Only loads the units. `next` is the number of the container from which on they have nothing.
 * DEDUP_VERSION: they are whole, but of an earlier version. */
dedup_status dedup_units_load(dedup_units *units, uint64_t *next);

/* Does what is pending: error control and refreshing, with elements from the containers. Drops
 * units without containers. */
dedup_status dedup_units_settle(dedup_units *units);

/* `next` is the number of the next container. */
dedup_status dedup_units_save(dedup_units *units, uint64_t next);

#endif
