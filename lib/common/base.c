#include <bloomery/base.h>
#include <string.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

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
#define WORD_CASE(name, value)                                                                     \
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
    case BRY_E_NOMEM:
        return "out of memory";
    case BRY_E_RANGE:
        return "an argument is out of range";
    case BRY_E_FULL:
        return "the capacity or the memory limit is reached";
    case BRY_E_MISMATCH:
        return "engine, seed or shape differ; create one object with the other's options";
    case BRY_E_UNSURE:
        return "the stored value is ambiguous, so nothing was changed";
    case BRY_E_BADDATA:
        return "the data is damaged, truncated or not Bloomery's";
    case BRY_E_VERSION:
        return "the data was written in a format that this build does not read";
    case BRY_E_LIMIT:
        return "the data needs more memory than the limit allows";
    case BRY_E_IO:
        return "reading or writing failed; see errno";
    case BRY_E_NOUNIT:
        return "there is no such unit";
    case BRY_E_UNSUPPORTED:
        return "not supported by this engine, or for this kind of values";
    case BRY_E_STOPPED:
        return "a callback asked to stop";
    case BRY_E_SEALED:
        return "the unit is sealed and accepts no more elements";
    case BRY_E_SKEW:
        return "the time is further ahead than max_skew allows";
    case BRY_E_OVERFLOW:
        return "a counter would overflow 64 bits";
    case BRY_E_TOOLONG:
        return "a name, value, note or batch is too long";
    case BRY_E_NOTFOUND:
        return "there is no such map or table";
    case BRY_E_WRONGTYPE:
        return "the key holds another type";
    }
    return "unknown status";
}

#define ENGINE_NAME(word, number, name) [number] = (name),
static const char *const engine_names[] = {BRY_ENGINE_LIST(ENGINE_NAME)};
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
