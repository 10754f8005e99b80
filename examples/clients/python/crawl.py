"""A crawler that fetches each page at most once a day.

    crawl.py PORT

Any number of crawlers share one window on the server. WINDOW.INSERT checks and marks in one step, so
of all crawlers that find a link at the same moment only one gets to fetch it. At an error of 1e-6
one new page in a million is taken for a known one, and missed until it is found again another day;
no page is fetched twice within the window. A page takes 5 bytes, however long its address.
"""

import collections
import sys

from redis import Redis

SITE = {
    "/": ["/news", "/shop", "/about"],
    "/news": ["/", "/news/1", "/news/2"],
    "/news/1": ["/news", "/news/2"],
    "/news/2": ["/news", "/news/1", "/shop"],
    "/shop": ["/", "/shop/tea", "/shop/pots"],
    "/shop/tea": ["/shop", "/shop/pots"],
    "/shop/pots": ["/shop", "/shop/tea"],
    "/about": ["/"],
}
HOUR = 3_600_000  # ms
START = 1_800_000_000_000

server = Redis("127.0.0.1", int(sys.argv[1]), decode_responses=True)
troubles = {"/shop"}


def fetch(page):
    """Stands for a request to the site; one page fails at the first try."""
    if page in troubles:
        troubles.remove(page)
        raise TimeoutError(page)
    return SITE[page]


def crawl(hour):
    """Crawls the site at that hour; returns how many pages were fetched."""
    # Passes times explicitly, so that the example need not run for two days. Without EVENTTIME
    # below it is the server's clock, and WINDOW.ADD is enough.
    now = START + hour * HOUR
    server.execute_command("WINDOW.ADVANCE", "example:seen", "AT", now)
    queue, fetched, known = collections.deque(["/"]), 0, 0
    while queue:
        page = queue.popleft()
        (new,) = server.execute_command("WINDOW.INSERT", "example:seen", "AT", now, "ITEMS", page)
        if not new:
            known += 1
            continue
        try:
            queue.extend(fetch(page))
            fetched += 1
        except TimeoutError:
            # It was marked but not fetched: remove the mark and try again later.
            server.execute_command("WINDOW.DEL", "example:seen", page)
            queue.append(page)
            print(f"  {page} failed, to be tried again")
    print(f"hour {hour}: {fetched} pages fetched, {known} links to known ones")
    return fetched


server.delete("example:seen")
server.execute_command("WINDOW.CREATE", "example:seen", "WINDOW", "24h", "ERROR", "1e-6",
                       "EVENTTIME", "SKEW", "1min")
fetched = [crawl(0), crawl(6), crawl(48)]
sys.exit(fetched != [len(SITE), 0, len(SITE)])
