/*
 * The structure of LMDB's file (its format 1, on 64-bit machines), read without LMDB:
 *
 *   page 0, 1   the two meta pages; the one with the higher transaction number counts
 *   meta        magic 4, version 4, address 8, map size 8, two databases of 48 bytes (free pages,
 *               main), last page 8, transaction 8
 *   database    page size or pad 4, flags 2, depth 2, branch pages 8, leaf pages 8, overflow pages
 *               8, entries 8, root 8
 *   page        number 8, pad 2, flags 2, lower 2, upper 2 (or overflow pages 4); then a pointer of
 *               2 bytes for each node, and from `upper` to the end the nodes
 *   node        low 2, high 2, flags 2, key length 2, key, data
 *
 * Every page is in a tree, once, or in the list of free pages, or a meta page; the counts in the
 * databases are right; nodes fill their pages exactly; keys ascend. So a flipped bit in a tree or in
 * the list of free pages is noticed here, or changes a key or value, which the comparison with the
 * containers notices.
 */
#include "apps/dedup/check/findings.h"
#include "cli/core/files/note_bytes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
    PAGE_HEADER = 16,
    NODE_HEADER = 8,
    BRANCH = 1,
    LEAF = 2,
    OVERFLOW_PAGE = 4,
    BIG_DATA = 1,
    SUB_DATABASE = 2,
    DATABASE = 48,
    DEEPEST = 32,
};
#define NO_ROOT UINT64_MAX
#define LMDB_MAGIC 0xBEEFC0DEu

typedef struct page_check {
    const unsigned char *map;
    uint64_t pages; /* that are in use: the last one and all before */
    size_t page_size;
    unsigned char *seen; /* for each page: 1 tree, 2 free */
    const char *problem;
} page_check;

typedef struct tree_count {
    uint64_t branch, leaf, overflow, entries;
    bool free_list; /* its values are lists of pages */
    bool main; /* its values may be databases */
} tree_count;

static bool page_fails(page_check *check, const char *problem)
{
    if (!check->problem)
        check->problem = problem;
    return false;
}

static bool take_pages(page_check *check, uint64_t first, uint64_t count, unsigned char how)
{
    if (first < 2 || count == 0 || first >= check->pages || count > check->pages - first)
        return page_fails(check, "a page number is out of range");
    for (uint64_t i = first; i < first + count; i++) {
        if (check->seen[i])
            return page_fails(check, "a page is used twice");
        check->seen[i] = how;
    }
    return true;
}

/* The value of a free list: a count, and that many page numbers, descending. */
static bool check_free_pages(page_check *check, const unsigned char *value, uint64_t len)
{
    uint64_t count = len >= 8 ? cli_get(value, 8) : 0, before = UINT64_MAX;
    if (len < 8 || len % 8 != 0 || count != len / 8 - 1)
        return page_fails(check, "the list of free pages is malformed");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t page = cli_get(value + 8 + 8 * i, 8);
        if (page >= before)
            return page_fails(check, "the list of free pages is not sorted");
        before = page;
        if (!take_pages(check, page, 1, 2))
            return false;
    }
    return true;
}

static bool check_tree(page_check *check, const unsigned char *database, bool free_list, bool main);

/* The pages of a value that does not fit in a node; moves *value there. */
static bool check_big_value(page_check *check, uint64_t len, tree_count *count,
                            const unsigned char **value)
{
    uint64_t first = cli_get(*value, 8);
    uint64_t pages = (PAGE_HEADER - 1 + len) / check->page_size + 1;
    if (!take_pages(check, first, pages, 1))
        return false;
    *value = check->map + first * check->page_size;
    if (cli_get(*value, 8) != first || cli_get(*value + 10, 2) != OVERFLOW_PAGE ||
        cli_get(*value + 12, 4) != pages)
        return page_fails(check, "an overflow page is malformed");
    count->overflow += pages;
    *value += PAGE_HEADER;
    return true;
}

static bool check_leaf_node(page_check *check, const unsigned char *node, tree_count *count)
{
    uint64_t len = cli_get(node, 2) | cli_get(node + 2, 2) << 16;
    unsigned flags = (unsigned)cli_get(node + 4, 2);
    const unsigned char *value = node + NODE_HEADER + cli_get(node + 6, 2);
    count->entries++;
    if ((flags & BIG_DATA) && !check_big_value(check, len, count, &value))
        return false;
    if (count->free_list)
        return flags & ~(unsigned)BIG_DATA ? page_fails(check, "a node is malformed")
                                           : check_free_pages(check, value, len);
    if (count->main)
        return flags == SUB_DATABASE && len == DATABASE
                   ? check_tree(check, value, false, false)
                   : page_fails(check, "a database is malformed");
    return flags == 0 ? true : page_fails(check, "a node is malformed");
}

static int compare_node_keys(const unsigned char *page, unsigned a, unsigned b, bool numbers)
{
    const unsigned char *x = page + cli_get(page + PAGE_HEADER + 2 * (size_t)a, 2);
    const unsigned char *y = page + cli_get(page + PAGE_HEADER + 2 * (size_t)b, 2);
    size_t x_len = (size_t)cli_get(x + 6, 2), y_len = (size_t)cli_get(y + 6, 2);
    if (numbers) {
        uint64_t p = x_len == 8 ? cli_get(x + NODE_HEADER, 8) : 0;
        uint64_t q = y_len == 8 ? cli_get(y + NODE_HEADER, 8) : 0;
        return p < q ? -1 : p > q;
    }
    int order = memcmp(x + NODE_HEADER, y + NODE_HEADER, x_len < y_len ? x_len : y_len);
    return order ? order : x_len < y_len ? -1 : x_len > y_len;
}

/* The bytes of a node in its page, or 0 if they are not all in it. */
static size_t node_len(const page_check *check, const unsigned char *page, unsigned i, bool leaf)
{
    size_t upper = (size_t)cli_get(page + 14, 2),
           at = (size_t)cli_get(page + PAGE_HEADER + 2 * (size_t)i, 2);
    if (at < upper || at + NODE_HEADER > check->page_size)
        return 0;
    const unsigned char *node = page + at;
    uint64_t value = cli_get(node, 2) | cli_get(node + 2, 2) << 16;
    uint64_t len = NODE_HEADER + cli_get(node + 6, 2);
    if (leaf)
        len += cli_get(node + 4, 2) & BIG_DATA ? 8 : value;
    len += len & 1;
    return at + len > check->page_size ? 0 : (size_t)len;
}

/* Header and nodes of a page: they fill it exactly, and keys ascend. */
static bool check_nodes(page_check *check, const unsigned char *page, uint64_t number, bool numbers)
{
    unsigned flags = (unsigned)cli_get(page + 10, 2);
    size_t lower = (size_t)cli_get(page + 12, 2), upper = (size_t)cli_get(page + 14, 2);
    if (cli_get(page, 8) != number || (flags != BRANCH && flags != LEAF) || lower < PAGE_HEADER ||
        lower % 2 != 0 || lower > upper || upper > check->page_size)
        return page_fails(check, "a page is malformed");
    size_t nodes = (lower - PAGE_HEADER) / 2, used = 0;
    unsigned first = flags == BRANCH ? 1 : 0; /* the first key of a branch page does not count */
    for (unsigned i = 0; i < nodes; i++) {
        size_t len = node_len(check, page, i, flags == LEAF);
        if (len == 0)
            return page_fails(check, "a node is outside of its page");
        used += len;
        if (i > first && compare_node_keys(page, i - 1, i, numbers) >= 0)
            return page_fails(check, "keys are not in order");
    }
    return used == check->page_size - upper ? true : page_fails(check, "nodes overlap");
}

/* A page on the way down, and which of its nodes is next. */
typedef struct page_step {
    const unsigned char *page;
    unsigned next;
} page_step;

static bool enter_page(page_check *check, uint64_t number, tree_count *count, page_step *step)
{
    if (!take_pages(check, number, 1, 1))
        return false;
    *step = (page_step){check->map + number * check->page_size, 0};
    if (!check_nodes(check, step->page, number, count->free_list))
        return false;
    if (cli_get(step->page + 10, 2) == LEAF)
        count->leaf++;
    else
        count->branch++;
    return true;
}

static bool walk_pages(page_check *check, uint64_t root, unsigned depth, tree_count *count)
{
    page_step steps[DEEPEST];
    unsigned level = 0;
    if (depth == 0 || depth > DEEPEST)
        return page_fails(check, "a tree has an impossible depth");
    if (!enter_page(check, root, count, &steps[0]))
        return false;
    for (;;) {
        page_step *step = &steps[level];
        unsigned nodes = (unsigned)(cli_get(step->page + 12, 2) - PAGE_HEADER) / 2;
        bool leaf = cli_get(step->page + 10, 2) == LEAF;
        if (leaf != (level + 1 == depth) || nodes == 0)
            return page_fails(check, "a tree has the wrong depth");
        if (step->next == nodes) {
            if (level == 0)
                return true;
            level--;
            continue;
        }
        const unsigned char *node =
            step->page + cli_get(step->page + PAGE_HEADER + 2 * (size_t)step->next++, 2);
        uint64_t child = cli_get(node, 2) | cli_get(node + 2, 2) << 16 | cli_get(node + 4, 2) << 32;
        if (leaf ? !check_leaf_node(check, node, count)
                 : !enter_page(check, child, count, &steps[++level]))
            return false;
    }
}

/* Databases are two levels deep, so this calls itself once at most. */
static bool check_tree(page_check *check, const unsigned char *database, bool free_list, bool main)
{
    tree_count count = {.free_list = free_list, .main = main};
    uint64_t root = cli_get(database + 40, 8);
    unsigned depth = (unsigned)cli_get(database + 6, 2), flags = (unsigned)cli_get(database + 4, 2);
    if ((flags & 0x7fff) != (free_list ? 8u : 0u))
        return page_fails(check, "a database has unknown flags");
    if (root != NO_ROOT && !walk_pages(check, root, depth, &count))
        return false;
    if (count.branch != cli_get(database + 8, 8) || count.leaf != cli_get(database + 16, 8) ||
        count.overflow != cli_get(database + 24, 8) || count.entries != cli_get(database + 32, 8) ||
        (root == NO_ROOT && depth != 0))
        return page_fails(check, "the counts of a database are wrong");
    return true;
}

/* The meta page that counts, or NULL. */
static const unsigned char *newest_meta(page_check *check, size_t len)
{
    const unsigned char *meta[2];
    uint64_t transaction[2];
    check->page_size = len >= 4096 ? (size_t)cli_get(check->map + PAGE_HEADER + 24, 4) : 0;
    if (check->page_size < 512 || check->page_size > 65536 || 2 * check->page_size > len) {
        page_fails(check, "the page size is impossible");
        return NULL;
    }
    for (unsigned i = 0; i < 2; i++) {
        const unsigned char *page = check->map + i * check->page_size;
        meta[i] = page + PAGE_HEADER;
        transaction[i] = cli_get(meta[i] + 128, 8);
        if (cli_get(page, 8) != i || cli_get(page + 10, 2) != 8 ||
            cli_get(meta[i], 4) != LMDB_MAGIC || cli_get(meta[i] + 4, 4) != 1 ||
            cli_get(meta[i] + 24, 4) != check->page_size) {
            page_fails(check, "a meta page is malformed");
            return NULL;
        }
    }
    unsigned newest = transaction[1] > transaction[0];
    if ((transaction[newest] & 1) != newest || transaction[newest] - transaction[!newest] > 1) {
        page_fails(check, "the meta pages do not follow each other");
        return NULL;
    }
    return meta[newest];
}

static void check_map(page_check *check, size_t len)
{
    const unsigned char *meta = newest_meta(check, len);
    if (!meta)
        return;
    check->pages = cli_get(meta + 120, 8) + 1;
    if (check->pages < 2 || check->pages > len / check->page_size) {
        page_fails(check, "the file is too short");
        return;
    }
    check->seen = calloc(1, (size_t)check->pages);
    if (!check->seen) {
        page_fails(check, "there is not enough memory to check it");
        return;
    }
    if (!check_tree(check, meta + 24, true, false) || !check_tree(check, meta + 72, false, true))
        return;
    for (uint64_t i = 2; i < check->pages; i++)
        if (!check->seen[i]) {
            page_fails(check, "a page is neither used nor free");
            return;
        }
}

const char *dedup_check_pages(int fd)
{
    struct stat facts;
    page_check check = {.problem = NULL};
    if (fstat(fd, &facts) != 0 || facts.st_size <= 0)
        return "the file is empty";
    void *map = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return "the file cannot be mapped";
    check.map = map;
    check_map(&check, (size_t)facts.st_size);
    munmap(map, (size_t)facts.st_size);
    free(check.seen);
    return check.problem;
}
