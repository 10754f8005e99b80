/*
 * Every method that npm's redis has for filters, by RESP 2 or 3:  node bf_methods.mjs PORT RESP
 *
 * Which methods there are is asked of the package: one that is not called here is an error. Prints
 * them.
 */
import assert from "node:assert/strict";
import { RESP_TYPES, createClient } from "redis";

const [port, RESP] = process.argv.slice(2).map(Number);
const socket = { host: "127.0.0.1", port, reconnectStrategy: false };
const client = createClient({ RESP, socket });
client.on("error", (error) => console.error(error.message));
await client.connect();

/* The commands behind what was called; each method has a second name in capitals. */
const called = new Set();
function recording(bf) {
    return new Proxy(bf, {
        get(target, name) {
            called.add(String(name).toUpperCase());
            return target[name].bind(target);
        },
    });
}
function methodsOf(bf) {
    const names = new Set();
    for (let at = bf; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
        for (const name of Object.getOwnPropertyNames(at))
            if (!name.startsWith("_") && name !== "constructor" && typeof at[name] === "function")
                names.add(name.toUpperCase());
    return names;
}
const bf = recording(client.bf);
/* Chunks are bytes; as a string they would not come back as they were. */
const bytes = recording(client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).bf);

assert.equal(await bf.reserve("a", 0.01, 1000), "OK");
assert.equal(await bf.reserve("b", 0.001, 10, { EXPANSION: 4 }), "OK");
assert.equal(await bf.reserve("c", 1e-6, 2, { NONSCALING: true }), "OK");
await assert.rejects(bf.reserve("a", 0.01, 1000), /item exists/);

assert.equal(await bf.add("a", "x"), true);
assert.equal(await bf.add("a", "x"), false);
assert.deepEqual(await bf.mAdd("a", ["x", "y", "z"]), [false, true, true]);
assert.equal(await bf.exists("a", "x"), true);
assert.equal(await bf.exists("a", "w"), false);
assert.equal(await bf.exists("missing", "w"), false);
assert.deepEqual(await bf.mExists("a", ["z", "w"]), [true, false]);
assert.equal(await bf.card("a"), 3);
assert.equal(await bf.card("missing"), 0);

assert.deepEqual(await bf.insert("d", ["x", "y"], { CAPACITY: 50, ERROR: 0.001, EXPANSION: 3 }),
    [true, true]);
assert.deepEqual(await bf.insert("d", ["y", "z"], { NOCREATE: true }), [false, true]);
assert.deepEqual(await bf.insert("e", "x", { CAPACITY: 5, NONSCALING: true }), [true]);
await assert.rejects(bf.insert("missing", "x", { NOCREATE: true }), /not found/);
await bf.mAdd("c", ["x", "y"]);
await assert.rejects(bf.add("c", "z"), /non scaling filter is full/);

const { Size, ...info } = await bf.info("d");
assert.ok(Size > 0);
assert.deepEqual(info, {
    "Capacity": 50,
    "Number of filters": 1,
    "Number of items inserted": 3,
    "Expansion rate": 3,
});
assert.equal((await bf.info("c"))["Expansion rate"], null);
await assert.rejects(bf.info("missing"), /not found/);

/* A filter goes elsewhere in chunks, and knows there what it knew. */
const items = Array.from({ length: 20000 }, (_, i) => `item${i}`);
await bf.mAdd("b", items);
let chunks = 0;
for (let iterator = 0; ; chunks++) {
    const dumped = await bytes.scanDump("b", iterator);
    iterator = dumped.iterator;
    if (iterator === 0) break;
    assert.equal(String(await bytes.loadChunk("copy", iterator, dumped.chunk)), "OK");
}
assert.ok(chunks > 0);
assert.equal(await bf.card("copy"), await bf.card("b"));
assert.ok((await bf.mExists("copy", items)).every((there) => there === true));
assert.deepEqual(await bf.info("copy"), await bf.info("b"));

/* The same methods inside a transaction. */
assert.deepEqual(await client.multi().bf.add("m", "x").bf.mExists("m", ["x", "w"]).exec(),
    [true, [true, false]]);

assert.deepEqual([...called].sort(), [...methodsOf(client.bf)].sort());
console.log([...called].sort().join(" "));
await client.close();
