/* Entries that change between the look at them and the reading. */
#include "apps/dedup/archive/tree_file.h"

#include "dedup/remove_dir.h"
#include "support/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
    char path[64], repository[96];
    dedup_repo repo;
    dedup_store store;
    dedup_pipeline pipeline;
    dedup_tree tree;
} fixture;

static void begin(fixture *f)
{
    dedup_config config = {.chunk = 4096, .hash = DEDUP_SHA256, .engine = BRY_ENGINE_COMPACT};
    strcpy(f->path, "/tmp/dedup-tree-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    snprintf(f->repository, sizeof f->repository, "%s/repo", f->path);
    assert_int_equal(dedup_repo_create(f->repository, &config), DEDUP_OK);
    assert_int_equal(dedup_repo_open(&f->repo, f->repository, DEDUP_WRITE), DEDUP_OK);
    assert_int_equal(dedup_store_open(&f->store, &f->repo, true), DEDUP_OK);
    assert_int_equal(dedup_pipeline_begin(&f->pipeline, &f->store, NULL), DEDUP_OK);
    f->tree = (dedup_tree){.pipeline = &f->pipeline};
}

static void end(fixture *f)
{
    dedup_tree_free(&f->tree);
    dedup_pipeline_free(&f->pipeline);
    dedup_store_close(&f->store);
    dedup_repo_close(&f->repo);
    remove_dir(f->path);
}

static void pass(fixture *f, int dir, const char *name, const struct stat *facts)
{
    f->tree.path.len = 0;
    assert_int_equal(dedup_append(&f->tree.path, name, strlen(name) + 1), DEDUP_OK);
    f->tree.path.len--;
    assert_int_equal(dedup_tree_entry(&f->tree, dir, name, facts), DEDUP_OK);
}

static dedup_status note_types(void *context, const dedup_item *item)
{
    char *types = context;
    if (item->tag == 'E')
        types[strlen(types)] = (char)item->entry.type;
    return DEDUP_OK;
}

/* The other names of a file keep its content when the first has vanished. */
TEST(test_vanished_link)
{
    static fixture f;
    struct stat facts;
    dedup_digest root;
    unsigned depth;
    char types[8] = "";
    begin(&f);
    int dir = open(f.path, O_RDONLY | O_DIRECTORY);
    int file = openat(dir, "b", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(file, "hello", 5), 5);
    close(file);
    assert_int_equal(linkat(dir, "b", dir, "c", 0), 0);
    assert_int_equal(fstatat(dir, "b", &facts, 0), 0);
    pass(&f, dir, "a", &facts); /* as if it had been there a moment ago */
    pass(&f, dir, "b", &facts);
    pass(&f, dir, "c", &facts);
    close(dir);
    assert_int_equal(f.tree.skipped, 1);
    assert_int_equal(dedup_pipeline_end(&f.pipeline, &root, &depth), DEDUP_OK);
    assert_int_equal(dedup_store_commit(&f.store), DEDUP_OK);
    const dedup_walk walk = {.context = types, .item = note_types};
    assert_int_equal(dedup_manifest_walk(&f.store, &root, depth, &walk), DEDUP_OK);
    assert_string_equal(types, "fh");
    end(&f);
}
