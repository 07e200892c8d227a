import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask } from "./support/ask.ts";
import { INSIDE } from "./support/documents.ts";
import { ADMIN_KEY } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";

const VIEWER = "{id: grafana, role: viewer, key: grafana-key-0123456789}";
const WRITER = "{id: deploys, permissions: [read, config.write], key: deploys-key-0123456789}";
const ADMIN = `admin_api_key: ${ADMIN_KEY}`;

interface Row {
  readonly name: string;
  readonly text: string;
  readonly path: string;
  readonly said: RegExp;
}

/** What a start of this process exits with 1 for, though the document by itself is sound. */
const REFUSED_BY_THE_START: readonly Row[] = [
  {
    name: "an http block without a key",
    text: INSIDE.replace(`, ${ADMIN}`, ""),
    path: "http",
    said: /the http block has no admin key: set http\.admin_api_key/,
  },
  {
    name: "certificates that are not there",
    text: INSIDE.replace(ADMIN, `${ADMIN}, tls_cert_file: none.pem, tls_key_file: none.pem`),
    path: "http.tls_cert_file",
    said: /"none\.pem" is not there: name a file that this user can read/,
  },
  {
    name: "certificates that are none",
    text: INSIDE.replace(ADMIN, `${ADMIN}, tls_cert_file: bridge.yaml, tls_key_file: bridge.yaml`),
    path: "http.tls_cert_file",
    said: /PEM/,
  },
  {
    name: "an audit file that is a folder",
    text: `${INSIDE}audit: {file: {path: folder}}\n`,
    path: "audit.file.path",
    said: /"folder" is a folder/,
  },
  {
    name: "a DLQ that is a folder",
    text: `${INSIDE}stores: {dlq: {type: file, options: {path: folder}}}\n`,
    path: "stores.dlq.options.path",
    said: /"folder" is a folder: name a file/,
  },
];

/** What starts, and nobody could change any more over the admin server. */
const LOCKED_OUT: readonly Row[] = [
  {
    name: "keys that only look",
    text: INSIDE.replace(ADMIN, `api_keys: [${VIEWER}]`),
    path: "http",
    said: /nobody could change the configuration over the admin server any more: leave a key that can/,
  },
  {
    name: "no http block",
    text: INSIDE.split("\n")
      .filter((line) => !line.startsWith("http:"))
      .join("\n"),
    path: "http",
    said: /nobody could change the configuration/,
  },
];

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.run(INSIDE.replace(ADMIN, `${ADMIN}, api_keys: [${WRITER}]`));
  mkdirSync(join(stage.folder.path, "folder"));
});
afterAll(() => stage[Symbol.asyncDispose]());

async function putDocument(text: string): Promise<string> {
  const path = await stage.opened();
  expect(await stage.admin("PUT", `${path}/document`, { text })).toMatchObject({ status: 200 });
  return path;
}

describe("interface 4.9: what the next start would refuse, validate and commit refuse", () => {
  test.each([...REFUSED_BY_THE_START, ...LOCKED_OUT])("$name", async ({ text, path, said }) => {
    const before = stage.text;
    const transaction = await putDocument(text);
    const problems = expect.arrayContaining([{ path, message: expect.stringMatching(said) as string }]) as unknown;
    expect(await stage.admin("POST", `${transaction}/validate`)).toMatchObject({
      status: 200,
      body: { valid: false, validation_errors: problems },
    });
    expect(await stage.admin("POST", `${transaction}/commit`)).toMatchObject({
      status: 422,
      body: { error: "config validation failed", validation_errors: problems },
    });
    expect(stage.text).toBe(before);
    await stage.admin("DELETE", transaction);
  });

  test.each(REFUSED_BY_THE_START)("$name: -validate and the start say so, too", async ({ name, text, said }) => {
    const file = stage.folder.write(`${name.replaceAll(" ", "-")}.yaml`, text);
    await using checked = stage.folder.run(["-validate", "-config", file]);
    expect([await checked.ended, checked.stderr]).toEqual([1, expect.stringMatching(said)]);
    await using started = stage.folder.run(["-config", file]);
    expect(await started.ended).toBe(1);
  });

  test("a file that was spoiled meanwhile is warned of, and a change of something else goes on", async () => {
    await using other = await Stage.run(`${INSIDE}stores: {dlq: {type: file, options: {path: kept.db}}}\n`);
    const path = join(other.folder.path, "kept.db");
    for (const name of [path, `${path}-wal`, `${path}-shm`]) rmSync(name, { force: true });
    mkdirSync(path);
    const transaction = await other.opened({ bridge: { log_level: "debug" } });
    expect(await other.admin("POST", `${transaction}/validate`)).toMatchObject({
      body: {
        valid: true,
        warnings: expect.arrayContaining([
          { path: "stores.dlq.options.path", message: expect.stringContaining('"kept.db" is a folder') as string },
        ]) as unknown,
      },
    });
    expect(await other.admin("POST", `${transaction}/commit`)).toMatchObject({ status: 200 });
  });

  test("the key of the start may go when another one can change the configuration, also after a restart", async () => {
    await using other = await Stage.run(INSIDE.replace(ADMIN, `${ADMIN}, api_keys: [${WRITER}]`));
    const transaction = await other.opened();
    const text = INSIDE.replace(ADMIN, `api_keys: [${WRITER}]`);
    await other.admin("PUT", `${transaction}/document`, { text });
    expect(await other.admin("POST", `${transaction}/commit`)).toMatchObject({ status: 200 });
    await other.restart();
    const url = `${await other.bridge.url("admin")}/api/v1/admin/config`;
    expect((await ask(url, { headers: { "X-API-Key": "deploys-key-0123456789" } })).status).toBe(200);
  });
});
