/* A compact window as frames. */
#include "frame/frame.h"
#include "window/compact_levels.h"

void bry__compact_window_write(const void *self, bry__frame_writer *writer)
{
    (void)self;
    writer->status = BRY_E_UNSUPPORTED;
}

bry_status bry__compact_window_read(const bry_window_options *options, uint64_t time,
                                    bry__frame_reader *reader, const bry_allocator *allocator,
                                    void **self)
{
    (void)options;
    (void)time;
    (void)allocator;
    (void)self;
    return bry__frame_reader_fail(reader, BRY_E_UNSUPPORTED, "not yet");
}
