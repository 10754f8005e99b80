/* The frames of a table, for table_save.c and table_load.c. doc/format.md describes them. */
#ifndef BRY_MAPLET_TABLE_CODE_H
#define BRY_MAPLET_TABLE_CODE_H

#include "frame/frame_header.h"

#define BRY__SEGMENTS BRY__FOUR('S', 'E', 'G', 'S')
#define BRY__CROWDS BRY__FOUR('C', 'R', 'W', 'D')

enum { /* a record of the frame SEGS, followed by the block's front and its slots */
       BRY__AT_ENTRIES = 0, /* u16 */
       BRY__AT_MORE = 2, /* u16: 1 if the next record has entries of the same segment, else 0 */
       BRY__RECORD_SIZE = 4
};

enum { /* the frame CRWD: entries of a fingerprint, u64, and a value, u32 */
       BRY__CROWD_ENTRY = 12,
       BRY__CROWD_BATCH = 4096
};

#endif
