/*
 * One function for objects of every job: it merges the object in one file into the object in
 * another, knowing no more than their job.
 */
#include <bloomery.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Merges the object in the file `from` into the one in the file `into`. */
static bry_status merge_files(bry_job job, const char *into, const char *from)
{
    void *object = NULL, *other = NULL;
    bry_status status = bry_job_load_file(job, into, NULL, &object);
    if (status == BRY_OK)
        status = bry_job_load_file(job, from, NULL, &other);
    if (status == BRY_OK)
        status = bry_job_merge(job, object, other);
    if (status == BRY_OK)
        status = bry_job_save_file(job, object, into, NULL);
    if (status == BRY_OK)
        printf("%s, engine %s, seed %" PRIu64 ": %" PRIu64 " items in %" PRIu64 " bytes\n",
               bry_job_name(job), bry_engine_name(bry_job_engine(job, object)),
               bry_job_seed(job, object), bry_job_items(job, object), bry_job_bytes(job, object));
    if (object)
        bry_job_destroy(job, object);
    if (other)
        bry_job_destroy(job, other);
    return status;
}

/* Saves a filter and a map of the keys from `first` to `last`. */
static bry_status save_parts(uint64_t first, uint64_t last, const char *filter_path,
                             const char *map_path)
{
    bry_filter_options filter_options = BRY_FILTER_OPTIONS;
    bry_map_options map_options = BRY_MAP_OPTIONS;
    filter_options.seed = map_options.seed = 1; /* merging requires equal seeds */
    map_options.value_bits = 8;
    bry_filter *filter = NULL;
    bry_map *map = NULL;
    bry_status status = bry_filter_create(&filter_options, &filter);
    if (status == BRY_OK)
        status = bry_map_create(&map_options, &map);
    for (uint64_t key = first; key <= last && status == BRY_OK; key++) {
        bry_hash hash = bry_hash_key(1, &key, sizeof key);
        status = bry_filter_add(filter, hash, NULL);
        if (status == BRY_OK)
            status = bry_map_set(map, hash, bry_map_value_number(key % 200), NULL);
    }
    if (status == BRY_OK)
        status = bry_filter_save_file(filter, filter_path, NULL);
    if (status == BRY_OK)
        status = bry_map_save_file(map, map_path, NULL);
    bry_filter_destroy(filter);
    bry_map_destroy(map);
    return status;
}

int main(void)
{
    char directory[] = "/tmp/merge-files-XXXXXX";
    if (!mkdtemp(directory) || chdir(directory) != 0) {
        perror(directory);
        return 3;
    }
    bry_status status = save_parts(1, 600, "a.filter", "a.map");
    if (status == BRY_OK)
        status = save_parts(401, 900, "b.filter", "b.map");
    if (status == BRY_OK)
        status = merge_files(BRY_JOB_FILTER, "a.filter", "b.filter");
    if (status == BRY_OK)
        status = merge_files(BRY_JOB_MAP, "a.map", "b.map");
    if (status != BRY_OK)
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
    const char *const files[] = {"a.filter", "a.map", "b.filter", "b.map"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(files[i]);
    rmdir(directory);
    return status == BRY_OK ? 0 : 3;
}
