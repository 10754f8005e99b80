/* libxxhash, for a machine whose libxxhash is not installed: the header has the code too. */
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <xxhash.h>
