// A user's program in C++17: the headers must compile and the names must link. Exits 0 when all is
// well.
#include <bloomery.h>
#include <memory>
#include <string_view>

int main()
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.seed = 1;
    bry_map_options map_options = BRY_MAP_OPTIONS;
    bry_map_shape shape;
    bry_load load = BRY_LOAD;
    if (bry_map_plan(&map_options, &shape) != BRY_OK || load.max_bytes != 0)
        return 1;
    bry_index_options index_options = BRY_INDEX_OPTIONS;
    bry_index_shape index_shape;
    if (bry_index_plan(&index_options, &index_shape) != BRY_OK || index_shape.units != 64)
        return 1;
    bry_window_options window_options = BRY_WINDOW_OPTIONS;
    bry_window_shape window_shape;
    if (bry_window_plan(&window_options, &window_shape) != BRY_OK || window_shape.window != 60000)
        return 1;
    bry_filter *made = nullptr;
    if (bry_filter_create(&options, &made) != BRY_OK)
        return 1;
    std::unique_ptr<bry_filter, decltype(&bry_filter_destroy)> filter(made, bry_filter_destroy);

    auto hash = [&](std::string_view key) {
        return bry_hash_key(bry_filter_seed(filter.get()), key.data(), key.size());
    };
    if (bry_filter_add(filter.get(), hash("here"), nullptr) != BRY_OK)
        return 1;
    bool right = bry_filter_has(filter.get(), hash("here")) == BRY_PRESENT &&
                 bry_filter_has(filter.get(), hash("gone")) == BRY_ABSENT;
    return right ? 0 : 1;
}
