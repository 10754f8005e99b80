/* Addresses and times as reports print them. */
#ifndef BLOOMERY_APPS_FLOW_TEXT_H
#define BLOOMERY_APPS_FLOW_TEXT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct flow_text {
    char text[64];
} flow_text;

flow_text flow_address_text(const uint8_t *address, bool is_ipv6);
/* "2026-11-16T10:35:38.099510Z" */
flow_text flow_time_text(uint64_t microseconds);

#endif
