/* The map's model test as a fuzzer: the input is the program. */
#include "model/map/map_model.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (!model_try(&map_model, bytes, len, stderr))
        abort();
    return 0;
}
