#include "cli/core/input/words.h"

static bool is_letter(char c)
{
    unsigned char byte = (unsigned char)c, low = byte | 0x20;
    return (low >= 'a' && low <= 'z') || (byte >= '0' && byte <= '9') || byte == '_' ||
           byte >= 0x80;
}

static bool is_joint(char c)
{
    return c == '.' || c == '-' || c == ':' || c == '@';
}

bool cli_next_word(cli_text *rest, cli_text *word)
{
    size_t from = 0;
    if (rest->len == 0)
        return false;
    while (from < rest->len && !is_letter(rest->bytes[from]))
        from++;
    size_t to = from, end = from; /* after the last character that belongs to the word */
    for (; end < rest->len && (is_letter(rest->bytes[end]) || is_joint(rest->bytes[end])); end++)
        if (is_letter(rest->bytes[end]))
            to = end + 1;
    *word = (cli_text){rest->bytes + from, to - from};
    *rest = (cli_text){rest->bytes + end, rest->len - end};
    return to > from;
}

bool cli_is_word(cli_text text)
{
    cli_text rest = text, word;
    return cli_next_word(&rest, &word) && word.len == text.len;
}
