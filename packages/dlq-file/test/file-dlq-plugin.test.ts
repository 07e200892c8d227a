import { existsSync } from "node:fs";
import { join } from "node:path";
import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import * as v from "valibot";
import { expect, test } from "vitest";
import { fileDlqPlugin } from "../src/file-dlq-plugin.ts";
import { deadLetter } from "./support/dead-letter.ts";
import { scratchFolder } from "./support/scratch-dlq.ts";

const { signal } = new AbortController();
const seams = { id: "dlq", clock: systemClock, random: systemRandom(), logger: silentLogger };

test("it needs a path, and takes a size and a retention", () => {
  const accepts = (options: object): boolean => v.is(fileDlqPlugin.options, options);
  expect(accepts({ path: "dlq.db" })).toBe(true);
  expect(accepts({ path: "dlq.db", max_bytes: 1_048_576, retention: "720h" })).toBe(true);
  expect(accepts({ path: "dlq.db", max_bytes: 1_048_576, retention: "3651d" })).toBe(false);
  for (const wrong of [{}, { path: "" }, { path: 1 }, { path: "d", max_bytes: 1_000 }, { path: "d", retention: 60 }]) {
    expect(accepts(wrong)).toBe(false);
  }
  expect(accepts({ path: "dlq.db", max_entries: 1 })).toBe(false);
});

test("spec 1.6: its reach is one instance", () => {
  expect(fileDlqPlugin.type).toBe("file");
  expect(fileDlqPlugin.reach).toBe("instance");
});

test("nothing is opened before it is asked for, and nothing when it is too late", async () => {
  using scratch = scratchFolder();
  const path = join(scratch.folder, "data", "dlq.db");
  const open = fileDlqPlugin.create(v.parse(fileDlqPlugin.options, { path }), seams);
  const reason = new Error("too late");
  await expect(open(AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(existsSync(join(path, ".."))).toBe(false);
  await using store = await open(signal);
  await store.put(deadLetter("a"), signal);
  expect(await store.count(10, signal)).toBe(1);
});
