/* Macros for the tables of commands only; no header includes this file. */
#ifndef BLOOMERY_MODULE_COMMAND_TABLE_PARTS_H
#define BLOOMERY_MODULE_COMMAND_TABLE_PARTS_H

#include "module/core/command_family.h"
#include "module/core/limit_texts.h"
#include "module/core/object.h"

/*
 * ---- arguments: each has a description, which includes the range and the default ----------------
 */

#define KEY_CALLED(arg_name, spec, arg_token, arg_flags, arg_summary)                              \
    {                                                                                              \
        .name = (arg_name), .type = SERVER_ARG_KEY, .key_spec_index = (spec),                      \
        .token = (arg_token), .summary = (arg_summary), .flags = (arg_flags)                       \
    }
#define KEY_OF(what) KEY_CALLED("key", 0, NULL, 0, "Key of the " what ".")
#define NEW(what) "Key of the new " what ". It must not exist yet: BUSYKEY or WRONGTYPE otherwise."
#define NEW_KEY(what) KEY_CALLED("key", 0, NULL, 0, NEW(what))
#define SOURCES                                                                                    \
    KEY_CALLED("source", 1, NULL, SERVER_ARG_MULTIPLE,                                             \
               "Key of a source, which is not changed. If it does not exist, it counts as empty.")

#define ARG_OF(arg_name, arg_type, arg_token, arg_flags, parts, arg_summary)                       \
    {                                                                                              \
        .name = (arg_name), .type = (arg_type), .key_spec_index = -1, .token = (arg_token),        \
        .summary = (arg_summary), .flags = (arg_flags), .subargs = (parts)                         \
    }
#define ARG(arg_name, arg_type, arg_token, arg_flags, arg_summary)                                 \
    ARG_OF(arg_name, arg_type, arg_token, arg_flags, NULL, arg_summary)
#define WORD(arg_name, arg_token, arg_flags, arg_summary)                                          \
    ARG(arg_name, SERVER_ARG_PURE_TOKEN, arg_token, arg_flags, arg_summary)
#define AN_ITEM "Any bytes; only a hash of them is stored."
#define ITEM ARG("item", SERVER_ARG_STRING, NULL, 0, AN_ITEM)
#define ITEMS ARG("item", SERVER_ARG_STRING, NULL, SERVER_ARG_MULTIPLE, AN_ITEM)

/* ---- options of the commands that create ----------------------------------------------------- */

/* The last sentence about an option: its default. */
#define PRESET(setting, value)                                                                     \
    " Default: the setting bloomery." setting ", which is " value " unless you change it."

#define CHOICE(arg_name, arg_token, parts, arg_summary)                                            \
    ARG_OF(arg_name, SERVER_ARG_ONEOF, arg_token, SERVER_ARG_OPTIONAL, parts, arg_summary)
#define OPTION(arg_name, arg_type, arg_token, arg_summary)                                         \
    ARG(arg_name, arg_type, arg_token, SERVER_ARG_OPTIONAL, arg_summary)
#define CAPACITY(what, preset)                                                                     \
    OPTION("capacity", SERVER_ARG_INTEGER, "CAPACITY",                                             \
           what ", a count from 1 to " CAPACITY_MOST "." preset)
#define ERROR_SHARE(what, least, preset)                                                           \
    OPTION("error", SERVER_ARG_DOUBLE, "ERROR",                                                    \
           what ", a fraction from " TEXT(least) " to " TEXT(BRY_ERROR_MAX) "." preset)
#define A_WINDOW(what) what ", a time from 1 ms to " SPAN_MOST "."
#define MAXMEM(what)                                                                               \
    OPTION("bytes", SERVER_ARG_INTEGER, "MAXMEM",                                                  \
           "Memory limit of the " what                                                             \
           ", a size. One without room for a first entry is refused with RANGE, which says how "   \
           "much that takes. At the limit, new "                                                   \
           "entries are refused with FULL, known ones are still recognised, and "                  \
           "room is freed as entries expire. Default: no limit of its own; "                       \
           "bloomery.max-key-bytes always applies.")
#define A_SEED                                                                                     \
    "Seed of the hash function, a plain whole number from 1 to 2^64 - 1. "                         \
    "Anyone who knows it can construct items that collide. Default: "                              \
    "random."
#define SEED OPTION("seed", SERVER_ARG_INTEGER, "SEED", A_SEED)

/* Either LIKE another key, the command's second key, or SEED. */
#define ORIGIN(what)                                                                               \
    CHOICE("origin", NULL,                                                                         \
           ((server_command_arg[]){                                                                \
               KEY_CALLED("other", 1, "LIKE", 0,                                                   \
                          "Key whose parameters and seed are used, without its contents. " what),  \
               ARG("seed", SERVER_ARG_INTEGER, "SEED", 0, A_SEED),                                 \
               {0}}),                                                                              \
           NULL)

/* ---- keys, and what a command does with them -------------------------------------------------- */

#define LOOKS SERVER_SPEC_RO
#define READS (SERVER_SPEC_RO | SERVER_SPEC_ACCESS)
#define CHANGES (SERVER_SPEC_RW | SERVER_SPEC_UPDATE)
#define CREATES (SERVER_SPEC_OW | SERVER_SPEC_INSERT)
#define REPLACES (SERVER_SPEC_OW | SERVER_SPEC_UPDATE)
#define DELETES (SERVER_SPEC_RW | SERVER_SPEC_DELETE)

#define KEYS(...) ((server_key_spec[]){__VA_ARGS__, {0}})
#define KEY_SPEC(what, last, ...)                                                                  \
    {                                                                                              \
        .flags = (what), .find_type = SERVER_FIND_RANGE, .find.range = {last, 1, 0}, __VA_ARGS__   \
    }
/* One key at a fixed position. */
#define KEY_AT(place, what)                                                                        \
    KEY_SPEC(what, 0, .begin_type = SERVER_BEGIN_INDEX, .begin.index = {place})
/* Keys from a position to the end. */
#define KEYS_FROM(place, what)                                                                     \
    KEY_SPEC(what, -1, .begin_type = SERVER_BEGIN_INDEX, .begin.index = {place})
/* One key after a keyword, which is searched from a position on. */
#define KEY_AFTER(word, place, what)                                                               \
    KEY_SPEC(what, 0, .begin_type = SERVER_BEGIN_KEYWORD, .begin.keyword = {word, place})

#define ONE_KEY(what) KEYS(KEY_AT(1, what))
#define KEYS_OF_CREATE KEYS(KEY_AT(1, CREATES), KEY_AFTER("LIKE", 2, READS))
#define KEYS_OF_MERGE KEYS(KEY_AT(1, CHANGES), KEYS_FROM(2, READS))

/* ---- commands -------------------------------------------------------------------------------- */

/* A row; its summary, fields and example follow. */
#define COMMAND(command_name, handler, how_flagged, how_many, keys, arguments, cost, ...)          \
    {                                                                                              \
        .name = (command_name), .run = (handler), .flags = (how_flagged), .arity = (how_many),     \
        .key_specs = (keys), .args = (arguments), .complexity = (cost), __VA_ARGS__                \
    }

/* One that only replicas and logs use; does: for example "adds items to a filter". */
#define COMMAND_INTERNAL(command_name, handler, how_flagged, how_many, keys, does, cost)           \
    COMMAND(command_name, handler, how_flagged, how_many, keys, NULL, cost,                        \
            .summary = "Internal: " does "; for replicas and the append-only file.")

/* The one that restores an object piece by piece. */
#define COMMAND_RESTORE(command_name)                                                              \
    COMMAND(command_name, object_restore, "write deny-oom", -4, ONE_KEY(REPLACES), NULL,           \
            "O(n), n bytes", .summary = "Internal: restores an object from the append-only file.")

#endif
