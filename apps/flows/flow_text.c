#include "apps/flows/flow_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <time.h>

flow_text flow_address_text(const uint8_t *address, bool is_ipv6)
{
    flow_text text;
    if (!inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, address, text.text, sizeof text.text))
        text.text[0] = '\0';
    return text;
}

flow_text flow_time_text(uint64_t microseconds)
{
    flow_text text;
    time_t seconds = (time_t)(microseconds / 1000000);
    struct tm parts;
    if (!gmtime_r(&seconds, &parts)) {
        snprintf(text.text, sizeof text.text, "%llu", (unsigned long long)microseconds);
        return text;
    }
    size_t len = strftime(text.text, sizeof text.text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text.text + len, sizeof text.text - len, ".%06uZ", (unsigned)(microseconds % 1000000));
    return text;
}
