import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { webToWeb } from "./support/documents.ts";
import { Folder } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

describe("contract 7: -validate", () => {
  test("a sound configuration: 0", async () => {
    const file = folder.write("sound.yaml", webToWeb("http://127.0.0.1:1"));
    await using bridge = folder.run(["-validate", "-config", file]);
    expect(await bridge.ended).toBe(0);
    expect(bridge.stdout).toBe(`${file}: valid\n`);
    expect(bridge.stderr).toBe("");
  });

  test("the document in the README is sound", async () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    folder.write("readme.yaml", /```yaml\n(.*?)```/s.exec(readme)?.[1] ?? "");
    await using bridge = folder.run(["-validate", "-config", "readme.yaml"], { ADMIN_KEY: "a-key-of-enough-letters" });
    expect(await bridge.ended).toBe(0);
    expect(bridge.stderr).toBe("");
  });

  test("each problem with its path and line: 1", async () => {
    const file = folder.write(
      "problems.yaml",
      [
        "bridge: {id: test, drain_timeout: 30}",
        "routes:",
        "  - id: only",
        "    receiver_id: nowhere",
        "    bindings: [neither]",
        "    polcy: {}",
      ].join("\n"),
    );
    await using bridge = folder.run([`-config=${file}`, "--validate"]);
    expect(await bridge.ended).toBe(1);
    const lines = bridge.stderr.split("\n").slice(0, -1);
    const found = (place: string): string | undefined => lines.find((line) => line.startsWith(`${file}:${place}`));
    expect(found("1:")).toMatch(/bridge\.drain_timeout: .*"250ms"/);
    expect(found("4:")).toContain("routes[0].receiver_id: ");
    expect(found("5:")).toContain("routes[0].bindings[0]: ");
    expect(found("6:")).toMatch(/routes\[0\]\.polcy: .*policy/);
    expect(lines.every((line) => line.startsWith(`${file}:`))).toBe(true);
    expect(bridge.stdout).toBe("");
  });

  test("finding 9.4: a type that another binary has is refused with its name", async () => {
    const file = folder.write(
      "elsewhere.yaml",
      "bridge: {id: test}\nsessions: [{id: queue, transport: sqs}]\nstores: {dlq: {type: dynamodb}}\n",
    );
    await using bridge = folder.run(["-validate", "-config", file]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.stderr).toContain('no transport "sqs" is registered; bridge-aws has it');
    expect(bridge.stderr).toMatch(/store type "dynamodb" in the role dlq; registered: [\w, ]+; bridge-aws has it/);
  });

  test("topics and addresses that MQTT does not know: 1", async () => {
    const file = folder.write(
      "topics.yaml",
      [
        "bridge: {id: test}",
        'sessions: [{id: broker, transport: mqtt, options: {broker_urls: ["mqtt://127.0.0.1"]}}]',
        "receivers: [{id: in, session_id: broker, topics: [{topic: in/#/more}]}]",
        "senders: [{id: out, session_id: broker}]",
        'bindings: [{id: to-out, sender_id: out, address: "out/{device}/#"}]',
        "routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]",
      ].join("\n"),
    );
    await using bridge = folder.run(["-validate", "-config", file]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.stderr.split("\n")).toEqual([
      expect.stringContaining('receivers[0].topics[0].topic: "in/#/more" has a "#" that is not the last level'),
      expect.stringContaining('bindings[0].address: "out/{device}/#" holds "+" or "#"'),
      "",
    ]);
  });

  test.each([
    [
      {},
      "the http block has no admin key: set http.admin_api_key, http.api_keys or the environment variable BRIDGE_ADMIN_API_KEY",
    ],
    [
      { BRIDGE_ADMIN_API_KEY: "short" },
      "the key in the environment variable BRIDGE_ADMIN_API_KEY is too short: use at least 16 characters",
    ],
  ])("keys that a start would refuse, in its words: 1 (%j)", async (env, words) => {
    const file = folder.write(
      "no-key.yaml",
      "bridge: {id: test}\nhttp: {admin_addr: '127.0.0.1:0', monitor_addr: '127.0.0.1:0'}\n",
    );
    await using checked = folder.run(["-validate", "-config", file], env);
    expect([await checked.ended, checked.stdout, checked.stderr]).toEqual([1, "", `${file}: http: ${words}\n`]);
    await using started = folder.run(["-config", file], env);
    expect(await started.ended).toBe(1);
    expect(started.stderr).toContain(words);
    await using keyed = folder.run(["-validate", "-config", file], { BRIDGE_ADMIN_API_KEY: "a-key-of-enough-letters" });
    expect(await keyed.ended).toBe(0);
  });

  test("a missing file: 1", async () => {
    await using bridge = folder.run(["-validate", "-config", "nowhere.yaml"]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.stderr).toBe("nowhere.yaml: there is no such file\n");
  });

  test("beside the bridge of the same document: what that has locked it leaves alone, and makes nothing", async () => {
    const file = folder.write(
      "beside.yaml",
      `${webToWeb("http://127.0.0.1:1")}stores: {outbox: {type: file, options: {path: beside/outbox.db}}}\naudit: {file: {path: beside/audit.jsonl}}\n`,
    );
    await using bridge = folder.run(["-config", file]);
    await bridge.logged("bridge started");
    const before = readdirSync(join(folder.path, "beside"));
    await using checked = folder.run(["-validate", "-config", file]);
    expect([await checked.ended, checked.stderr]).toEqual([0, ""]);
    expect(readdirSync(join(folder.path, "beside"))).toEqual(before);
    await using second = folder.run(["-config", file]);
    expect(await second.ended).toBe(1);
    expect(second.stderr).toContain("is in use: only one process at a time");
  });

  test("it opens nothing: taken ports do not matter", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const taken = `127.0.0.1:${port}`;
    const document = webToWeb("http://127.0.0.1:1", { addr: taken });
    await using bridge = folder.run(["-validate", "-config", folder.write("taken.yaml", document)]);
    expect(await bridge.ended).toBe(0);
    server.close();
  });
});
