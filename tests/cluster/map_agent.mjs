// Does what the lines of its input say, for tests: each line is a JSON list [method, arguments …] of
// clients/node/bloomery_map.mjs; each line of the output is the answer, or {"thrown": name, …}.
// Byte strings are written as strings of Latin-1 characters.
import { createInterface } from "node:readline";
import * as library from "./bloomery_map.mjs";

let map;
const maps = new Map(); // by URL; "use" opens a map only once
const out = (value) => {
  if (value === library.UNSURE) return { unsure: true };
  if (Buffer.isBuffer(value)) return value.toString("latin1");
  if (Array.isArray(value)) return value.map(out);
  return value;
};
const bytes = (value) => (typeof value === "string" ? Buffer.from(value, "latin1") : value);

async function act(method, ...given) {
  if (method === "waitFor") return void (map.nodes.waitFor = given[0]);
  if (method === "age") return void (map.readAt -= 61000); // a minute passes
  if (method === "names") return library.names(...given);
  if (method === "use" && maps.has(given[0])) return void (map = maps.get(given[0]));
  if (/^(create|open|use)$/.test(method)) {
    map = await (method === "create" ? library.create : library.open)(...given);
    maps.get(given[0])?.close();
    maps.set(given[0], map);
    return map.record;
  }
  if (/^(get|delete)Many$/.test(method)) given[0] = given[0].map(bytes);
  if (/^(set|update)Many$/.test(method)) given[0] = given[0].map((pair) => pair.map(bytes));
  return map[method](...given);
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = out(await act(...JSON.parse(line))) ?? null;
  } catch (error) {
    answer = { thrown: error.constructor.name, message: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
for (const each of maps.values()) each.close();
