/* Short words for the tables of commands, and for nothing else: no header includes this. */
#ifndef BLOOMERY_MODULE_TABLE_PARTS_H
#define BLOOMERY_MODULE_TABLE_PARTS_H

#include "family.h"

/* ---- arguments ------------------------------------------------------------------------------- */

#define KEY_CALLED(arg_name, spec, arg_token, arg_flags)                                           \
    {                                                                                              \
        .name = (arg_name), .type = SERVER_ARG_KEY, .key_spec_index = (spec),                      \
        .token = (arg_token), .flags = (arg_flags)                                                 \
    }
#define KEY KEY_CALLED("key", 0, NULL, 0)
#define DESTINATION KEY_CALLED("destination", 0, NULL, 0)
#define SOURCES KEY_CALLED("source", 1, NULL, SERVER_ARG_MULTIPLE)

#define ARG_OF(arg_name, arg_type, arg_token, arg_flags, parts)                                    \
    {                                                                                              \
        .name = (arg_name), .type = (arg_type), .key_spec_index = -1, .token = (arg_token),        \
        .flags = (arg_flags), .subargs = (parts)                                                   \
    }
#define ARG(arg_name, arg_type, arg_token, arg_flags)                                              \
    ARG_OF(arg_name, arg_type, arg_token, arg_flags, NULL)
#define WORD(arg_name, arg_token, arg_flags)                                                       \
    ARG(arg_name, SERVER_ARG_PURE_TOKEN, arg_token, arg_flags)
#define ITEM ARG("item", SERVER_ARG_STRING, NULL, 0)
#define ITEMS ARG("item", SERVER_ARG_STRING, NULL, SERVER_ARG_MULTIPLE)

/* ---- options of the commands that create ----------------------------------------------------- */

#define CHOICE(arg_name, arg_token, parts)                                                         \
    ARG_OF(arg_name, SERVER_ARG_ONEOF, arg_token, SERVER_ARG_OPTIONAL, parts)
#define OPTION(arg_name, arg_type, arg_token)                                                      \
    ARG(arg_name, arg_type, arg_token, SERVER_ARG_OPTIONAL)
#define CAPACITY OPTION("capacity", SERVER_ARG_INTEGER, "CAPACITY")
#define ERROR_SHARE OPTION("error", SERVER_ARG_DOUBLE, "ERROR")
#define MAXMEM OPTION("bytes", SERVER_ARG_INTEGER, "MAXMEM")
#define SEED OPTION("seed", SERVER_ARG_INTEGER, "SEED")

/* LIKE another key, which is the command's second, or with this seed. */
#define ORIGIN                                                                                     \
    CHOICE("origin", NULL,                                                                         \
           ((server_command_arg[]){KEY_CALLED("other", 1, "LIKE", 0),                              \
                                   ARG("seed", SERVER_ARG_INTEGER, "SEED", 0),                     \
                                   {0}}))

/* ---- what a command does with its keys ------------------------------------------------------- */

#define READS (SERVER_SPEC_RO | SERVER_SPEC_ACCESS)
#define CHANGES (SERVER_SPEC_RW | SERVER_SPEC_UPDATE)
#define CREATES (SERVER_SPEC_OW | SERVER_SPEC_INSERT)
#define DELETES (SERVER_SPEC_RW | SERVER_SPEC_DELETE)

#define SINCE "0.1.0"

#endif
