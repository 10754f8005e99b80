/*
 * A crawler that fetches each page at most once a day:  node crawl.mjs PORT
 *
 * Any number of crawlers share one window on the server. WINDOW.INSERT checks and marks in one step,
 * so of all crawlers that find a link at the same moment only one gets to fetch it. At an error of
 * 1e-6 one new page in a million is taken for a known one, and missed until it is found again
 * another day; no page is fetched twice within the window. A page takes 5 bytes, however long its
 * address.
 */
import { createClient } from "redis";

const SITE = {
    "/": ["/news", "/shop", "/about"],
    "/news": ["/", "/news/1", "/news/2"],
    "/news/1": ["/news", "/news/2"],
    "/news/2": ["/news", "/news/1", "/shop"],
    "/shop": ["/", "/shop/tea", "/shop/pots"],
    "/shop/tea": ["/shop", "/shop/pots"],
    "/shop/pots": ["/shop", "/shop/tea"],
    "/about": ["/"],
};
const HOUR = 3_600_000; // ms
const START = 1_800_000_000_000;

const server = createClient({
    socket: {
        host: "127.0.0.1",
        port: Number(process.argv[2]),
        /* By default it would retry for ever. */
        reconnectStrategy: (tries) => tries < 20 ? 50 : new Error("there is no server"),
    },
});
server.on("error", () => {}); // errors are thrown where a command is awaited
await server.connect();
/* Commands that the client has no method for are sent as strings. */
const command = (...words) => server.sendCommand(words.map(String));

const troubles = new Set(["/shop"]);

/* Stands for a request to the site; one page fails at the first try. */
async function fetchPage(page) {
    if (troubles.delete(page)) throw new Error(`${page} timed out`);
    return SITE[page];
}

/* Crawls the site at that hour; returns how many pages were fetched. */
async function crawl(hour) {
    /* Passes times explicitly, so that the example need not run for two days. Without EVENTTIME below
     * it is the server's clock, and WINDOW.ADD is enough. */
    const now = START + hour * HOUR;
    await command("WINDOW.ADVANCE", "example:seen", "AT", now);
    const queue = ["/"];
    let fetched = 0, known = 0;
    while (queue.length > 0) {
        const page = queue.shift();
        const [isNew] = await command("WINDOW.INSERT", "example:seen", "AT", now, "ITEMS", page);
        if (!isNew) {
            known++;
            continue;
        }
        try {
            queue.push(...await fetchPage(page));
            fetched++;
        } catch {
            /* It was marked but not fetched: remove the mark and try again later. */
            await command("WINDOW.DEL", "example:seen", page);
            queue.push(page);
            console.log(`  ${page} failed, to be tried again`);
        }
    }
    console.log(`hour ${hour}: ${fetched} pages fetched, ${known} links to known ones`);
    return fetched;
}

await server.del("example:seen");
await command("WINDOW.CREATE", "example:seen", "WINDOW", "24h", "ERROR", "1e-6",
    "EVENTTIME", "SKEW", "1min");
const fetched = [await crawl(0), await crawl(6), await crawl(48)];
await server.close();
const pages = Object.keys(SITE).length;
process.exitCode = String(fetched) === String([pages, 0, pages]) ? 0 : 1;
