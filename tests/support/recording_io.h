/*
 * A file system in memory, behind the table of operations that files and logs use. It records every
 * operation that changes something, so that crash_states.h can play back what a crash may leave;
 * and it fails, shortens or interrupts operations when told to.
 *
 * It has one folder: a path is a name, whatever slashes it contains.
 */
#ifndef BRY_TESTS_RECORDING_IO_H
#define BRY_TESTS_RECORDING_IO_H

#include "frame/io.h"

enum { RECORDED_NAMES = 96, RECORDED_FILES = 128, RECORDED_DESCRIPTORS = 16 };

typedef struct recorded_file {
    unsigned char *bytes;
    size_t len;
    mode_t mode;
} recorded_file;

typedef struct recorded_name {
    char *path; /* NULL: a free place */
    int file;
} recorded_name;

typedef enum recorded_kind {
    RECORDED_CREATE, /* path */
    RECORDED_LINK, /* path */
    RECORDED_RENAME, /* path to other */
    RECORDED_UNLINK, /* path */
    RECORDED_WRITE, /* offset, bytes, len */
    RECORDED_TRUNCATE, /* offset */
    RECORDED_SYNC,
    RECORDED_SYNC_FOLDER,
    RECORDED_MARK, /* offset and len: the test's own two numbers */
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
    bry__io io; /* give this away; it points back here, so do not copy */

    uint64_t
        fail_at; /* this call fails, counted from 1; 0: none does. A write does half, then fails */
    bool fail_late; /* a write does all, and fails all the same */
    bool keep_failing; /* and so do all after it, but for closing */
    int fail_errno;
    size_t at_most; /* bytes of one read or write; 0: no limit */
    bool interrupt; /* every other read, write, open and truncate stops with EINTR first */
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

    /* What was there when recording began, all of it on disk, and the operations since. */
    recorded_file base_files[RECORDED_FILES];
    int base_file_count;
    recorded_name base_names[RECORDED_NAMES];
    recorded_op *ops;
    size_t op_count, op_room;
} recording_io;

void recording_init(recording_io *fs);
void recording_free(recording_io *fs);

/* All that is there now counts as being on disk; operations are recorded from here on. */
void recording_start(recording_io *fs);

/* Two numbers of the test's own in the record: crash states after this know them. */
void recording_mark(recording_io *fs, uint64_t first, uint64_t second);

/* Puts or gets a whole file, past the record and the faults. NULL: there is no such name. */
void recording_put(recording_io *fs, const char *path, const void *bytes, size_t len);
const recorded_file *recording_get(const recording_io *fs, const char *path);

size_t recording_names(const recording_io *fs); /* in use */
size_t recording_open_files(const recording_io *fs); /* descriptors not closed */

/* Carries out one operation on contents and names, as it would be found on disk. */
void recording_apply(recording_io *fs, const recorded_op *op);

#endif
