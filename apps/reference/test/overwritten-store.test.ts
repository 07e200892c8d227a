import { copyFileSync, existsSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ask, eventually } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { Folder, HTTP } from "./support/folder.ts";

/** From callers who get a 202 to a target where nobody listens, with the outbox in a file. */
const DOCUMENT = `${HTTP}
bridge: {id: test}
stores: {outbox: {type: file, options: {path: outbox.db}}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", response_timeout: 2s}}]
senders: [{id: out, transport: http, options: {url: "http://127.0.0.1:9"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, delivery_mode: shared_outbox, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop, max_replay_attempts: 1000}}]
`;
const OVER = /outbox\.db: the file is damaged.*while it is in use/;

/** The status of the answer to one message. */
async function send(bridge: Binary, payload: string): Promise<number> {
  const { port, path } = await bridge.logged("HTTP receiver listens");
  const response = await fetch(`http://127.0.0.1:${String(port)}${String(path)}`, { method: "POST", body: payload });
  await response.text();
  return response.status;
}

/** A run of the bridge that takes some messages and ends as it should. */
async function session(folder: Folder, payloads: readonly string[]): Promise<void> {
  await using bridge = folder.run();
  for (const payload of payloads) expect(await send(bridge, payload)).toBe(202);
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);
}

test.each<[string, (copy: string, file: string) => void]>([
  ["cp old.db outbox.db", (copy, file) => copyFileSync(copy, file)],
  ["truncate outbox.db", (_copy, file) => truncateSync(file, 16_384)],
])(
  "what is put onto the outbox in use is told, and nothing is acknowledged into it: %s",
  { timeout: 120_000 },
  async (_, harm) => {
    using folder = new Folder();
    folder.write("bridge.yaml", DOCUMENT);
    const file = join(folder.path, "outbox.db");
    const copy = join(folder.path, "old.db");
    await session(folder, ["first"]);
    copyFileSync(file, copy);
    await session(folder, ["second", "x".repeat(20_000)]);
    {
      await using bridge = folder.run();
      expect(await send(bridge, "third")).toBe(202);
      const monitor = await bridge.url("monitor");
      const admin = await bridge.url("admin");
      harm(copy, file);
      expect(await send(bridge, "fourth")).toBe(503);
      expect(await bridge.logged("the file failed and is opened again")).toMatchObject({
        level: "error",
        error: expect.stringMatching(OVER) as string,
      });
      const health = await eventually(
        () => ask(`${monitor}/api/v1/monitor/deephealth`),
        ({ body }) => OVER.test(JSON.stringify(body)),
      );
      expect(health).toMatchObject({ status: 503, body: { ready_for_traffic: false } });
      // The GETs say why, too.
      expect(await ask(`${admin}/api/v1/admin/outbox/messages`)).toMatchObject({
        status: 503,
        body: { error: expect.stringMatching(OVER) as string },
      });
      bridge.kill("SIGTERM");
      await bridge.ended;
    }
    // Nor does the next start take it for sound; what was in its log is still there.
    expect(existsSync(`${file}-wal`)).toBe(true);
    await using next = folder.run();
    await expect.poll(() => next.stderr, { timeout: 30_000 }).toMatch(/written over while a bridge had it in use/);
  },
);
