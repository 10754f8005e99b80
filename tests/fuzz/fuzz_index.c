/* The index's model test as a fuzzer: the input is the program. */
#include "model/index/index_model.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (!model_try(&index_model, bytes, len, stderr))
        abort();
    return 0;
}
