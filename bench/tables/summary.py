"""The table of the README: one row for each job and application, our default beside the best peer.

The best peer is the fastest of those that do the same; doc/benchmarks.md has all of them.
"""

from table import Table, count, number, share

COLUMNS = ["job", "Bloomery", "bytes", "ns", "error promised", "observed", "best peer", "its bytes", "its ns"]


def one(rows, **wanted):
    """The row with these values; None if there is none."""
    for row in rows or ():
        if all(row.get(key) == value for key, value in wanted.items()):
            return row
    return None


def cells(job, engine, ours, promised, observed, peers):
    """`ours` and each of `peers`, by name, are bytes and ns; a peer is None if it is not there."""
    there = {name: pair for name, pair in peers.items() if pair}
    if there:
        peer = min(there, key=lambda name: there[name][1])
        theirs = [number(value) for value in there[peer]]
    else:
        peer, theirs = f"{next(iter(peers))}: not measured", ["–", "–"]
    mine = [number(value) for value in ours] if ours else ["–", "–"]
    return [job, engine, *mine, promised, observed, peer, *theirs]


def filter_row(results):
    report = results["filters"]
    ours, peer = (one(report["filters"], name=name) for name in ("blocked_batch", "libbloom"))
    return cells(f"**filter**, {count(report['items'])} keys", "`bloom`",
                 (ours["bits_per_item"] / 8, ours["ns_hit"]), share(report["error"]),
                 share(ours["false_positive"]),
                 {"libbloom": peer and (peer["bits_per_item"] / 8, peer["ns_hit"])})


def map_row(results):
    ours, exact = results["maps"]["maps"][0], results["maplet"]["exact"]
    memcached, server = results["memcached"], results["server"]
    remote = memcached and one(memcached["stores"], name="memcached")
    strings = server and one(server["requests"], job="map", ours=False)
    return cells(f"**map**, {count(ours['items'])} keys, {ours['values']} values", "`compact`",
                 (ours["bytes_per_key_total"], ours["ns_hit_batch"]), share(ours["error"]),
                 share(max(ours["false_positive"], ours["incorrect"])),
                 {"exact hash table": (exact["bytes_per_entry"], exact["ns_hit_batch"]),
                  "Redis strings": strings and (strings["bytes_per_item"], strings["ns_hit"]),
                  "Memcached": remote and (remote["bytes_per_pair"], remote["ns_hit_batch"])})


def window_row(results):
    rows = results["windows"]["windows"]
    ours = rows[0]
    peers = {title: one(rows, engine=engine) for title, engine in
             (("exact window", "exact"), ("ring of Bloom filters", "ring"))}
    return cells(f"**window** of {count(ours['elements'])} elements", "`compact`",
                 (ours["bits_per_element"] / 8, ours["ns_hit_batch"]), share(ours["error"]),
                 share(ours["false_positive"]),
                 {title: row and (row["bits_per_element"] / 8, row["ns_hit"])
                  for title, row in peers.items()})


def counter_row(results):
    server = results["server"]
    job, engine = "**counter**, an operation", "`COUNTER.INCRBY`"
    if not server:
        return cells(job, engine, None, "–", "–", {"Redis": None})
    rows = server["requests"]
    ours, peer = (one(rows, job="counter", name=name)
                  for name in ("COUNTER.INCRBY", "SET NX EX, then INCRBY"))
    return cells(job, engine, (ours["bytes_per_item"], ours["ns_add"]), share(ours["error"]),
                 share(ours["observed"]),
                 {"Redis `SET NX EX`, `INCRBY`": (peer["bytes_per_item"], peer["ns_add"])})


def index_row(results):
    report = results["indexes"]
    ours, exact = (one(report["indexes"], engine=engine) for engine in ("compact", "exact"))
    return cells(f"**index**, {report['units']} units of {count(report['unit_capacity'])} elements",
                 "`compact`", (ours["bits_per_element"] / 8, ours["ns_hit_batch"]),
                 share(report["error"]), share(ours["false_positive"]),
                 {"exact hash table": (exact["bits_per_element"] / 8, exact["ns_hit_batch"])})


def flows_row(results):
    programs = results["flows"]["programs"]
    ours = programs["bloomery"]

    def figures(row):
        return row and (row["bytes_per_flow"], 1e9 * row["processor_seconds"] / programs["packets"])

    return cells(f"**flows**, {count(programs['packets'])} packets", "`bloomery flows`",
                 figures(ours), share(ours["error"]), share(ours["false_positive"]),
                 {"softflowd": figures(programs["softflowd"])})


def dedup_row(results):
    report = results["dedup"]
    job, engine = "**dedup**, a chunk", "`bloomery dedup`"
    if not report:
        return cells(job, engine, None, "0", "–", {"borg": None})

    def figures(name):
        row = one(report["stores"], name=name)
        return row["index_bytes_per_chunk"], row["ns_per_chunk"]

    return cells(job, engine, figures("bloomery, compact"), "0", "0",
                 {"borg": figures("borgbackup")})


def summary(results):
    return Table("summary", "Bloomery beside the best peer", COLUMNS, [
        row(results) for row in (map_row, window_row, counter_row, index_row, filter_row, flows_row,
                                 dedup_row)],
        "Bytes per key and ns per look-up of a present key, in batches if there are batches. Counter: "
        "bytes per remembered operation, and processor time of the server for a new one. Flows: "
        "resident bytes per flow, ns per packet. Dedup: bytes of the index in memory and ns, per "
        "chunk; every archive was restored and compared. The best peer is the fastest one.",
        left=(0, 1, 6))
