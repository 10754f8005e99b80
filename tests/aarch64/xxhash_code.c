/* libxxhash for a machine whose libxxhash is not installed: its header contains the code. */
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <xxhash.h>
