/*
 * A file system in memory, behind the table of operations that files and logs use. It records every
 * operation that changes something, so that crash_states.h can replay what a crash may leave. It
 * can also fail, shorten or interrupt operations.
 *
 * It has one directory: a path is a name, whatever slashes it contains.
 */
#ifndef BRY_TESTS_RECORDING_IO_H
#define BRY_TESTS_RECORDING_IO_H

#include "frame/io.h"

enum { RECORDED_NAMES = 96, RECORDED_FILES = 128, RECORDED_DESCRIPTORS = 16 };

typedef struct recorded_file {
    unsigned char *bytes;
    size_t len, room;
    mode_t mode;
} recorded_file;

typedef struct recorded_name {
    char *path; /* NULL: free */
    int file;
} recorded_name;

typedef enum recorded_kind {
    RECORDED_CREATE, /* path */
    RECORDED_RENAME, /* path to other */
    RECORDED_UNLINK, /* path */
    RECORDED_WRITE, /* offset, bytes, len */
    RECORDED_TRUNCATE, /* offset */
    RECORDED_SYNC,
    RECORDED_SYNC_DIR,
    RECORDED_MARK, /* offset and len: two numbers of the test */
} recorded_kind;

typedef struct recorded_op {
    recorded_kind kind;
    int file;
    uint64_t offset;
    size_t len;
    unsigned char *bytes;
    char *path, *other;
} recorded_op;

typedef struct recording_io {
    bry__io io; /* for the code under test; it points to this struct, which must not be copied */

    uint64_t fail_at; /* this call fails, counted from 1 (a write after half its bytes); 0: none */
    bool fail_late; /* a write fails after all of its bytes */
    bool keep_failing; /* and all later calls except close */
    int fail_errno;
    size_t at_most; /* bytes of one read or write; 0: no limit */
    bool interrupt; /* every other read, write, open and truncate first fails with EINTR */
    uint64_t calls;

    recorded_file files[RECORDED_FILES];
    int file_count;
    recorded_name names[RECORDED_NAMES];
    struct {
        bool open, locked;
        int file;
        uint64_t at;
    } descriptors[RECORDED_DESCRIPTORS];
    bool interrupted;

    /* The files on disk when the recording began, and the operations since. */
    recorded_file base_files[RECORDED_FILES];
    int base_file_count;
    recorded_name base_names[RECORDED_NAMES];
    recorded_op *ops;
    size_t op_count, op_room;
} recording_io;

void recording_init(recording_io *fs);
void recording_free(recording_io *fs);

/* Begins a recording: everything that exists now counts as on disk. */
void recording_start(recording_io *fs);

/* Records two numbers of the test, which later crash states contain. */
void recording_mark(recording_io *fs, uint64_t first, uint64_t second);

/* Writes or reads a whole file, without recording and faults. NULL: no such file. */
void recording_put(recording_io *fs, const char *path, const void *bytes, size_t len);
const recorded_file *recording_get(const recording_io *fs, const char *path);

size_t recording_names(const recording_io *fs); /* in use */
size_t recording_open_files(const recording_io *fs); /* descriptors not closed */

/* Applies one operation to contents and names. */
void recording_apply(recording_io *fs, const recorded_op *op);

#endif
