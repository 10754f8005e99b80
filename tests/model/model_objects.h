/* What most models do with an object of any job. */
#ifndef BRY_TESTS_MODEL_OBJECTS_H
#define BRY_TESTS_MODEL_OBJECTS_H

#include "model/model_steps.h"

#include <bloomery/job.h>

/* Both destroy the object and return what has replaced it; if the chosen allocation failed, they
 * return the object. */

/* A copy. */
void *model_clone(model_reader *reader, const failing_allocator *memory, bry_job job, void *object);
/* Saved, loaded with this memory, and saved again, to the same bytes. */
void *model_reload(model_reader *reader, const failing_allocator *memory, bry_job job,
                   void *object);

/* After a load: destroys the object and returns the loaded one, or the object if memory ran out. */
void *model_go_on_with(model_reader *reader, const failing_allocator *memory, bry_job job,
                       void *object, bry_status status, void *loaded, const bry_load *load);

#endif
