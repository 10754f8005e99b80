/*
 * The part of the module API of Redis 7.0 (and later) and Valkey that Bloomery uses, declared here.
 *
 * The constants were compared with the headers of Redis 7.0, 8.0 and Valkey 8.1, 9.1. They have the
 * same value in all of them, except those that are named after a server, as in SERVER_VALKEY_…:
 * another server may use the same bit for something else. Use such a constant only after
 * server_is_redis() or server_is_valkey().
 *
 * The server calls RedisModule_OnLoad() with a context whose first word is a function that finds
 * all others by name. server_api_load() looks each up once. A function that the server does not
 * have stays NULL, which is how features of newer servers are detected; required ones are checked.
 *
 * Every function is called as api.Name(…), so that a reader sees where the module calls the server.
 */
#ifndef BLOOMERY_MODULE_SERVER_API_H
#define BLOOMERY_MODULE_SERVER_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct server_context server_context;
typedef struct server_string server_string;
typedef struct server_key server_key;
typedef struct server_type server_type;
typedef struct server_io server_io;
typedef struct server_digest server_digest;
typedef struct server_defrag server_defrag;
typedef struct server_command server_command;
typedef struct server_reply server_reply;
typedef struct server_info server_info;
typedef struct server_key_options server_key_options;

enum { SERVER_OK = 0, SERVER_ERR = 1, SERVER_API_VERSION = 1 };

/* OpenKey() */
enum { SERVER_READ = 1, SERVER_WRITE = 2 };

/* KeyType() */
enum { SERVER_KEY_EMPTY = 0 };

/* GetContextFlags() */
enum {
    SERVER_IS_MASTER = 1 << 2,
    SERVER_IS_REPLICA = 1 << 3,
    SERVER_EVICTS = 1 << 9, /* evicts keys at maxmemory */
    SERVER_OUT_OF_MEMORY = 1 << 10, /* maxmemory is reached */
    SERVER_IS_REPLICATED = 1 << 12,
    SERVER_IS_LOADING = 1 << 13,
    SERVER_CLIENT_RESP3 = 1 << 22,
    SERVER_IS_LOADING_ASIDE = 1 << 23, /* async loading: a replica that still serves its old data */
    SERVER_VALKEY_IS_SLOT_IMPORT = 1 << 25, /* Valkey 9: sent by the node that gives a slot away;
                                               Redis 8: debug commands are enabled */
};

/* SetModuleOptions() */
enum {
    SERVER_HANDLES_IO_ERRORS = 1 << 0,
    SERVER_HANDLES_ASYNC_LOADING = 1 << 2,
    SERVER_VALKEY_HANDLES_SLOT_MIGRATION = 1 << 5, /* Valkey 9 */
};

/* NotifyKeyspaceEvent() */
enum { SERVER_NOTIFY_GENERIC = 1 << 2, SERVER_NOTIFY_MODULE = 1 << 13 };

/* ReplyWithArray() and similar: the length is set later */
enum { SERVER_POSTPONED = -1 };

/* CallReplyType() */
enum { SERVER_REPLY_ERROR = 1, SERVER_REPLY_ARRAY = 3 };

/* SubscribeToServerEvent() */
enum { SERVER_EVENT_MODULES = 9 }; /* a module was loaded or unloaded */

typedef struct server_event {
    uint64_t id, version; /* version: of the event's data, 1 */
} server_event;

/* Register…Config() */
enum {
    SERVER_CONFIG_IMMUTABLE = 1 << 0,
    SERVER_CONFIG_MEMORY = 1 << 7,
    SERVER_REDIS_CONFIG_UNPREFIXED = 1 << 9, /* Redis 8: the name, or "name|alias", as it is given;
                                                Valkey 9.1: an unsigned number */
};

typedef int server_command_function(server_context *context, server_string **argv, int argc);

/* ---- data types ---------------------------------------------------------------------------- */

typedef struct server_type_methods {
    uint64_t version; /* 4 */
    void *(*rdb_load)(server_io *io, int encoding);
    void (*rdb_save)(server_io *io, void *value);
    void (*aof_rewrite)(server_io *io, server_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(server_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(server_io *io, int encoding, int when);
    void (*aux_save)(server_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(server_string *key, const void *value);
    void (*unlink)(server_string *key, const void *value);
    void *(*copy)(server_string *from, server_string *to, const void *value);
    int (*defrag)(server_defrag *defrag, server_string *key, void **value);
    size_t (*mem_usage2)(server_key_options *options, const void *value, size_t samples);
    size_t (*free_effort2)(server_key_options *options, const void *value);
    void (*unlink2)(server_key_options *options, const void *value);
    void *(*copy2)(server_key_options *options, const void *value);
} server_type_methods;

enum { SERVER_TYPE_METHODS_VERSION = 4 };

/* ---- what COMMAND DOCS and the cluster know of a command ------------------------------------ */

typedef struct server_command_history {
    const char *since, *changes;
} server_command_history;

/* In both enums 0 is "omitted" and 1 "unknown". */
enum { SERVER_BEGIN_INDEX = 2, SERVER_BEGIN_KEYWORD = 3 };
enum { SERVER_FIND_RANGE = 2, SERVER_FIND_KEYNUM = 3 };
enum {
    SERVER_SPEC_RO = 1 << 0,
    SERVER_SPEC_RW = 1 << 1,
    SERVER_SPEC_OW = 1 << 2,
    SERVER_SPEC_ACCESS = 1 << 4,
    SERVER_SPEC_UPDATE = 1 << 5,
    SERVER_SPEC_INSERT = 1 << 6,
    SERVER_SPEC_DELETE = 1 << 7,
    SERVER_SPEC_INCOMPLETE = 1 << 9, /* there may be further keys: getkeys-api */
};

typedef struct server_key_spec {
    const char *notes;
    uint64_t flags;
    int begin_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } begin;
    int find_type;
    union {
        struct {
            int lastkey, keystep, limit;
        } range;
        struct {
            int keynumidx, firstkey, keystep;
        } keynum;
    } find;
} server_key_spec;

enum {
    SERVER_ARG_STRING = 0,
    SERVER_ARG_INTEGER = 1,
    SERVER_ARG_DOUBLE = 2,
    SERVER_ARG_KEY = 3,
    SERVER_ARG_PATTERN = 4,
    SERVER_ARG_UNIX_TIME = 5,
    SERVER_ARG_PURE_TOKEN = 6,
    SERVER_ARG_ONEOF = 7,
    SERVER_ARG_BLOCK = 8,
};
enum {
    SERVER_ARG_OPTIONAL = 1 << 0,
    SERVER_ARG_MULTIPLE = 1 << 1,
    SERVER_ARG_MULTIPLE_TOKEN = 1 << 2
};

typedef struct server_command_arg {
    const char *name;
    int type;
    int key_spec_index; /* -1: not a key */
    const char *token, *summary, *since;
    int flags;
    const char *deprecated_since;
    struct server_command_arg *subargs;
    const char *display_text;
} server_command_arg;

typedef struct server_command_info_version {
    int version;
    size_t sizeof_history, sizeof_key_spec, sizeof_arg;
} server_command_info_version;

typedef struct server_command_info {
    const server_command_info_version *version;
    const char *summary, *complexity, *since;
    server_command_history *history;
    const char *tips;
    int arity;
    server_key_spec *key_specs;
    server_command_arg *args;
} server_command_info;

/* ---- the functions -------------------------------------------------------------------------- */

/* X(required, result, name, arguments): one list, so that every declared function is looked up. */
#define SERVER_FUNCTIONS(X)                                                                        \
    /* set-up */                                                                                   \
    X(1, void, SetModuleAttribs, (server_context *, const char *name, int version, int api))       \
    X(1, int, IsModuleNameBusy, (const char *name))                                                \
    X(1, void, SetModuleOptions, (server_context *, int options))                                  \
    X(1, int, CreateCommand,                                                                       \
      (server_context *, const char *name, server_command_function *, const char *flags,           \
       int first_key, int last_key, int key_step))                                                 \
    X(1, server_command *, GetCommand, (server_context *, const char *name))                       \
    X(1, int, SetCommandInfo, (server_command *, const server_command_info *))                     \
    X(0, int, SetCommandACLCategories, (server_command *, const char *categories))                 \
    X(0, int, AddACLCategory, (server_context *, const char *name))                                \
    X(1, server_type *, CreateDataType,                                                            \
      (server_context *, const char *name, int encoding, server_type_methods *))                   \
    X(1, int, GetContextFlags, (server_context *))                                                 \
    X(1, int64_t, Milliseconds, (void))                                                            \
    X(1, void, Log, (server_context *, const char *level, const char *format, ...))                \
    X(0, int, GetServerVersion, (void))                                                            \
    /* memory */                                                                                   \
    X(1, void, Free, (void *))                                                                     \
    X(1, void *, TryAlloc, (size_t))                                                               \
    X(1, size_t, MallocSize, (void *))                                                             \
    /* keys */                                                                                     \
    X(1, server_key *, OpenKey, (server_context *, server_string * name, int mode))                \
    X(1, void, CloseKey, (server_key *))                                                           \
    X(1, int, KeyType, (server_key *))                                                             \
    X(1, int, DeleteKey, (server_key *))                                                           \
    X(1, server_type *, ModuleTypeGetType, (server_key *))                                         \
    X(1, void *, ModuleTypeGetValue, (server_key *))                                               \
    X(1, int, ModuleTypeSetValue, (server_key *, server_type *, void *value))                      \
    X(1, int, ModuleTypeReplaceValue, (server_key *, server_type *, void *value, void **old))      \
    X(1, int, NotifyKeyspaceEvent,                                                                 \
      (server_context *, int type, const char *event, server_string *))                            \
    X(1, int, SignalModifiedKey, (server_context *, server_string *))                              \
    X(1, int, IsKeysPositionRequest, (server_context *))                                           \
    X(1, void, KeyAtPosWithFlags, (server_context *, int pos, int flags))                          \
    X(1, int *, GetCommandKeysWithFlags,                                                           \
      (server_context *, server_string * *argv, int argc, int *count, int **flags))                \
    /* strings */                                                                                  \
    X(1, const char *, StringPtrLen, (const server_string *, size_t *len))                         \
    X(1, int, StringToLongLong, (const server_string *, long long *))                              \
    X(1, int, StringToDouble, (const server_string *, double *))                                   \
    X(1, server_string *, CreateString, (server_context *, const char *, size_t))                  \
    X(1, void, FreeString, (server_context *, server_string *))                                    \
    X(1, void, RetainString, (server_context *, server_string *))                                  \
    X(1, int, StringAppendBuffer, (server_context *, server_string *, const char *, size_t))       \
    /* replies */                                                                                  \
    X(1, int, WrongArity, (server_context *))                                                      \
    X(1, int, ReplyWithError, (server_context *, const char *))                                    \
    X(1, int, ReplyWithSimpleString, (server_context *, const char *))                             \
    X(1, int, ReplyWithLongLong, (server_context *, long long))                                    \
    X(1, int, ReplyWithLongDouble, (server_context *, long double))                                \
    X(1, int, ReplyWithDouble, (server_context *, double))                                         \
    X(1, int, ReplyWithNull, (server_context *))                                                   \
    X(1, int, ReplyWithArray, (server_context *, long len))                                        \
    X(1, void, ReplySetArrayLength, (server_context *, long len))                                  \
    X(1, int, ReplyWithMap, (server_context *, long len))                                          \
    X(1, void, ReplySetMapLength, (server_context *, long len))                                    \
    X(1, int, ReplyWithStringBuffer, (server_context *, const char *, size_t))                     \
    X(1, int, ReplyWithBool, (server_context *, int))                                              \
    X(1, int, ReplyWithCallReply, (server_context *, server_reply *))                              \
    /* replication, calls */                                                                       \
    X(1, int, Replicate, (server_context *, const char *command, const char *format, ...))         \
    X(1, int, ReplicateVerbatim, (server_context *))                                               \
    X(1, server_reply *, Call, (server_context *, const char *command, const char *format, ...))   \
    X(1, int, CallReplyType, (server_reply *))                                                     \
    X(1, const char *, CallReplyProto, (server_reply *, size_t * len))                             \
    X(1, size_t, CallReplyLength, (server_reply *))                                                \
    X(1, long long, CallReplyInteger, (server_reply *))                                            \
    X(1, server_reply *, CallReplyArrayElement, (server_reply *, size_t i))                        \
    X(1, const char *, CallReplyStringPtr, (server_reply *, size_t * len))                         \
    X(1, void, FreeCallReply, (server_reply *))                                                    \
    /* persistence */                                                                              \
    X(1, void, SaveUnsigned, (server_io *, uint64_t))                                              \
    X(1, uint64_t, LoadUnsigned, (server_io *))                                                    \
    X(1, void, SaveStringBuffer, (server_io *, const char *, size_t))                              \
    X(1, char *, LoadStringBuffer, (server_io *, size_t * len))                                    \
    X(1, int, IsIOError, (server_io *))                                                            \
    X(1, void, LogIOError, (server_io *, const char *level, const char *format, ...))              \
    X(1, server_context *, GetContextFromIO, (server_io *))                                        \
    X(1, const server_string *, GetKeyNameFromIO, (server_io *))                                   \
    X(1, void, EmitAOF, (server_io *, const char *command, const char *format, ...))               \
    X(1, void, DigestAddStringBuffer, (server_digest *, const char *, size_t))                     \
    X(1, void, DigestEndSequence, (server_digest *))                                               \
    /* observation */                                                                              \
    X(1, int, SubscribeToServerEvent,                                                              \
      (server_context *, server_event,                                                             \
       void (*)(server_context *, server_event, uint64_t what, void *data)))                       \
    X(1, int, RegisterInfoFunc, (server_context *, void (*)(server_info *, int for_crash)))        \
    X(1, int, InfoAddSection, (server_info *, const char *name))                                   \
    X(1, int, InfoAddFieldULongLong, (server_info *, const char *, unsigned long long))            \
    X(1, int, InfoAddFieldCString, (server_info *, const char *, const char *))                    \
    /* configuration */                                                                            \
    X(1, int, RegisterNumericConfig,                                                               \
      (server_context *, const char *name, long long preset, unsigned flags, long long least,      \
       long long most, long long (*get)(const char *, void *),                                     \
       int (*set)(const char *, long long, void *, server_string **), void *applied, void *data))  \
    X(1, int, RegisterStringConfig,                                                                \
      (server_context *, const char *name, const char *preset, unsigned flags,                     \
       server_string *(*get)(const char *, void *),                                                \
       int (*set)(const char *, server_string *, void *, server_string **), void *applied,         \
       void *data))                                                                                \
    X(1, int, RegisterEnumConfig,                                                                  \
      (server_context *, const char *name, int preset, unsigned flags, const char **names,         \
       const int *values, int count, int (*get)(const char *, void *),                             \
       int (*set)(const char *, int, void *, server_string **), void *applied, void *data))        \
    X(1, int, LoadConfigs, (server_context *))

typedef struct server_api {
#define X(required, result, name, arguments)                                                       \
    result(*name) arguments; /* NOLINT(bugprone-macro-parentheses): a declaration */
    SERVER_FUNCTIONS(X)
#undef X
    bool is_valkey;
    int version; /* as SERVER_VERSION(); 0: unknown */
    int replicated_flags; /* of GetContextFlags(): the command comes from a primary or from the node
                             that gives a slot away */
} server_api;

extern server_api api;

/* Fills `api`. Returns NULL, or the name of a required function that is missing. */
const char *server_api_load(server_context *context);

#define SERVER_VERSION(major, minor) ((major) << 16 | (minor) << 8)

/* True if the server is Redis, or Valkey, of this version or later. */
static inline bool server_is_redis(int version)
{
    return !api.is_valkey && api.version >= version;
}

static inline bool server_is_valkey(int version)
{
    return api.is_valkey && api.version >= version;
}

#endif
