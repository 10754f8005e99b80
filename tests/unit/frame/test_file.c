/* Atomic replacement of files: on a real file system, and with every operation failing in turn. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame/file.h"
#include "support/cmocka_all.h"
#include "support/recording_io.h"

/* Writes `len` bytes of one value, in portions smaller and larger than any buffer. */
typedef struct fill_request {
    unsigned char value;
    size_t len;
    bry_status status; /* to return in the end */
} fill_request;

static bry_status write_filling(void *context, const bry_sink *sink)
{
    static unsigned char block[40000];
    const fill_request *f = context;
    memset(block, f->value, sizeof block);
    const size_t portions[] = {1, 100, 0, 40000, 7, 16000, 16384};
    size_t left = f->len;
    for (size_t i = 0; left; i++) {
        size_t portion = portions[i % (sizeof portions / sizeof *portions)];
        if (portion > left)
            portion = left;
        bry_status status = sink->write(sink->opaque, block, portion);
        if (status != BRY_OK)
            return status;
        left -= portion;
    }
    return f->status;
}

/* Reads f->len bytes and checks their value; more may follow. */
static bry_status read_filling(void *context, const bry_source *source, bry_load *load)
{
    static unsigned char block[20000];
    const fill_request *f = context;
    size_t left = f->len;
    for (size_t turn = 0; left; turn++) {
        size_t want = turn % 2 ? sizeof block : 33, got;
        if (want > left)
            want = left;
        bry_status status = source->read(source->opaque, block, want, &got);
        if (status == BRY_OK && got == 0)
            status = BRY_E_BADDATA;
        if (status != BRY_OK) {
            if (load)
                load->problem = "test";
            return status;
        }
        for (size_t i = 0; i < got; i++)
            assert_int_equal(block[i], f->value);
        left -= got;
    }
    return f->status;
}

/* ---- on the real file system --------------------------------------------------------------- */

static char dir[64];

static int enter_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/bloomery-test-XXXXXX");
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int count_names(void)
{
    int count = 0;
    DIR *open_dir = opendir(".");
    assert_non_null(open_dir);
    for (const struct dirent *entry; (entry = readdir(open_dir));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open_dir);
    return count;
}

static int leave_dir(void **state)
{
    (void)state;
    const char *names[] = {"file", "link", "hole", "sub/file"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    rmdir("sub");
    return chdir("/") == 0 && rmdir(dir) == 0 ? 0 : -1; /* fails if files are left */
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

TEST_WITH(save_and_load, enter_dir, leave_dir)
{
    const bry__io *io = bry__io_posix();
    const size_t sizes[] = {0, 1, 16383, 16384, 16385, 200000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fill_request f = {(unsigned char)i, sizes[i], BRY_OK};
        assert_int_equal(bry__file_save(io, "file", write_filling, &f), BRY_OK);
        assert_int_equal(bry__file_load(io, "file", read_filling, &f, NULL), BRY_OK);
        assert_int_equal(count_names(), 1);
    }
    /* Bytes after the end, and too few. */
    bry_load load = BRY_LOAD;
    fill_request less = {5, 199999, BRY_OK}, more = {5, 200001, BRY_OK};
    assert_int_equal(bry__file_load(io, "file", read_filling, &less, &load), BRY_E_BADDATA);
    assert_int_equal(load.offset, 199999);
    assert_non_null(load.problem);
    assert_int_equal(bry__file_load(io, "file", read_filling, &more, &load), BRY_E_BADDATA);
}

TEST_WITH(modes, enter_dir, leave_dir)
{
    const bry__io *io = bry__io_posix();
    fill_request f = {1, 10, BRY_OK};
    mode_t before = umask(027);
    assert_int_equal(bry__file_save(io, "file", write_filling, &f), BRY_OK);
    assert_int_equal(mode_of("file") & 07777, 0640);
    /* An old file keeps its mode, also where the umask would not give it. */
    assert_int_equal(chmod("file", 0666), 0);
    assert_int_equal(bry__file_save(io, "file", write_filling, &f), BRY_OK);
    assert_int_equal(mode_of("file") & 07777, 0666);
    assert_int_equal(chmod("file", 0600), 0);
    assert_int_equal(bry__file_save(io, "file", write_filling, &f), BRY_OK);
    assert_int_equal(mode_of("file") & 07777, 0600);
    umask(before);
    if (geteuid() != 0)
        return; /* only root can change owners */
    struct stat st;
    assert_int_equal(chown("file", 65534, 65533), 0);
    assert_int_equal(bry__file_save(io, "file", write_filling, &f), BRY_OK);
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_uid, 65534);
    assert_int_equal(st.st_gid, 65533);
    assert_int_equal(mode_of("file") & 07777, 0600);
}

TEST_WITH(links, enter_dir, leave_dir)
{
    const bry__io *io = bry__io_posix();
    fill_request old = {1, 10, BRY_OK}, new = {2, 20, BRY_OK};
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_int_equal(bry__file_save(io, "sub/file", write_filling, &old), BRY_OK);
    assert_int_equal(symlink("sub/file", "link"), 0);
    assert_int_equal(bry__file_save(io, "link", write_filling, &new), BRY_OK);
    assert_true(S_ISLNK(mode_of("link")));
    assert_int_equal(bry__file_load(io, "sub/file", read_filling, &new, NULL), BRY_OK);
    /* A dangling link. */
    assert_int_equal(symlink("nowhere", "hole"), 0);
    assert_int_equal(bry__file_save(io, "hole", write_filling, &new), BRY_OK);
    assert_true(S_ISREG(mode_of("hole")));
    assert_int_equal(count_names(), 3);
}

TEST_WITH(not_a_file, enter_dir, leave_dir)
{
    const bry__io *io = bry__io_posix();
    fill_request f = {1, 10, BRY_OK};
    bry_load load = BRY_LOAD;
    assert_int_equal(mkdir("sub", 0777), 0);
    const struct {
        const char *path;
        int save_errno, load_errno;
    } cases[] = {
        {"sub", EISDIR, EISDIR},   {"missing/file", ENOENT, ENOENT},
        {"/dev/null", ENOTSUP, 0}, {"/dev/full", ENOTSUP, 0},
        {"file", 0, ENOENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        load = (bry_load)BRY_LOAD;
        if (cases[i].load_errno) {
            errno = 0;
            assert_int_equal(bry__file_load(io, cases[i].path, read_filling, &f, &load), BRY_E_IO);
            assert_int_equal(errno, cases[i].load_errno);
            assert_non_null(load.problem);
        }
        if (cases[i].save_errno) {
            errno = 0;
            assert_int_equal(bry__file_save(io, cases[i].path, write_filling, &f), BRY_E_IO);
            assert_int_equal(errno, cases[i].save_errno);
        }
    }
    assert_int_equal(count_names(), 1);
}

TEST_WITH(writer_fails, enter_dir, leave_dir)
{
    const bry__io *io = bry__io_posix();
    fill_request old = {1, 50000, BRY_OK}, new = {2, 50000, BRY_E_NOMEM};
    assert_int_equal(bry__file_save(io, "file", write_filling, &old), BRY_OK);
    assert_int_equal(bry__file_save(io, "file", write_filling, &new), BRY_E_NOMEM);
    assert_int_equal(bry__file_load(io, "file", read_filling, &old, NULL), BRY_OK);
    assert_int_equal(count_names(), 1);
}

/* A long name leaves room for the temporary file's. */
TEST_WITH(long_name, enter_dir, leave_dir)
{
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    fill_request f = {1, 10, BRY_OK};
    assert_int_equal(bry__file_save(bry__io_posix(), name, write_filling, &f), BRY_OK);
    assert_int_equal(unlink(name), 0);
    static char path[PATH_MAX + 10];
    for (size_t i = 0; i < sizeof path - 1; i++)
        path[i] = i % 2 ? '/' : 'x';
    errno = 0;
    assert_int_equal(bry__file_save(bry__io_posix(), path, write_filling, &f), BRY_E_IO);
    assert_int_equal(errno, ENAMETOOLONG);
}

/* ---- with faults --------------------------------------------------------------------------- */

static bool holds(const recording_io *fs, const char *path, const fill_request *f)
{
    const recorded_file *file = recording_get(fs, path);
    if (!file || file->len != f->len)
        return false;
    for (size_t i = 0; i < file->len; i++)
        if (file->bytes[i] != f->value)
            return false;
    return true;
}

/* Every operation fails once. The old content stays until the rename, which is what decides. */
TEST(every_operation_fails)
{
    fill_request old = {1, 100, BRY_OK}, new = {2, 60000, BRY_OK};
    recording_io whole;
    recording_init(&whole);
    assert_int_equal(bry__file_save(&whole.io, "file", write_filling, &old), BRY_OK);
    whole.calls = 0;
    assert_int_equal(bry__file_save(&whole.io, "file", write_filling, &new), BRY_OK);
    uint64_t last = whole.calls;
    recording_free(&whole);
    for (int error = 0; error < 2; error++) {
        bool done = false;
        for (uint64_t n = 1; !done; n++) {
            recording_io fs;
            recording_init(&fs);
            assert_int_equal(bry__file_save(&fs.io, "file", write_filling, &old), BRY_OK);
            fs.calls = 0;
            fs.fail_at = n;
            fs.fail_errno = error ? EIO : ENOSPC;
            errno = 0;
            bry_status status = bry__file_save(&fs.io, "file", write_filling, &new);
            done = fs.calls < n;
            assert_int_equal(status, done ? BRY_OK : BRY_E_IO);
            if (!done)
                assert_int_equal(errno, fs.fail_errno);
            /* The last operation is the sync of the directory: then the new file is there
             * already. */
            assert_true(holds(&fs, "file", n < last ? &old : &new));
            assert_int_equal(recording_names(&fs), 1);
            assert_int_equal(recording_open_files(&fs), 0);
            recording_free(&fs);
        }
    }
}

/* All fail from one on: the old file is intact; the temporary one could not be removed. */
TEST(nothing_works_any_more)
{
    fill_request old = {1, 100, BRY_OK}, new = {2, 60000, BRY_OK};
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        recording_io fs;
        recording_init(&fs);
        assert_int_equal(bry__file_save(&fs.io, "file", write_filling, &old), BRY_OK);
        fs.calls = 0;
        fs.fail_at = n;
        fs.keep_failing = true;
        bry_status status = bry__file_save(&fs.io, "file", write_filling, &new);
        done = fs.calls < n;
        assert_int_equal(status, done ? BRY_OK : BRY_E_IO);
        assert_true(holds(&fs, "file", &old) || holds(&fs, "file", &new));
        assert_int_equal(recording_open_files(&fs), 0);
        recording_free(&fs);
    }
}

TEST(every_load_operation_fails)
{
    fill_request f = {1, 60000, BRY_OK};
    recording_io fs;
    recording_init(&fs);
    assert_int_equal(bry__file_save(&fs.io, "file", write_filling, &f), BRY_OK);
    for (uint64_t n = 1;; n++) {
        fs.calls = 0;
        fs.fail_at = n;
        bry_load load = BRY_LOAD;
        errno = 0;
        bry_status status = bry__file_load(&fs.io, "file", read_filling, &f, &load);
        assert_int_equal(recording_open_files(&fs), 0);
        if (status == BRY_OK)
            break; /* only the close is left, and its failure does not matter after reading */
        assert_int_equal(status, BRY_E_IO);
        assert_int_equal(errno, EIO);
        assert_non_null(load.problem);
    }
    assert_true(fs.calls <= fs.fail_at);
    recording_free(&fs);
}

TEST(short_and_interrupted)
{
    fill_request f = {3, 50000, BRY_OK};
    recording_io fs;
    recording_init(&fs);
    fs.at_most = 777;
    fs.interrupt = true;
    assert_int_equal(bry__file_save(&fs.io, "file", write_filling, &f), BRY_OK);
    assert_true(holds(&fs, "file", &f));
    assert_int_equal(bry__file_load(&fs.io, "file", read_filling, &f, NULL), BRY_OK);
    recording_free(&fs);
}
