/* Files of objects of any job. */
#include "frame/job_row.h"

#include "frame/file.h"
#include "frame/frame.h"

typedef struct job_file {
    const bry__job *job;
    const void *object;
    const bry_save *save;
    void *read;
} job_file;

static bry_status job_file_write(void *context, const bry_sink *sink)
{
    const job_file *file = context;
    return file->job->save(file->object, sink, file->save);
}

static bry_status job_file_read(void *context, const bry_source *source, bry_load *load)
{
    job_file *file = context;
    return file->job->load(source, load, &file->read);
}

bry_status bry__job_save_file(const bry__job *job, const void *object, const char *path,
                              const bry_save *save)
{
    job_file file = {.job = job, .object = object, .save = save};
    bry_status status = bry__save_check(save);
    return status == BRY_OK ? bry__file_save(bry__io_posix(), path, job_file_write, &file) : status;
}

/* It may fail after the object was read: if bytes follow. */
bry_status bry__job_load_file(const bry__job *job, const char *path, bry_load *load, void **object)
{
    job_file file = {.job = job};
    bry_status status = bry__file_load(bry__io_posix(), path, job_file_read, &file, load);
    if (status == BRY_OK)
        *object = file.read;
    else
        job->destroy(file.read);
    return status;
}
