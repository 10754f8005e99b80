/* An object in its own file: replaced as a whole or not at all, loaded as a whole or rejected. */
#ifndef BRY_FRAME_FILE_H
#define BRY_FRAME_FILE_H

#include "frame/io.h"

typedef bry_status bry__file_writer(void *context, const bry_sink *sink);
typedef bry_status bry__file_reader(void *context, const bry_source *source, bry_load *load);

/*
 * Writes what `write` sends to the sink to the file at `path`. The bytes go to a temporary file in
 * the same directory, which is synced, renamed to `path`, and the directory is synced: at any time,
 * even after a crash, `path` has either the old content or all of the new one.
 *
 * A symbolic link is followed and the file it points to is replaced; a dangling link is replaced
 * itself. A new file gets its mode from the umask; a replaced one keeps its mode, its group and, if
 * the process may set it, its owner. Anything but a regular file is an error (EISDIR, ENOTSUP).
 *
 * On failure the temporary file is removed, and the result is what `write` returned, or BRY_E_IO
 * with errno set. If only the sync of the directory fails, the new content is there, but may not
 * survive a crash.
 */
bry_status bry__file_save(const bry__io *io, const char *path, bry__file_writer *write,
                          void *context);

/*
 * As bry__file_save(), with the given name for the temporary file, which must be in the same
 * directory. For directories that belong to one process: a crash then leaves no files with unknown
 * names. A link at `path` is replaced.
 */
bry_status bry__file_save_via(const bry__io *io, const char *path, const char *temporary,
                              bry__file_writer *write, void *context);

/*
 * The same without a temporary file, and without syncing the directory: until the caller has synced
 * it, a crash may leave no file or an incomplete one. For files that nothing refers to yet. On
 * failure the file is removed.
 */
bry_status bry__file_write(const bry__io *io, const char *path, bry__file_writer *write,
                           void *context);

/*
 * Opens the file, calls `read`, and fails if bytes are left over. The caller frees what `read` has
 * built if this fails, since the left-over bytes are found after `read` has returned.
 */
bry_status bry__file_load(const bry__io *io, const char *path, bry__file_reader *read,
                          void *context, bry_load *load);

#endif
