import { search } from "../../src/store/search/search.ts";
import { document, Records } from "./search-fixture.ts";

/** Runs the real search in a process of its own, built to CommonJS by the tests. */
const [task = "", root = "", dir = "", detail = ""] = process.argv.slice(2);
const records = new Records(root);
const find = (words: string, limit = 500) =>
  search({ dir, source: records, query: { words, limit }, now: Date.now(), oneShot: true });

const tasks: Record<string, () => Promise<void>> = {
  /** Searches until killed. */
  async loop() {
    console.log("ready");
    for (;;) await find(detail);
  },

  /** Builds an index, then refreshes it, and kills itself at the given call of its source; 0 = never. */
  async crash() {
    let calls = 0;
    const step = () => {
      if (++calls === Number(detail)) process.kill(process.pid, "SIGKILL");
    };
    for (const name of ["changedSince", "cursor", "scan", "read"] as const) {
      const original = records[name].bind(records) as (argument: string) => unknown;
      const counted = (argument: string) => {
        step();
        return original(argument);
      };
      Object.assign(records, { [name]: counted });
    }
    await find("alpha");
    records.put("0.md", document("T0", "alpha changed"));
    await find("alpha");
    console.log(String(calls));
  },

  /** Writes versions of its own record and must find each of them at once. */
  async write() {
    for (let version = 1; version <= 25; version++) {
      records.put(
        `w${detail}.md`,
        document(`W${detail}`, `alpha version${version}`, `version${version} `.repeat(50)),
      );
      const { hits } = await find(`W${detail} version${version}`);
      if (hits[0]?.title !== `alpha version${version}`) throw new Error(`Version ${version} is not found.`);
    }
  },

  /** Every answer must be complete, and every record in it of one piece. */
  async read() {
    const expected = Number(detail);
    for (let round = 0; round < 40; round++) {
      const { hits, total } = await find("alpha");
      if (total !== expected || hits.length !== expected)
        throw new Error(`${total} records, ${hits.length} hits.`);
      for (const hit of hits) {
        const version = /version\d+/.exec(hit.title)?.[0];
        if (version && !hit.snippet.startsWith(`${version} `))
          throw new Error(`${hit.title} has ${hit.snippet}`);
      }
    }
  },

  /** Publishes one generation after another. */
  async publish() {
    for (let version = 1; version <= 40; version++) {
      const text = `version${version} `.repeat(1 + (version % 9));
      records.put("w.md", document("W", `alpha version${version}`, text));
      await find("alpha");
      await new Promise((wait) => setTimeout(wait, 20));
    }
  },

  /** Keeps the index open until the last version is there: no answer may be older than its question. */
  async stay() {
    const expected = Number(detail);
    const query = { words: "alpha", limit: 500 };
    const versionOf = (title = "") => Number(/version(\d+)/.exec(title)?.[1]);
    let answers = 0;
    for (let version = 0; version < 40; answers++) {
      const before = versionOf(records.read("w.md")?.title);
      const { hits, total } = await search({ dir, source: records, query, now: Date.now(), oneShot: false });
      const written = hits.find(({ id }) => id === "W");
      version = versionOf(written?.title);
      if (total !== expected || hits.length !== expected || !(version >= before))
        throw new Error(`${total} records, ${hits.length} hits, version ${version} after ${before}.`);
      if (!written?.snippet.includes(`version${version}`)) throw new Error(`Torn: ${written?.snippet}`);
      await new Promise(setImmediate);
    }
    console.log(String(answers));
  },

  async once() {
    console.log(JSON.stringify(await find(detail)));
  },
};

tasks[task]?.().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
