/** Writes one version after another until it is killed: `config-writer.ts FILE`. Each line is a version that is done. @module */
import { writeSync } from "node:fs";
import { openConfigFile } from "../../src/index.ts";

const [path = ""] = process.argv.slice(2);
const store = openConfigFile(path);
const { signal } = new AbortController();
for (;;) {
  const stored = await store.load(signal);
  if (stored === undefined) throw new Error("the file is gone");
  const next = { ...stored.document, text: `${stored.version + 1} `.repeat(20_000) };
  const written = await store.write(next, stored, signal);
  if (written !== undefined) writeSync(1, `${written.version}\n`);
}
