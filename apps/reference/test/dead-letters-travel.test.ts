import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { env } from "node:process";
import { promisify } from "node:util";
import { deadLetterLines, travel } from "@bridge/tooling/dead-letter-lines";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { expect, test } from "vitest";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";
import { Target } from "./support/target.ts";

const ENTRIES = 300;
const MANUAL = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8");

function documentOf(store: string, target = "http://127.0.0.1:9"): string {
  return `${HTTP}
bridge: {id: travelling}
stores: {dlq: ${store}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0"}}]
senders: [{id: shop, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-shop, sender_id: shop}, {id: to-archive, sender_id: shop, address: archive}]
routes: [{id: orders, receiver_id: in, bindings: [to-shop, to-archive], policy: {max_replay_attempts: 1}}]
`;
}

const AS_IT_SHOULD = {
  imports: [
    { imported: ENTRIES, present: 0, failed: 0 },
    { imported: ENTRIES, present: 0, failed: 0 },
    { imported: 0, present: ENTRIES, failed: 0 },
  ],
  // With the last one, and its end.
  lines: ENTRIES + 2,
  isSame: true,
};

/** What imports were answered, how many lines the export had, and whether that after the purge is the same. */
async function travelled(stage: Stage) {
  const { imports, before, after } = await travel(await stage.bridge.url("admin"), ADMIN_KEY, deadLetterLines(ENTRIES));
  return { imports, lines: before.split("\n").length, isSame: after === before };
}

test("operators 4: export, purge, import: the same entries on a DLQ in memory", async () => {
  await using stage = await Stage.run(documentOf("{type: memory, options: {acknowledge_volatile: true}}"));
  expect(await travelled(stage)).toEqual(AS_IT_SHOULD);
});

test("operators 4: export, purge, import: the same entries on a DLQ on a file", async () => {
  const folder = new Folder();
  await using stage = await Stage.run(documentOf(`{type: file, options: {path: "${folder.path}/dlq.db"}}`), {}, folder);
  expect(await travelled(stage)).toEqual(AS_IT_SHOULD);
});

test.skipIf(noPostgres)("operators 4: export, purge, import: the same entries on a DLQ on PostgreSQL", async () => {
  await using tables = await testSchema();
  const { url, schema } = tables.connection;
  const document = documentOf(`{type: postgres, options: {url: "${url}", schema: ${schema}}}`);
  using folder = new Folder();
  await using maker = folder.run(["-create-tables", "-config", folder.write("tables.yaml", document)]);
  expect(await maker.ended).toBe(0);
  await using stage = await Stage.run(document);
  expect(await travelled(stage)).toEqual(AS_IT_SHOULD);
});

/** The first commands below a heading or a sentence of the manual. */
function commandsBelow(words: string): string {
  const [, commands = ""] = /```sh\n([^]*?)```/.exec(MANUAL.slice(MANUAL.indexOf(words))) ?? [];
  expect(commands).not.toBe("");
  return commands;
}

async function typed(stage: Stage, commands: string): Promise<string> {
  const admin = `${await stage.bridge.url("admin")}/api/v1/admin`;
  const own = { ...env, A: admin, K: `X-API-Key: ${ADMIN_KEY}` };
  return (await promisify(execFile)("sh", ["-ec", commands], { cwd: stage.folder.path, env: own })).stdout;
}

test("operators 11: the commands of the manual export, check, divide and import", async () => {
  const folder = new Folder();
  await using stage = await Stage.run(documentOf(`{type: file, options: {path: "${folder.path}/dlq.db"}}`), {}, folder);
  const admin = `${await stage.bridge.url("admin")}/api/v1/admin`;
  // Three times what an import takes at once.
  const large = { payload: (nth: number) => new Uint8Array(30_000).fill(nth) };
  for (let part = 0; part < 4; part++) {
    const lines = deadLetterLines(80, large)
      .split("\n")
      .slice(part * 20, part * 20 + 20);
    await fetch(`${admin}/dlq/import`, { method: "POST", headers: { "X-API-Key": ADMIN_KEY }, body: lines.join("\n") });
  }
  const commands = commandsBelow("### Dead letters that travel");
  const there = await typed(stage, commands);
  const { sha256, count } = JSON.parse(there.split("\n")[0] ?? "") as { sha256: string; count: number };
  expect(count).toBe(80);
  expect(there.split("\n")[1]).toMatch(new RegExp(`^${sha256} `));
  const answers = (text: string) =>
    [...text.matchAll(/\{"imported":(\d+),"present":(\d+),"failed":0\}/g)].map(
      ([, imported, present]) => [Number(imported), Number(present)] as const,
    );
  const sum = (text: string) => answers(text).reduce(([a, b], [x, y]) => [a + x, b + y], [0, 0] as const);
  expect(answers(there).length).toBeGreaterThan(2);
  expect(sum(there)).toEqual([0, 80]);
  await stage.admin("POST", "/dlq/purge", { confirm_purge_all: true });
  // The rest of them, since there is nothing to export any more.
  expect(sum(await typed(stage, commands.slice(commands.indexOf("for part"))))).toEqual([80, 0]);
});

test("operators 11: the commands of the manual redrive one entry, as it is and edited", async () => {
  await using target = await Target.open("accepts");
  const folder = new Folder();
  const store = `{type: file, options: {path: "${folder.path}/dlq.db"}}`;
  await using stage = await Stage.run(documentOf(store, target.url), {}, folder);
  const url = `${await stage.bridge.url("admin")}/api/v1/admin/dlq/import`;
  const lines = deadLetterLines(3);
  await fetch(url, { method: "POST", headers: { "X-API-Key": ADMIN_KEY }, body: lines });
  const ids = lines
    .split("\n")
    .slice(0, 3)
    .map((line) => (JSON.parse(line) as { entry: { id: string } }).entry.id);
  const commands = commandsBelow("**Repair one by hand.**").replaceAll("/ID/", () => `/${ids.shift() ?? ""}/`);
  const answers = await typed(stage, commands);
  expect(answers.match(/"status":"redriven"/g)).toHaveLength(3);
  expect(target.accepted).toHaveLength(3);
  expect(target.accepted[1]).toBe('{"amount":12}');
  expect((await stage.admin("GET", "/dlq")).body).toMatchObject({ count: 0 });
});
