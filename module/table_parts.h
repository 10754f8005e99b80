/* Short words for the tables of commands, and for nothing else: no header includes this. */
#ifndef BLOOMERY_MODULE_TABLE_PARTS_H
#define BLOOMERY_MODULE_TABLE_PARTS_H

#include "family.h"

#define KEY                                                                                        \
    {                                                                                              \
        .name = "key", .type = SERVER_ARG_KEY, .key_spec_index = 0                                 \
    }
#define ARG(arg_name, arg_type, arg_token, arg_flags)                                              \
    {                                                                                              \
        .name = (arg_name), .type = (arg_type), .key_spec_index = -1, .token = (arg_token),        \
        .flags = (arg_flags)                                                                       \
    }
#define WORD(arg_name, arg_token, arg_flags)                                                       \
    ARG(arg_name, SERVER_ARG_PURE_TOKEN, arg_token, arg_flags)

#define READS (SERVER_SPEC_RO | SERVER_SPEC_ACCESS)
#define CHANGES (SERVER_SPEC_RW | SERVER_SPEC_UPDATE)

#define SINCE "0.1.0"

#endif
