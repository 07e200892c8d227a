import { rows } from "@bridge/tooling/long";
import { chmodSync, chownSync, rmSync } from "node:fs";
import { join } from "node:path";
import { getuid } from "node:process";
import { describe, expect, test } from "vitest";
import { ask, eventually } from "./support/ask.ts";
import { INSIDE } from "./support/documents.ts";
import { Stage } from "./support/stage.ts";
import { until } from "./support/until.ts";
import { type Harm, NOBODY, NobodysFolder, PERMISSIONS, PLACES } from "./support/unusable-places.ts";

const KEPT: Readonly<Record<string, (path: string) => string>> = {
  "stores.outbox.options.path": (path) => `stores: {outbox: {type: file, options: {path: ${path}}}}\n`,
  "stores.dlq.options.path": (path) => `stores: {dlq: {type: file, options: {path: ${path}}}}\n`,
  "audit.file.path": (path) => `audit: {log: false, file: {path: ${path}}}\n`,
};
const FIELDS = Object.keys(KEPT);
const STORES = FIELDS.filter((field) => field.startsWith("stores."));

/** Of a file that is open and was deleted; what is beside it, it holds already. */
const SEEN_BY_AUDIT = PERMISSIONS.filter(({ name }) => !/closed|lock|mark/.test(name));

const cells = <Row>(fields: readonly string[], harms: readonly Row[]): readonly (readonly [string, Row])[] =>
  fields.flatMap((field) => harms.map((harm) => [field, harm] as const));

/** What is said of `path` in a text, up to the remedy's end. */
function saidOf(path: string, text: string, { words }: Harm): string | undefined {
  const lines = text.split("\n").map((line) => line.replaceAll(String.raw`\"`, '"'));
  return lines.find((line) => line.includes(path) && words.test(line))?.match(words)?.[0];
}

const HISTORY = "bridge.yaml.history.jsonl";

interface Health {
  readonly config_watch: { readonly last_error?: string };
  readonly stores: readonly { readonly state: string; readonly fault?: string }[];
}

describe.skipIf(getuid?.() !== 0).concurrent("a file that nobody may keep (needs root)", { timeout: 120_000 }, () => {
  // A stand-in for each harm, and each field.
  test.for(rows(cells(FIELDS, PLACES), (_, row) => row % FIELDS.length === Math.floor(row / PLACES.length)))(
    "-validate, a start and a reload refuse it in the same words: %s %j",
    async ([field, harm]) => {
      using folder = new NobodysFolder();
      const path = join(folder.own("data"), "kept.db");
      harm.begin(path);
      folder.write("bridge.yaml", INSIDE + KEPT[field]?.(path));
      await using checked = folder.run(["-validate"]);
      const code = await checked.ended;
      const words = saidOf(path, checked.stderr, harm);
      expect([code, words, checked.stderr]).toEqual([1, expect.any(String), expect.any(String)]);
      expect(checked.stderr).toContain(field);
      await using started = folder.run();
      const end = [await started.ended, saidOf(path, started.stderr, harm), started.stderr];
      expect(end).toEqual([1, words, expect.any(String)]);
      expect(started.stderr).not.toMatch(/goes on by itself|tried again|\bat .*:\d+:\d+/);
      if (!STORES.includes(field)) return;
      folder.write("bridge.yaml", INSIDE);
      await using bridge = folder.run();
      const url = `${await bridge.url("monitor")}/api/v1/monitor/deephealth`;
      await bridge.logged("bridge started");
      folder.write("bridge.yaml", INSIDE + KEPT[field]?.(path));
      const { body } = await eventually(
        () => ask(url),
        ({ body: told }) => (told as Health).config_watch.last_error !== undefined,
      );
      expect(saidOf(path, String((body as Health).config_watch.last_error), harm)).toBe(words);
    },
  );

  test("a history of another owner is named, and its remedy, while commits go on; it is kept again when it may", async () => {
    const folder = new NobodysFolder();
    chownSync(folder.path, NOBODY, NOBODY);
    await using stage = await Stage.run(INSIDE, {}, folder);
    chownSync(join(folder.path, "bridge.yaml"), NOBODY, NOBODY);
    const history = folder.write(HISTORY, "");
    chmodSync(history, 0o600);
    const why = expect.stringMatching(
      /history\.jsonl: it cannot be read \(EACCES\): let this process .*, or move/,
    ) as string;
    expect(await stage.commit({ bridge: { log_level: "warn" } })).toMatchObject({ status: 200, body: { version: 1 } });
    const told = await stage.bridge.logged("the history of the configuration cannot be kept");
    expect(told).toMatchObject({ level: "warn", error: why });
    expect(await stage.admin("GET", "/config/history")).toMatchObject({ status: 503, body: { error: why } });
    chownSync(history, NOBODY, NOBODY);
    expect(await stage.commit({ bridge: { log_level: "info" } })).toMatchObject({ status: 200 });
    expect(await stage.admin("GET", "/config/history")).toMatchObject({
      status: 200,
      body: { versions: [{ version: 2 }] },
    });
  });

  test.for(rows(SEEN_BY_AUDIT, ({ name }) => name === "a file of another owner" || name === "a read-only folder"))(
    "an audit file that was replaced refuses changes in the same words, and goes on when it may: %j",
    async (harm) => {
      const folder = new NobodysFolder();
      const path = join(folder.own("data"), "audit.jsonl");
      await using stage = await Stage.run(INSIDE + KEPT["audit.file.path"]?.(path), {}, folder);
      expect(await stage.admin("POST", "/routes/only/pause")).toMatchObject({ status: 200 });
      rmSync(path);
      harm.begin(path);
      expect(await stage.admin("POST", "/routes/only/resume")).toMatchObject({ status: 503 });
      // The log comes by another way than the answer.
      await until(
        "told in the log",
        () => saidOf(path, stage.bridge.stderr, harm) !== undefined,
        () => 0,
      );
      harm.end?.(path);
      const resumed = await eventually(
        () => stage.admin("POST", "/routes/only/resume"),
        ({ status }) => status === 200,
      );
      expect(resumed.status).toBe(200);
    },
  );

  test.for(rows(cells(STORES, PERMISSIONS), (_, row) => row % STORES.length === Math.floor(row / PERMISSIONS.length)))(
    "a bridge that runs says so in the same words, and goes on when it may: %s %j",
    async ([field, harm]) => {
      using folder = new NobodysFolder();
      const path = join(folder.own("data"), "kept.db");
      folder.write("bridge.yaml", INSIDE + KEPT[field]?.(path));
      await using bridge = folder.run();
      await bridge.logged("bridge started");
      const url = `${await bridge.url("monitor")}/api/v1/monitor/deephealth`;
      harm.begin(path);
      // So that the file has to be opened again.
      rmSync(`${path}-wal`);
      const faultOf = (body: unknown): string => (body as Health).stores[0]?.fault ?? "";
      await eventually(
        () => ask(url),
        ({ body }) => saidOf(path, faultOf(body), harm) !== undefined,
      );
      harm.end?.(path);
      const { body } = await eventually(
        () => ask(url),
        ({ body: told }) => (told as Health).stores[0]?.state === "up",
      );
      expect(faultOf(body)).toBe("");
    },
  );
});
