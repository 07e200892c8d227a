import { existsSync } from "node:fs";
import { join } from "node:path";
import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import * as v from "valibot";
import { expect, test } from "vitest";
import { fileOutboxPlugin } from "../../src/outbox/file-outbox-plugin.ts";
import { outboxRecord } from "./support/records.ts";
import { scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const seams = { id: "outbox", clock: systemClock, random: systemRandom(), logger: silentLogger };

test("it needs a path; the rest has defaults", () => {
  expect(v.parse(fileOutboxPlugin.options, { path: "outbox.db" })).toEqual({
    path: "outbox.db",
    retention: 3_600_000,
    on_corrupt: "refuse",
  });
  const all = { path: "outbox.db", retention: "10m", max_bytes: 1_048_576, on_corrupt: "quarantine" };
  expect(v.is(fileOutboxPlugin.options, all)).toBe(true);
  for (const wrong of [
    {},
    { path: "" },
    { path: "o", retention: 60 },
    { path: "o", max_bytes: 10 },
    { path: "o", on_corrupt: "delete" },
    { path: "o", acknowledge_volatile: true },
  ]) {
    expect(v.is(fileOutboxPlugin.options, wrong)).toBe(false);
  }
});

test("its reach is one instance", () => {
  expect(fileOutboxPlugin.type).toBe("file");
  expect(fileOutboxPlugin.reach).toBe("instance");
});

test("nothing is opened before it is asked for, and nothing when it is too late", async () => {
  using scratch = scratchFolder();
  const path = join(scratch.folder, "data", "outbox.db");
  const open = fileOutboxPlugin.create(v.parse(fileOutboxPlugin.options, { path }), seams);
  const reason = new Error("too late");
  await expect(open(AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(existsSync(join(path, ".."))).toBe(false);
  await using store = await open(signal);
  expect(await store.persist([outboxRecord("a")], signal)).toEqual([{ kind: "persisted" }]);
});
