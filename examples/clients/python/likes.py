"""Likes that count once, and comments that appear once, however often they are sent.

    likes.py PORT

A click is sent until it is answered. If an answer is lost, the sender does not know whether the
click was counted: if it sends again, INCR may count it twice; if not, the click may be lost.
COUNTER.INCRBY takes an id with each click and counts each id once, so sending again is safe. ONCE
does the same for any other write command.
"""

import sys
import uuid

from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError, TimeoutError
from redis.retry import Retry

port = int(sys.argv[1])
server = Redis("127.0.0.1", port, decode_responses=True)
# redis-py sends a command again by itself if it is configured to. That is right only for commands
# that may arrive twice, such as those two below.
retrying = Redis("127.0.0.1", port, decode_responses=True, socket_timeout=0.5,
                 retry=Retry(ExponentialBackoff(cap=1, base=0.01), 60),
                 retry_on_error=[ConnectionError, TimeoutError])


def like(who, post):
    """Counts a like."""
    # One id per click, chosen before the first try and used for all tries.
    click = uuid.uuid4().hex
    ((likes, counted),) = retrying.execute_command("COUNTER.INCRBY", "example:likes", post, 1,
                                                   click)
    print(f"{who} likes {post}: {likes},", "counted" if counted else "an earlier try was counted")


def comment(who, post, text):
    """Appends to the comments of a post."""
    # 1 and the reply of RPUSH, or only 0: replies are not stored.
    applied, *_ = retrying.execute_command("ONCE", "example:once", uuid.uuid4().hex,
                                           "RPUSH", "example:comments", f"{who}: {text}")
    print(f"{who} comments on {post},", "stored" if applied else "an earlier try was stored")


def lose_the_next_answer():
    """Simulates a network fault: the server runs the command, but its answer is lost."""
    connection = retrying.connection_pool.get_connection("CLIENT")
    connection.send_command("CLIENT", "REPLY", "SKIP")
    retrying.connection_pool.release(connection)


server.delete("example:likes", "example:once", "example:comments")
# Ids are remembered for ten minutes, longer than any client retries.
server.execute_command("COUNTER.CREATE", "example:likes", "WINDOW", "10m")
server.execute_command("ONCE.CREATE", "example:once", "WINDOW", "10m")
like("ann", "post:7")
lose_the_next_answer()
like("ben", "post:7")
like("cleo", "post:7")
lose_the_next_answer()
comment("cleo", "post:7", "the best yet")

likes = int(server.execute_command("COUNTER.GET", "example:likes", "post:7")[0])
info = server.execute_command("COUNTER.INFO", "example:likes")
info = dict(zip(info[::2], info[1::2]))
comments = server.llen("example:comments")
print(f"3 clicks, {info['applied'] + info['repeats']} requests, {likes} likes; {comments} comment")
sys.exit((likes, comments) != (3, 1))
