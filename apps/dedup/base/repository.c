#include "apps/dedup/base/repository.h"

#include "apps/dedup/base/record.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const folders[] = {"archives", "containers", "index", "units", "cache"};

dedup_place dedup_place_of(const dedup_repo *repo, const char *name)
{
    dedup_place place;
    snprintf(place.text, sizeof place.text, "%s/%s", repo->path, name);
    return place;
}

static bry_status write_config(int fd, const dedup_config *config)
{
    unsigned char id[16];
    if (getrandom(id, sizeof id, 0) != (ssize_t)sizeof id)
        return dedup_problem(BRY_E_IO, "no random numbers: ");
    dedup_record record;
    dedup_record_begin(&record, "repository");
    dedup_record_add(&record, "id", "%s", dedup_hex_of(id, sizeof id).text);
    dedup_record_add(&record, "chunk", "%u", config->chunk);
    dedup_record_add(&record, "hash", "%s", dedup_hash_name(config->hash));
    dedup_record_add(&record, "zstd", "%d", config->level);
    dedup_record_add(&record, "index", "%s", bry_engine_name(config->engine));
    bry_status status = dedup_record_end(&record);
    if (status == BRY_OK)
        status = dedup_replace(fd, ".", "config", record.bytes.bytes, record.bytes.len);
    dedup_record_free(&record);
    return status;
}

static bry_status read_config(dedup_repo *repo)
{
    dedup_record record;
    bry_status status = dedup_record_read(&record, repo->fd, "config", "repository");
    if (status == BRY_E_NOUNIT)
        return dedup_problem(status, "%s is not a repository; \"dedup init\" creates one",
                             cli_quote(repo->path).text);
    if (status != BRY_OK)
        return status;
    const char *hash = dedup_record_get(&record, "hash");
    const char *index = dedup_record_get(&record, "index");
    const char *id = dedup_record_get(&record, "id");
    uint64_t chunk, level;
    unsigned char bytes[16];
    if (!hash || !index || !id || !dedup_hex_read(id, bytes, sizeof bytes) ||
        !dedup_record_number(&record, "chunk", &chunk) ||
        !dedup_record_number(&record, "zstd", &level) || level > 22 ||
        (chunk != 4096 && chunk != 16384 && chunk != 65536) ||
        bry_engine_parse(index, &repo->config.engine) != BRY_OK ||
        (strcmp(hash, "sha256") != 0 && strcmp(hash, "sha1") != 0)) {
        dedup_record_free(&record);
        return dedup_problem(BRY_E_BADDATA, "config contains a value that is not known");
    }
    repo->config.hash = strcmp(hash, "sha1") == 0 ? DEDUP_SHA1 : DEDUP_SHA256;
    repo->config.chunk = (uint32_t)chunk;
    repo->config.level = (int)level;
    memcpy(repo->config.id, id, sizeof repo->config.id);
    dedup_record_free(&record);
    return BRY_OK;
}

/* A file without content, for locks. */
static bry_status touch_file(int fd, const char *name)
{
    int file = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return dedup_problem(BRY_E_IO, "%s: ", name);
    close(file);
    return BRY_OK;
}

static bry_status check_empty(int fd, const char *path)
{
    dedup_names names;
    bry_status status = dedup_names_read(dup(fd), path, &names);
    if (status != BRY_OK)
        return status;
    size_t count = names.count;
    bool is_repository = faccessat(fd, "config", F_OK, 0) == 0;
    dedup_names_free(&names);
    if (count > 0)
        return dedup_problem(BRY_E_IO,
                             is_repository ? "%s is a repository already" : "%s is not empty",
                             cli_quote(path).text);
    return BRY_OK;
}

bry_status dedup_repo_create(const char *path, const dedup_config *config)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return dedup_problem(BRY_E_IO, "%s: ", path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return dedup_problem(BRY_E_IO, "%s: ", path);
    bry_status status = check_empty(fd, path);
    for (size_t i = 0; status == BRY_OK && i < sizeof folders / sizeof folders[0]; i++)
        if (mkdirat(fd, folders[i], 0777) != 0)
            status = dedup_problem(BRY_E_IO, "%s: ", folders[i]);
    if (status == BRY_OK)
        status = touch_file(fd, "lock");
    if (status == BRY_OK)
        status = touch_file(fd, "readers");
    if (status == BRY_OK) /* last: without it the folder is not a repository */
        status = write_config(fd, config);
    if (status == BRY_OK)
        status = dedup_sync_at(fd, "..");
    close(fd);
    return status;
}

/* Locks a file of the repository until the descriptor is closed, which the system does for a
 * process that dies. */
static bry_status lock_file(const dedup_repo *repo, const char *name, int how, const char *waiting,
                            int *held)
{
    enum { TRIES = 50 };
    const struct timespec pause = {0, 20000000};
    int fd = openat(repo->fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dedup_problem(BRY_E_IO, "%s: ", name);
    for (int tries = 0;; tries++) {
        if (flock(fd, tries > TRIES ? how : how | LOCK_NB) == 0) {
            *held = fd;
            return BRY_OK;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            close(fd);
            return dedup_problem(BRY_E_IO, "%s cannot be locked: ", name);
        }
        if (tries == TRIES)
            cli_note("waiting for %s", waiting);
        nanosleep(&pause, NULL);
    }
}

bry_status dedup_repo_open(dedup_repo *repo, const char *path, dedup_access access)
{
    *repo = (dedup_repo){.path = path, .lock = -1, .readers = -1};
    repo->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (repo->fd < 0)
        return dedup_problem(BRY_E_IO, "%s: ", path);
    bry_status status = read_config(repo);
    if (status == BRY_OK && access == DEDUP_WRITE)
        status = lock_file(repo, "lock", LOCK_EX, "another process that writes to the repository",
                           &repo->lock);
    if (status == BRY_OK && access == DEDUP_READ)
        status = lock_file(repo, "readers", LOCK_SH, "a process that removes containers",
                           &repo->readers);
    if (status != BRY_OK)
        dedup_repo_close(repo);
    return status;
}

bry_status dedup_repo_exclude_readers(dedup_repo *repo)
{
    return lock_file(repo, "readers", LOCK_EX, "processes that read the repository",
                     &repo->readers);
}

void dedup_repo_admit_readers(dedup_repo *repo)
{
    if (repo->readers >= 0)
        close(repo->readers);
    repo->readers = -1;
}

bry_status dedup_repo_exclude_writers(dedup_repo *repo)
{
    if (repo->lock >= 0)
        return BRY_OK;
    dedup_repo_admit_readers(repo); /* a writer that waits for readers would wait for this one */
    return lock_file(repo, "lock", LOCK_SH, "a process that writes to the repository", &repo->lock);
}

void dedup_repo_close(dedup_repo *repo)
{
    dedup_repo_admit_readers(repo);
    if (repo->lock >= 0)
        close(repo->lock);
    if (repo->fd >= 0)
        close(repo->fd);
    repo->lock = repo->fd = -1;
}
