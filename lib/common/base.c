#include <bloomery/base.h>
#include <string.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

uint32_t bry_version_number(void)
{
    return BRY_VERSION_NUMBER;
}

const char *bry_version(void)
{
    return TEXT(BRY_VERSION_MAJOR) "." TEXT(BRY_VERSION_MINOR) "." TEXT(BRY_VERSION_PATCH)
#if !BRY_VERSION_RELEASE
        "-dev"
#endif
        ;
}

const char *bry_status_word(bry_status status)
{
    switch (status) {
    case BRY_OK:
        return "OK";
#define WORD_CASE(name, value, text)                                                               \
    case BRY_E_##name:                                                                             \
        return #name;
        BRY_STATUS_LIST(WORD_CASE)
    }
    return "UNKNOWN";
}

const char *bry_status_text(bry_status status)
{
    switch (status) {
    case BRY_OK:
        return "done";
#define TEXT_CASE(name, value, text)                                                               \
    case BRY_E_##name:                                                                             \
        return text;
        BRY_STATUS_LIST(TEXT_CASE)
    }
    return "unknown status";
}

static const char *const engine_names[] = {"auto", "bloom", "compact", "kbf", "fbf", "dba"};
enum { ENGINES = sizeof engine_names / sizeof engine_names[0] };

const char *bry_engine_name(bry_engine engine)
{
    return (unsigned)engine < ENGINES ? engine_names[engine] : NULL;
}

bry_status bry_engine_parse(const char *name, bry_engine *engine)
{
    for (unsigned i = 0; i < ENGINES; i++) {
        if (strcmp(name, engine_names[i]) == 0) {
            *engine = (bry_engine)i;
            return BRY_OK;
        }
    }
    return BRY_E_RANGE;
}
