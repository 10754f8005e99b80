/* redis://[USER[:PASSWORD]@]HOST[:PORT][/NAME] */
#include "clients/c/cluster_client.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A copy with %XX decoded. NULL with *problem. */
static char *url_decode(const char *text, size_t len, const char **problem)
{
    char *copy = malloc(len + 1);
    size_t n = 0;
    if (!copy) {
        *problem = "out of memory";
        return NULL;
    }
    for (size_t i = 0; i < len; i++) {
        int byte = (unsigned char)text[i];
        if (byte == '%') {
            int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
            if (low < 0) {
                *problem = "% must be followed by two hexadecimal digits (a % itself is %25)";
                free(copy);
                return NULL;
            }
            byte = 16 * high + low;
            i += 2;
        }
        if (byte == 0) {
            *problem = "%00 is not allowed";
            free(copy);
            return NULL;
        }
        copy[n++] = (char)byte;
    }
    copy[n] = '\0';
    return copy;
}

/* "user", "user:password" or ":password" */
static const char *read_credentials(const char *text, size_t len, bryc__url *url)
{
    const char *problem = NULL, *colon = memchr(text, ':', len);
    size_t user_len = colon ? (size_t)(colon - text) : len;
    if (user_len && !(url->user = url_decode(text, user_len, &problem)))
        return problem;
    if (colon && !(url->password = url_decode(colon + 1, len - user_len - 1, &problem)))
        return problem;
    return NULL;
}

static const char *read_port(const char *text, size_t len, uint32_t *port)
{
    uint32_t number = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || number > 65535)
            return "the port is not a number from 1 to 65535";
        number = 10 * number + (uint32_t)(text[i] - '0');
    }
    if (len == 0 || number == 0 || number > 65535)
        return "the port is not a number from 1 to 65535";
    *port = number;
    return NULL;
}

/* "host", "host:port", "[v6]" or "[v6]:port" */
static const char *read_address(const char *text, size_t len, bryc__url *url)
{
    const char *problem = NULL, *host = text;
    size_t host_len, used;
    if (len > 0 && text[0] == '[') {
        const char *end = memchr(text, ']', len);
        if (!end)
            return "the IPv6 address has no closing bracket";
        host++;
        host_len = (size_t)(end - host);
        used = host_len + 2;
        if (used < len && text[used] != ':')
            return "after the bracket only a port may follow";
    } else {
        const char *colon = memchr(text, ':', len);
        host_len = used = colon ? (size_t)(colon - text) : len;
        if (colon && memchr(colon + 1, ':', len - used - 1))
            return "an IPv6 address is written in brackets: redis://[::1]:6379";
    }
    if (host_len == 0)
        return "missing host";
    url->port = 6379;
    if (used < len && (problem = read_port(text + used + 1, len - used - 1, &url->port)))
        return problem;
    url->host = url_decode(host, host_len, &problem);
    return problem;
}

static const char *read_parts(const char *text, bryc__url *url)
{
    const char *problem = NULL;
    size_t len = strcspn(text, "/");
    const char *name = text + len + (text[len] == '/');
    if (strchr(name, '/'))
        return "the name contains a slash (write it as %2F)";
    /* The last @: one in a password that was not encoded is accepted. */
    const char *at = memrchr(text, '@', len);
    if (at && (problem = read_credentials(text, (size_t)(at - text), url)))
        return problem;
    const char *address = at ? at + 1 : text;
    if ((problem = read_address(address, len - (size_t)(address - text), url)))
        return problem;
    url->name = url_decode(name, strlen(name), &problem);
    return problem;
}

const char *bryc__url_read(const char *text, bryc__url *url)
{
    *url = (bryc__url){0};
    if (strncasecmp(text, "rediss://", 9) == 0)
        return "rediss:// (TLS) is not supported";
    if (strncasecmp(text, "redis://", 8) != 0)
        return "an address begins with redis://";
    if (strpbrk(text, "?#"))
        return "? and # must be written as %3F and %23";
    const char *problem = read_parts(text + 8, url);
    if (problem)
        bryc__url_free(url);
    return problem;
}

void bryc__url_free(bryc__url *url)
{
    free(url->host);
    free(url->user);
    if (url->password)
        explicit_bzero(url->password, strlen(url->password));
    free(url->password);
    free(url->name);
    *url = (bryc__url){0};
}
