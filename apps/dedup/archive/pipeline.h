/*
 * The two halves of a `put`, on two cores. The first one walks the tree, reads files and finds the
 * ends of chunks; the second one computes digests, decides whether chunks are new, stores them and
 * writes the manifest. They pass batches: a buffer with the data of chunks, and what to do with it,
 * in order.
 *
 * Only the second half touches the store, the manifest and the new file cache until
 * dedup_pipeline_end().
 */
#ifndef BLOOMERY_DEDUP_PIPELINE_H
#define BLOOMERY_DEDUP_PIPELINE_H

#include "apps/dedup/archive/file_cache.h"
#include "apps/dedup/archive/manifest.h"
#include "apps/dedup/base/chunker.h"
#include "cli/core/output/progress.h"

#include <pthread.h>
#include <stdatomic.h>

enum { DEDUP_BATCHES = 4 };

typedef struct dedup_step {
    char what; /* E item of an entry, D data, Z hole, K items of an unchanged file, F end of file */
    bool keep; /* F: remember the file */
    uint64_t at; /* Where it begins in the data or the items of the batch. */
    uint64_t len; /* Its bytes there. */
} dedup_step;

typedef struct dedup_batch {
    unsigned char *data;
    size_t used; /* bytes of data */
    bry_buffer items;
    dedup_step *steps;
    size_t count;
} dedup_batch;

typedef struct dedup_pipeline {
    dedup_chunker chunker;
    dedup_batch batch[DEDUP_BATCHES];
    dedup_batch *current; /* that the first half fills */

    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t filled; /* Batches passed to the second half. */
    uint64_t done; /* Batches that the second half has completed. */
    bool ended;
    dedup_status status; /* of the second half */
    char problem[512];

    dedup_store *store;
    dedup_manifest manifest;
    dedup_file_cache *cache; /* NULL: none */
    bry_buffer items; /* of the file that the second half is at */
    _Atomic uint64_t new_bytes; /* for the progress line */
    cli_progress *progress; /* NULL: none; `done` counts new bytes */
} dedup_pipeline;

dedup_status dedup_pipeline_begin(dedup_pipeline *pipeline, dedup_store *store,
                                  dedup_file_cache *cache);

/* The first half. Each returns the error of the second half, if it had one. */
dedup_status dedup_pipeline_entry(dedup_pipeline *pipeline, const dedup_file_entry *entry);
dedup_status dedup_pipeline_hole(dedup_pipeline *pipeline, uint64_t len);
dedup_status dedup_pipeline_known(dedup_pipeline *pipeline, dedup_text items);

/* Ends a file. `file` is what to remember of it; NULL: nothing. */
dedup_status dedup_pipeline_file_end(dedup_pipeline *pipeline, const dedup_cached_file *file);

/* Reads up to `most` bytes of a file and adds them as chunks; *got is what it had. DEDUP_FAILED
 * with *failed set: reading failed, and what was read before is added. */
dedup_status dedup_pipeline_read(dedup_pipeline *pipeline, int fd, uint64_t most, uint64_t *got,
                                 bool *failed);

/* Shows the progress: these bytes of files need not be read. */
void dedup_pipeline_passed(dedup_pipeline *pipeline, uint64_t bytes);

/* Waits for the second half and stores the end of the manifest. */
dedup_status dedup_pipeline_end(dedup_pipeline *pipeline, dedup_digest *root, unsigned *depth);

/* Stops the second half, if it runs, and frees everything. */
void dedup_pipeline_free(dedup_pipeline *pipeline);

#endif
