/* An object in a file of its own: replaced whole or not at all, loaded whole or refused. */
#ifndef BRY_FRAME_FILE_H
#define BRY_FRAME_FILE_H

#include "frame/io.h"

typedef bry_status bry__file_writer(void *context, const bry_sink *sink);
typedef bry_status bry__file_reader(void *context, const bry_source *source, bry_load *load);

/*
 * Gives the file at `path` the bytes that `write` sends to the sink. They go to a temporary file in
 * the same folder first, are synced, then take the name, and the folder is synced: at every moment,
 * also when the machine stops, the name leads to the old bytes or to all of the new ones.
 *
 * A link is followed, and the file it leads to is replaced; a link that leads nowhere is replaced
 * itself. A new file has the mode that the umask leaves; a replaced one keeps its mode, its group
 * and, where the process may set it, its owner. What is not a regular file is refused (EISDIR,
 * ENOTSUP).
 *
 * On failure the temporary file is removed: what `write` returned, or BRY_E_IO with errno set. One
 * failure comes late: when the folder cannot be synced the new bytes are there, but may not survive
 * a crash.
 */
bry_status bry__file_save(const bry__io *io, const char *path, bry__file_writer *write,
                          void *context);

/* The same for a file that must not be there yet: BRY_E_IO with EEXIST, and it is left alone. */
bry_status bry__file_create(const bry__io *io, const char *path, bry__file_writer *write,
                            void *context);

/*
 * As bry__file_save(), by way of a temporary file of that name, which must be in the same folder:
 * for folders that one process has to itself, where a crash then leaves no files that nobody knows
 * of. A link at `path` is replaced.
 */
bry_status bry__file_save_via(const bry__io *io, const char *path, const char *temporary,
                              bry__file_writer *write, void *context);

/*
 * The same without a temporary file, and without syncing the folder: until the caller has done
 * that, a crash may leave the name away or leading to some of the bytes. For files that nothing
 * refers to yet. On failure the file is removed.
 */
bry_status bry__file_write(const bry__io *io, const char *path, bry__file_writer *write,
                           void *context);

/*
 * Opens the file, has `read` take what it wants, and refuses bytes that are left over. What `read`
 * has built is the caller's to throw away when this fails: the left-over bytes show up after it.
 */
bry_status bry__file_load(const bry__io *io, const char *path, bry__file_reader *read,
                          void *context, bry_load *load);

#endif
