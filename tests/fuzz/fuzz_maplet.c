/* The maplet's model test as a fuzzer: the input is the program. */
#include "model/maplet/maplet_model.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    enum { LONGEST = 512 }; /* so that no input takes more than a few seconds */
    if (len <= LONGEST && !model_try(&maplet_model, bytes, len, stderr))
        abort();
    return 0;
}
