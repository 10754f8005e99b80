/*
 * A cache in front of a database that also knows which rows do not exist:  node row_cache.mjs PORT
 *
 * Look-ups of rows that do not exist, because of typing errors or because somebody tries all names,
 * miss an ordinary cache and reach the database each time. Here a filter holds the name of every
 * row. It never denies a row whose name was added; of unknown names it reports at most one in a
 * hundred as a row, which costs a query but gives no wrong answer. To keep it that way:
 *
 * - A name is added to the filter before its row is inserted into the database. A process that dies
 *   in between leaves an extra name, which costs a query now and then.
 * - Names of deleted rows stay in the filter. BF.DEL could run after somebody has inserted the row
 *   again, and sometimes removes another name with the same fingerprint. When many rows are gone,
 *   make a new filter.
 * - A filter is used only if it contains a mark, which is added last. A lost or incomplete filter
 *   would deny rows that exist; without the mark, the database is queried.
 */
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "redis";

const FILTER = "example:names", COMPLETE = "(complete)";

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

/* The database: a directory with a file for each row. Any other would do. */
const directory = await mkdtemp(join(tmpdir(), "rows-"));
const database = {
    names: () => readdir(directory),
    get: (name) => readFile(join(directory, name), "utf8").catch(() => null),
    set: (name, mail) => writeFile(join(directory, name), mail),
    del: (name) => rm(join(directory, name)),
};
let queries = 0;

/* Call this while nobody inserts rows. */
async function makeFilter() {
    const names = await database.names();
    await server.del(FILTER);
    await server.bf.reserve(FILTER, 0.01, 2 * names.length);
    for (let i = 0; i < names.length; i += 100)
        await server.bf.mAdd(FILTER, names.slice(i, i + 100));
    await server.bf.add(FILTER, COMPLETE);
}

/* The mail address of a user; null if there is no such user. */
async function lookUp(name) {
    const [cached, [mayExist, complete]] = await Promise.all([ // both in one round trip
        server.get(`example:row:${name}`),
        server.bf.mExists(FILTER, [name, COMPLETE]),
    ]);
    if (cached !== null) return cached;
    if (complete && !mayExist) return null;
    queries++;
    const mail = await database.get(name);
    if (mail !== null) await server.set(`example:row:${name}`, mail, { EX: 60 });
    return mail;
}

async function insert(name, mail) {
    await server.bf.add(FILTER, name);
    await database.set(name, mail);
}

async function remove(name) {
    await database.del(name);
    await server.del(`example:row:${name}`);
}

/* How many of them exist, and how many queries that took. */
async function found(names) {
    const before = queries;
    const rows = await Promise.all(names.map(lookUp));
    return [rows.filter((mail) => mail !== null).length, queries - before];
}

const list = (word, n) => Array.from({ length: n }, (_, i) => `${word}${i}`);
const users = list("user", 1000);
await server.del(["eve", ...users].map((name) => `example:row:${name}`)); // of an earlier run
await Promise.all(users.map((name) => database.set(name, `${name}@example.org`)));
await makeFilter();

const unknown = await found(list("nobody", 2000));
const first = await found(users), second = await found(users);
await insert("eve", "eve@example.org");
await remove("user7");
const inserted = await found(["eve"]), removed = await found(["user7"]);
await server.del(FILTER);
const lost = await found(["eve", "user8"]);
await rm(directory, { recursive: true });
await server.close();

console.log("2000 unknown names: %d found, %d queries", ...unknown);
console.log("1000 users: %d found, %d queries; again: %d found, %d queries", ...first, ...second);
console.log("one inserted: %d found; one deleted: %d found", inserted[0], removed[0]);
console.log("the filter is lost: 2 users, %d found", lost[0]);
/* At most 20 queries are expected; 42 is five standard deviations more. */
const right = unknown[0] === 0 && unknown[1] <= 42 && String([first, second]) === "1000,1000,1000,0"
    && inserted[0] === 1 && removed[0] === 0 && lost[0] === 2;
process.exitCode = right ? 0 : 1;
