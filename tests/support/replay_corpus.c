/*
 * The main() of a fuzzer in ordinary builds: runs each file, and each file in the directories,
 * given as arguments, so that everything fuzzing has found is tested again.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *path)
{
    perror(path);
    exit(EXIT_FAILURE);
}

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat stat;
    if (!file || fstat(fileno(file), &stat) != 0)
        die(path);
    /* Exactly as long as the input, so that a sanitizer detects reads past its end. */
    size_t len = (size_t)stat.st_size;
    uint8_t *bytes = malloc(len ? len : 1);
    if (!bytes || fread(bytes, 1, len, file) != len)
        die(path);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, len);
    free(bytes);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static size_t replay(const char *path)
{
    struct stat stat_of_path;
    if (stat(path, &stat_of_path) != 0)
        die(path);
    if (!S_ISDIR(stat_of_path.st_mode)) {
        replay_file(path);
        return 1;
    }
    struct dirent **entries;
    int count = scandir(path, &entries, not_hidden, alphasort);
    if (count < 0)
        die(path);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        if (snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name) >= (int)sizeof inner)
            die(path);
        replay_file(inner);
        free(entries[i]);
    }
    free(entries);
    return (size_t)count;
}

int main(int argc, char **argv)
{
    size_t replayed = 0;
    for (int i = 1; i < argc; i++)
        replayed += replay(argv[i]);
    printf("%zu inputs replayed\n", replayed);
    return replayed ? EXIT_SUCCESS : EXIT_FAILURE;
}
