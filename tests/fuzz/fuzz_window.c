/* The window's model test as a fuzzer: the input is the program. */
#include "model/window/window_model.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (!model_try(&window_model, bytes, len, stderr))
        abort();
    return 0;
}
