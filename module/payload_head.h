/*
 * What a family keeps in front of the library's frames: numbers that an object was made with and
 * that the library does not hold. 64 bits each, the lowest byte first.
 */
#ifndef BLOOMERY_MODULE_PAYLOAD_HEAD_H
#define BLOOMERY_MODULE_PAYLOAD_HEAD_H

#include <bloomery/base.h>

void head_store(unsigned char *to, uint64_t number);
uint64_t head_number(const unsigned char *from);

/* Reads all of it; BRY_E_BADDATA where the source ends before. */
bry_status head_read(const bry_source *source, unsigned char *head, size_t size);

#endif
