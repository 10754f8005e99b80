/* A file without a name, which is gone when it is closed. */
#ifndef BLOOMERY_BENCH_TEMPORARY_FILE_H
#define BLOOMERY_BENCH_TEMPORARY_FILE_H

/* In the directory TMPDIR, or /tmp. A descriptor for reading and writing, or -1 with errno. */
int bench_temporary_file(void);

#endif
