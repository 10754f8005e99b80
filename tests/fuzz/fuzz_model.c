/* A model test as a fuzzer: the input is the program. The build names the model (FUZZED_MODEL). */
#include "model/model.h"
#include "support/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MUST(size > FUZZED_LENGTH || model_try(&FUZZED_MODEL, data, size, stderr));
    return 0;
}
