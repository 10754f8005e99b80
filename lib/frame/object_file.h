/*
 * Objects in files, for every job alike. BRY__OBJECT_FILE(map) defines bry_map_save_file() and
 * bry_map_load_file() by bry_map_save(), bry_map_load() and bry_map_destroy(), where bry_map is the
 * object's type.
 */
#ifndef BRY_FRAME_OBJECT_FILE_H
#define BRY_FRAME_OBJECT_FILE_H

#include "frame/file.h"

/* What a file holds may be refused after the object was read: when bytes follow it. */
#define BRY__OBJECT_FILE(job)                                                                      \
    static bry_status write_file(void *context, const bry_sink *sink)                              \
    {                                                                                              \
        return bry_##job##_save(context, sink);                                                    \
    }                                                                                              \
                                                                                                   \
    bry_status bry_##job##_save_file(const bry_##job *object, const char *path)                    \
    {                                                                                              \
        /* The context is not const for the sake of other writers; this one only reads. */         \
        return bry__file_save(bry__io_posix(), path, write_file, (bry_##job *)object);             \
    }                                                                                              \
                                                                                                   \
    static bry_status read_file(void *context, const bry_source *source, bry_load *load)           \
    {                                                                                              \
        return bry_##job##_load(source, load, context);                                            \
    }                                                                                              \
                                                                                                   \
    bry_status bry_##job##_load_file(const char *path, bry_load *load, bry_##job **object)         \
    {                                                                                              \
        bry_##job *read = NULL;                                                                    \
        bry_status status = bry__file_load(bry__io_posix(), path, read_file, &read, load);         \
        if (status == BRY_OK)                                                                      \
            *object = read;                                                                        \
        else                                                                                       \
            bry_##job##_destroy(read);                                                             \
        return status;                                                                             \
    }

#endif
