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

static const char *const dirs[] = {"archives", "containers", "index", "units", "cache"};

dedup_place dedup_place_of(const dedup_repo *repo, const char *name)
{
    dedup_place place;
    snprintf(place.text, sizeof place.text, "%s/%s", repo->path, name);
    return place;
}

static dedup_status write_config(int fd, const dedup_config *config)
{
    unsigned char id[16];
    if (getrandom(id, sizeof id, 0) != (ssize_t)sizeof id)
        return dedup_problem(DEDUP_FAILED, "getrandom: ");
    dedup_record record;
    dedup_record_begin(&record, "repository");
    dedup_record_add(&record, "id", "%s", dedup_hex_of(id, sizeof id).text);
    dedup_record_add(&record, "chunk", "%u", config->chunk);
    dedup_record_add(&record, "hash", "%s", config->hash == DEDUP_SHA1 ? "sha1" : "sha256");
    dedup_record_add(&record, "zstd", "%d", config->level);
    dedup_record_add(&record, "index", "%s", bry_engine_name(config->engine));
    dedup_status status = dedup_record_end(&record);
    if (status == DEDUP_OK)
        status = dedup_replace(fd, ".", "config", record.bytes.bytes, record.bytes.len);
    dedup_record_free(&record);
    return status;
}

static dedup_status read_config(dedup_repo *repo)
{
    dedup_record record;
    dedup_status status = dedup_record_read(&record, repo->fd, "config", "repository");
    if (status == DEDUP_MISSING)
        return dedup_problem(status, "%s: not a repository; \"dedup init\" creates one",
                             cli_name(repo->path).text);
    if (status != DEDUP_OK)
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
        return dedup_problem(DEDUP_DAMAGED, "config: damaged: unknown value");
    }
    repo->config.hash = strcmp(hash, "sha1") == 0 ? DEDUP_SHA1 : DEDUP_SHA256;
    repo->config.chunk = (uint32_t)chunk;
    repo->config.level = (int)level;
    memcpy(repo->config.id, id, sizeof repo->config.id);
    dedup_record_free(&record);
    return DEDUP_OK;
}

/* A file without content, for locks. */
static dedup_status touch_file(int fd, const char *name)
{
    int file = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", name);
    close(file);
    return DEDUP_OK;
}

static dedup_status check_empty(int fd, const char *path)
{
    dedup_names names;
    dedup_status status = dedup_names_read(dup(fd), path, &names);
    if (status != DEDUP_OK)
        return status;
    size_t count = names.count;
    bool is_repository = faccessat(fd, "config", F_OK, 0) == 0;
    dedup_names_free(&names);
    if (count > 0)
        return dedup_problem(DEDUP_FAILED, "%s: %s", cli_name(path).text,
                             is_repository ? "is a repository already" : strerror(ENOTEMPTY));
    return DEDUP_OK;
}

dedup_status dedup_repo_create(const char *path, const dedup_config *config)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return dedup_problem(DEDUP_FAILED, "%s: ", cli_name(path).text);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", cli_name(path).text);
    dedup_status status = check_empty(fd, path);
    for (size_t i = 0; status == DEDUP_OK && i < sizeof dirs / sizeof dirs[0]; i++)
        if (mkdirat(fd, dirs[i], 0777) != 0)
            status = dedup_problem(DEDUP_FAILED, "%s: ", dirs[i]);
    if (status == DEDUP_OK)
        status = touch_file(fd, "lock");
    if (status == DEDUP_OK)
        status = touch_file(fd, "readers");
    if (status == DEDUP_OK) /* last: without it the directory is not a repository */
        status = write_config(fd, config);
    if (status == DEDUP_OK)
        status = dedup_sync_at(fd, "..");
    close(fd);
    return status;
}

/* Locks a file of the repository until the descriptor is closed, which the system does for a
 * process that dies. */
static dedup_status lock_repo_file(const dedup_repo *repo, const char *name, int how,
                                   const char *waiting, int *held)
{
    enum { TRIES = 50 };
    const struct timespec pause = {0, 20000000};
    int fd = openat(repo->fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", name);
    for (int tries = 0;; tries++) {
        if (flock(fd, tries > TRIES ? how : how | LOCK_NB) == 0) {
            *held = fd;
            return DEDUP_OK;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            close(fd);
            return dedup_problem(DEDUP_FAILED, "%s: cannot lock: ", name);
        }
        if (tries == TRIES)
            cli_note("waiting for %s", waiting);
        nanosleep(&pause, NULL);
    }
}

dedup_status dedup_repo_open(dedup_repo *repo, const char *path, dedup_access access)
{
    *repo = (dedup_repo){.path = path, .lock = -1, .readers = -1};
    repo->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (repo->fd < 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", cli_name(path).text);
    dedup_status status = read_config(repo);
    if (status == DEDUP_OK && access == DEDUP_WRITE)
        status = lock_repo_file(repo, "lock", LOCK_EX,
                                "another process that writes to the repository", &repo->lock);
    if (status == DEDUP_OK && access == DEDUP_READ)
        status = lock_repo_file(repo, "readers", LOCK_SH, "a process that removes containers",
                                &repo->readers);
    if (status != DEDUP_OK)
        dedup_repo_close(repo);
    return status;
}

dedup_status dedup_repo_exclude_readers(dedup_repo *repo)
{
    return lock_repo_file(repo, "readers", LOCK_EX, "processes that read the repository",
                          &repo->readers);
}

void dedup_repo_admit_readers(dedup_repo *repo)
{
    if (repo->readers >= 0)
        close(repo->readers);
    repo->readers = -1;
}

dedup_status dedup_repo_exclude_writers(dedup_repo *repo)
{
    if (repo->lock >= 0)
        return DEDUP_OK;
    dedup_repo_admit_readers(repo); /* a writer that waits for readers would wait for this one */
    return lock_repo_file(repo, "lock", LOCK_SH, "a process that writes to the repository",
                          &repo->lock);
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
