"""A cache in front of a database that also knows which rows do not exist.

    row_cache.py PORT

Look-ups of rows that do not exist, because of typing errors or because somebody tries all names,
miss an ordinary cache and reach the database each time. Here a filter holds the name of every row.
It never denies a row whose name was added; of unknown names it reports at most one in a hundred as
a row, which costs a query but gives no wrong answer. To keep it that way:

- A name is added to the filter before its row is inserted into the database. A process that dies in
  between leaves an extra name, which costs a query now and then.
- Names of deleted rows stay in the filter. BF.DEL could run after somebody has inserted the row
  again, and sometimes removes another name with the same fingerprint. When many rows are gone, make
  a new filter.
- A filter is used only if it contains a mark, which is added last. A lost or incomplete filter
  would deny rows that exist; without the mark, the database is queried.
"""

import sqlite3
import sys

from redis import Redis

FILTER, COMPLETE = "example:names", "(complete)"

server = Redis("127.0.0.1", int(sys.argv[1]), decode_responses=True)
database = sqlite3.connect(":memory:", isolation_level=None)
queries = 0


def make_filter():
    """Call this while nobody inserts rows."""
    names = [name for name, in database.execute("SELECT name FROM users")]
    server.delete(FILTER)
    server.bf().create(FILTER, 0.01, 2 * len(names))
    for i in range(0, len(names), 100):
        server.bf().madd(FILTER, *names[i:i + 100])
    server.bf().add(FILTER, COMPLETE)


def look_up(name):
    """The mail address of a user; None when there is no such user."""
    global queries
    pipeline = server.pipeline(transaction=False)  # both in one round trip
    pipeline.get(f"example:row:{name}")
    pipeline.execute_command("BF.MEXISTS", FILTER, name, COMPLETE)
    cached, (may_exist, complete) = pipeline.execute()
    if cached is not None:
        return cached
    if complete and not may_exist:
        return None
    queries += 1
    row = database.execute("SELECT mail FROM users WHERE name = ?", (name,)).fetchone()
    if row:
        server.set(f"example:row:{name}", row[0], ex=60)
    return row[0] if row else None


def insert(name, mail):
    server.bf().add(FILTER, name)
    database.execute("INSERT INTO users VALUES (?, ?)", (name, mail))


def delete(name):
    database.execute("DELETE FROM users WHERE name = ?", (name,))
    server.delete(f"example:row:{name}")


def found(names):
    """How many of them exist, and how many queries that took."""
    before = queries
    there = sum(look_up(name) is not None for name in names)
    return there, queries - before


database.execute("CREATE TABLE users (name TEXT PRIMARY KEY, mail TEXT)")
users = [f"user{i}" for i in range(1000)]
server.delete(*(f"example:row:{name}" for name in ["eve", *users]))  # of an earlier run
database.executemany("INSERT INTO users VALUES (?, ?)", ((u, f"{u}@example.org") for u in users))
make_filter()

unknown = found(f"nobody{i}" for i in range(2000))
first, second = found(users), found(users)
insert("eve", "eve@example.org")
delete("user7")
changed = found(["eve"]), found(["user7"])
server.delete(FILTER)
lost = found(["eve", "user8"])
print("2000 unknown names: %d found, %d queries" % unknown)
print("1000 users: %d found, %d queries; again: %d found, %d queries" % (first + second))
print("one inserted: %d found; one deleted: %d found" % (changed[0][0], changed[1][0]))
print("the filter is lost: 2 users, %d found" % lost[0])
# At most 20 queries are expected; 42 is five standard deviations more.
sys.exit(not (unknown[0] == 0 and unknown[1] <= 42 and first == (1000, 1000) and
              second == (1000, 0) and changed == ((1, 1), (0, 1)) and lost[0] == 2))
