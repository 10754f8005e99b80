#include "module/core/server_api.h"

server_api api;

/* The part of a context that a module may read: the function that finds all others. */
typedef struct context_head {
    int (*get_api)(const char *name, void *function);
} context_head;

const char *server_api_load(server_context *context)
{
    const context_head *head = (const context_head *)(const void *)context;
    const char *missing = NULL;
#define X(required, result, name, arguments)                                                       \
    head->get_api("RedisModule_" #name, (void *)&api.name);                                        \
    if ((required) && !api.name && !missing)                                                       \
        missing = #name;
    SERVER_FUNCTIONS(X)
#undef X
    void *own; /* Valkey also has every function under a name of its own */
    api.is_valkey = head->get_api("ValkeyModule_CreateCommand", (void *)&own) == SERVER_OK;
    api.version = api.GetServerVersion ? api.GetServerVersion() : 0;
    api.replicated_flags = SERVER_IS_REPLICATED;
    if (server_is_valkey(SERVER_VERSION(9, 0)))
        api.replicated_flags |= SERVER_VALKEY_IS_SLOT_IMPORT;
    return missing;
}
