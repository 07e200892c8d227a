import { readFileSync } from "node:fs";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, eventually, probe } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";
import { refusedStart } from "./support/refused-start.ts";
import { Target } from "./support/target.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

/** Its admin server, once there is a runtime. */
async function running(bridge: Binary): Promise<string> {
  const monitor = await bridge.url("monitor");
  await eventually(
    () => probe(monitor, "ready?level=running"),
    ({ status }) => status === 200,
  );
  return `${await bridge.url("admin")}/api/v1/admin`;
}

async function ran(args: readonly string[]) {
  await using bridge = folder.run(args);
  return { code: await bridge.ended, lines: bridge.stdout.split("\n").slice(0, -1), stderr: bridge.stderr };
}

/** What a start says that a store refuses. */
async function refused(): Promise<string> {
  await using bridge = folder.run(["-config", "postgres.yaml"]);
  await refusedStart(bridge);
  return bridge.stderr;
}

describe("contract 7: -create-tables", () => {
  test("goes with no other flag that is done with once", async () => {
    for (const other of [["-validate"], ["-try", "bridge.yaml", "-route", "r"]]) {
      const { code, stderr } = await ran(["-create-tables", ...other]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^bridge: -.+ and -.+ do not go together\n\nusage: bridge/);
    }
  });

  test("0: a configuration that names no stores with tables", async () => {
    folder.write("files.yaml", "bridge: {id: test}\nstores: {dlq: {type: file, options: {path: dlq.db}}}\n");
    expect(await ran(["-create-tables", "-config", "files.yaml"])).toEqual({
      code: 0,
      lines: ["the configuration names no stores with tables"],
      stderr: "",
    });
  });

  test("1: no file, or one that is not valid", async () => {
    expect(await ran(["-create-tables", "-config", "none.yaml"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there is no such file") as string,
    });
    const options = '{url: "postgresql://me:canary@host/db", user: me}';
    folder.write("wrong.yaml", `bridge: {id: test}\nstores: {lease: {type: postgres, options: ${options}}}\n`);
    const wrong = await ran(["-create-tables", "-config", "wrong.yaml"]);
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.stderr).toMatch(/wrong\.yaml:2:\d+ .*user: the url says that already/);
    expect(wrong.stderr).not.toContain("canary");
  });

  test("1: a server that cannot be reached, and its password is not told", async () => {
    const options = '{url: "postgresql://me:canary@127.0.0.1:5432/test?sslmode=require"}';
    folder.write("away.yaml", `bridge: {id: test}\nstores: {lease: {type: postgres, options: ${options}}}\n`);
    const away = await ran(["-create-tables", "-config", "away.yaml"]);
    expect(away.code).toBe(1);
    expect(away.stderr).toMatch(/^bridge: making the tables of the store lease at 127\.0\.0\.1:5432\/test: /);
    expect(away.stderr).not.toContain("canary");
  });
});

describe.skipIf(noPostgres)("contract 7: -create-tables on PostgreSQL", () => {
  let schema: TestSchema;
  beforeAll(async () => {
    schema = await testSchema();
    const options = JSON.stringify({ ...schema.connection, pool_size: 2 });
    folder.write(
      "postgres.yaml",
      `bridge: {id: plant-7, deployment_mode: clustered, instance_id: a}
stores:
  dlq: {type: postgres, options: ${options}}
  outbox: {type: postgres, options: ${options}}
  lease: {type: postgres, options: ${options}}
http: {admin_addr: "127.0.0.1:0", monitor_addr: "127.0.0.1:0", admin_api_key: 0123456789abcdef}
`,
    );
  });
  afterAll(() => schema[Symbol.asyncDispose]());

  test("a start without tables fails and names the remedy; nothing is made by it", async () => {
    expect(await refused()).toContain("make the tables with `bridge -create-tables`");
    expect(await schema.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema.connection.schema])).toEqual([]);
  });

  test("makes the tables of each store, then finds them there, and the bridge starts", async () => {
    const where = `127.0.0.1:5432/test, schema ${schema.connection.schema}: tables of the store`;
    const lines = (did: string) => [`${where} dlq ${did}`, `${where} outbox ${did}`, `${where} lease ${did}`];
    const args = ["-create-tables", "-config", "postgres.yaml"];
    expect(await ran(args)).toEqual({ code: 0, lines: lines("made"), stderr: "" });
    expect(await ran(args)).toEqual({ code: 0, lines: lines("were there"), stderr: "" });
    await using bridge = folder.run(["-config", "postgres.yaml"]);
    const admin = await running(bridge);
    // A store that has not opened in the time of a start opens soon after.
    const summary = await eventually(
      () => ask(`${admin}/dlq`, { headers: { "X-API-Key": "0123456789abcdef" } }),
      ({ status }) => status === 200,
    );
    expect(summary.body).toEqual({ configured: true, count: 0, count_capped: false });
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });

  test.each([
    ["dlq", "dead_letters"],
    ["dlq", "dead_letter_changes"],
    ["outbox", "outbox_record"],
    ["outbox", "outbox_queue"],
  ])("1: of the store %s the table %s alone is gone: it is named, and by a start too", async (store, table) => {
    const { schema: name } = schema.connection;
    await schema.rows(`ALTER TABLE ${name}.${table} RENAME TO away`);
    try {
      const made = await ran(["-create-tables", "-config", "postgres.yaml"]);
      expect(made.code).toBe(1);
      for (const stderr of [made.stderr, await refused()]) {
        expect(stderr).toContain(`the store ${store} in schema ${name}`);
        expect(stderr).toContain(` lacks: table ${table}: restore it`);
        expect(stderr).toContain("make them anew with `bridge -create-tables`");
      }
    } finally {
      await schema.rows(`ALTER TABLE ${name}.away RENAME TO ${table}`);
    }
  });

  test("a store whose tables are all gone is made anew, and a start does not do that", async () => {
    const { schema: name } = schema.connection;
    const gone = ["leases", "outbox_record", "outbox_queue", "outbox_spoiled"];
    await schema.rows(gone.map((table) => `DROP TABLE ${name}.${table}`).join("; "));
    expect(await refused()).toContain("make them with `bridge -create-tables`");
    const { code, lines } = await ran(["-create-tables", "-config", "postgres.yaml"]);
    expect(code).toBe(0);
    expect(lines.map((line) => line.replace(/.* of the store /, ""))).toEqual([
      "dlq were there",
      "outbox made",
      "lease made",
    ]);
  });

  test("a user with the privileges that the manual names can do everything", async () => {
    const { schema: name, url } = schema.connection;
    const manual = readFileSync(new URL("../../../docs/postgres.md", import.meta.url), "utf8");
    const grants = (/```sql\n(.*?)```/s.exec(manual)?.[1] ?? "").replaceAll(/\bbridge\b/g, name);
    await using target = await Target.open("accepts");
    await schema.rows(`CREATE ROLE ${name} LOGIN`);
    try {
      await schema.rows(grants);
      const limited = new URL(url);
      limited.username = name;
      const store = `{type: postgres, options: {url: "${limited.href}", schema: ${name}}}`;
      folder.write(
        "limited.yaml",
        `bridge: {id: plant-7, deployment_mode: clustered}
stores: {dlq: ${store}, outbox: ${store}, lease: ${store}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0"}}]
senders: [{id: out, transport: http, options: {url: "${target.url}"}}]
bindings: [{id: to-out, sender_id: out, address: "/{missing}"}, {id: to-root, sender_id: out}]
routes:
  - {id: lost, receiver_id: in, delivery_mode: shared_outbox, bindings: [to-out, to-root], dispatch_mode: fan_out}
${HTTP}`,
      );
      await using bridge = folder.run(["-config", "limited.yaml"]);
      const admin = await running(bridge);
      const headers = { "X-API-Key": ADMIN_KEY };
      const post = async (path: string, body: object) =>
        (await fetch(`${admin}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
      expect(await post("/routes/lost/inject", { subject: "s", payload: "", headers: {} })).toMatchObject({
        reason: "dead_lettered",
      });
      expect(target.accepted).toEqual([""]);
      expect(await post("/dlq/purge", { confirm_purge_all: true })).toEqual({ purged: 1 });
    } finally {
      await schema.rows(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    }
  });
});
