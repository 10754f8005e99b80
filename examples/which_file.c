/* An index: which of these files may contain a word? Only those have to be read. */
#include <bloomery/index.h>

#include <stdio.h>
#include <string.h>

static const struct {
    const char *file, *words[4];
} files[] = {{"fruit.txt", {"apple", "pear", "plum"}},
             {"trees.txt", {"oak", "pear", "plum", "birch"}},
             {"birds.txt", {"owl", "wren"}}};
enum { FILES = 3, WORDS = 4 };

static bry_status fill(bry_index *index, int file)
{
    uint32_t unit;
    bry_status status =
        bry_index_open(index, (uint64_t)file, &unit); /* the tag identifies the file */
    for (int w = 0; w < WORDS && files[file].words[w] && status == BRY_OK; w++)
        status = bry_index_add_key(index, files[file].words[w], strlen(files[file].words[w]), unit,
                                   NULL, NULL);
    return status;
}

static void look_for(const bry_index *index, const char *word)
{
    uint32_t units[FILES];
    size_t n = bry_index_locate_key(index, word, strlen(word), units, FILES);
    printf("%s:", word);
    for (size_t i = 0; i < n; i++) {
        uint64_t tag;
        if (bry_index_get_tag(index, units[i], &tag) == BRY_OK)
            printf(" %s", files[tag].file);
    }
    printf(n ? "\n" : " in no file\n");
}

int main(void)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    options.units = FILES;
    options.unit_capacity = 1000; /* words in a file */
    options.seed = 1; /* the same in every run; random by default */

    bry_index *index = NULL;
    bry_status status = bry_index_create(&options, &index);
    for (int file = 0; file < FILES && status == BRY_OK; file++)
        status = fill(index, file);
    if (status == BRY_OK) {
        look_for(index, "owl");
        look_for(index, "plum");
        look_for(index, "granite");
        /* Two small units become one: trees.txt was appended to fruit.txt. */
        status = bry_index_merge_units(index, 0, 1);
        look_for(index, "oak");
    }
    const char *path = "which_file.bloomery";
    if (status == BRY_OK)
        status = bry_index_save_file(index, path, NULL);
    if (status == BRY_OK) {
        bry_index_clear(index); /* for other files */
        look_for(index, "oak");
        bry_index_destroy(index);
        index = NULL;
        status = bry_index_load_file(path, NULL, &index);
    }
    if (status == BRY_OK) {
        look_for(index, "oak");
    } else {
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
    }
    bry_index_destroy(index);
    remove(path);
    return status == BRY_OK ? 0 : 3;
}
