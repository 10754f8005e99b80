/*
 * Files with an altered number and correct checksums: a load refuses each with its message, so it
 * has checked the contents.
 */
#ifndef BRY_TESTS_ALTERED_FILE_H
#define BRY_TESTS_ALTERED_FILE_H

#include "common/endian.h"
#include "support/cmocka_all.h"
#include "support/job_calls.h"
#include "support/repair.h"

#include <string.h>

/* Where the payload of the first frame begins. */
enum { FRAME_HEAD = 16, FRAME_SUM = 8, NUMBERS_AT = BRY__HEADER_BYTES + FRAME_HEAD };

typedef struct altered_number {
    size_t at; /* in the file */
    unsigned bytes; /* of the number, at most 8 */
    uint64_t value;
    const char *problem; /* NULL: any */
} altered_number;

static inline void alter(bry_buffer *file, const altered_number *number)
{
    unsigned char value[8];
    assert_true(number->at + number->bytes <= file->len);
    bry__store64(value, number->value);
    memcpy(file->bytes + number->at, value, number->bytes);
    repair_stream(file->bytes, file->len);
}

/* The object's file is refused with each of the numbers by itself. */
static inline void assert_altered_refused(bry_job job, const void *object,
                                          const altered_number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bry_load load = BRY_LOAD;
        bry_buffer file = job_saved(job, object);
        void *loaded;
        alter(&file, &numbers[i]);
        assert_int_equal(job_load_bytes(job, file.bytes, file.len, &load, &loaded), BRY_E_BADDATA);
        assert_non_null(load.problem);
        if (numbers[i].problem)
            assert_string_equal(load.problem, numbers[i].problem);
        bry_buffer_free(&file);
    }
}

#define ASSERT_ALTERED_REFUSED(job, object, numbers)                                               \
    assert_altered_refused((job), (object), (numbers), sizeof(numbers) / sizeof *(numbers))

#endif
