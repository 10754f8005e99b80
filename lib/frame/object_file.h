/*
 * Saving objects to files, for every job. BRY__OBJECT_FILE(map) defines bry_map_save_file() and
 * bry_map_load_file() by bry_map_save(), bry_map_load() and bry_map_destroy(), where bry_map is the
 * object's type.
 */
#ifndef BRY_FRAME_OBJECT_FILE_H
#define BRY_FRAME_OBJECT_FILE_H

#include "frame/file.h"
#include "frame/frame.h"

/* A load may fail after the object was read: if bytes follow it. */
#define BRY__OBJECT_FILE(job)                                                                      \
    typedef struct saved_file {                                                                    \
        const bry_##job *object;                                                                   \
        const bry_save *save;                                                                      \
    } saved_file;                                                                                  \
                                                                                                   \
    static bry_status job##_write_file(void *context, const bry_sink *sink)                        \
    {                                                                                              \
        const saved_file *file = context;                                                          \
        return bry_##job##_save(file->object, sink, file->save);                                   \
    }                                                                                              \
                                                                                                   \
    bry_status bry_##job##_save_file(const bry_##job *object, const char *path,                    \
                                     const bry_save *save)                                         \
    {                                                                                              \
        saved_file file = {object, save};                                                          \
        bry_status status = bry__save_check(save);                                                 \
        return status == BRY_OK ? bry__file_save(bry__io_posix(), path, job##_write_file, &file)   \
                                : status;                                                          \
    }                                                                                              \
                                                                                                   \
    static bry_status job##_read_file(void *context, const bry_source *source, bry_load *load)     \
    {                                                                                              \
        return bry_##job##_load(source, load, context);                                            \
    }                                                                                              \
                                                                                                   \
    bry_status bry_##job##_load_file(const char *path, bry_load *load, bry_##job **object)         \
    {                                                                                              \
        bry_##job *read = NULL;                                                                    \
        bry_status status = bry__file_load(bry__io_posix(), path, job##_read_file, &read, load);   \
        if (status == BRY_OK)                                                                      \
            *object = read;                                                                        \
        else                                                                                       \
            bry_##job##_destroy(read);                                                             \
        return status;                                                                             \
    }

#endif
