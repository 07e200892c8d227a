import { readdirSync, readFileSync, statSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ask } from "../test/support/ask.ts";
import { INSIDE } from "../test/support/documents.ts";
import { ADMIN_KEY, Folder } from "../test/support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const PEERS = 2_000;
const KEYS_EACH = 50;
const AT_ONCE = 40;

/** Shows a wrong key again and again, from an address of its own on this machine. */
async function guess(url: string, peer: number, statuses: Map<number, number>): Promise<void> {
  const localAddress = `127.1.${peer >> 8}.${peer & 255}`;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let n = 0; n < KEYS_EACH; n++) {
    const status = await new Promise<number>((resolve, reject) => {
      const headers = { "X-API-Key": `guess-${peer}-${n}-0123456789` };
      request(url, { agent, localAddress, headers }, (response) => {
        response.resume().once("end", () => resolve(response.statusCode ?? 0));
      })
        .once("error", reject)
        .end();
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  agent.destroy();
}

test("design 3.4: 100,000 wrong keys from 2,000 peers neither fill the disk nor stop who has the right one", async () => {
  folder.write("bridge.yaml", `${INSIDE}audit: {log: false, file: {path: audit.jsonl}}\n`);
  await using bridge = folder.run();
  const url = `${await bridge.url("admin")}/api/v1/admin/bridge`;
  const statuses = new Map<number, number>();
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < PEERS) await guess(url, next++, statuses);
    }),
  );
  expect((statuses.get(401) ?? 0) + (statuses.get(429) ?? 0)).toBe(PEERS * KEYS_EACH);
  expect(await ask(url)).toMatchObject({ status: 200 });
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);
  const files = readdirSync(folder.path).filter((name) => name.startsWith("audit.jsonl"));
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder.path, name)).size, 0);
  const text = readFileSync(join(folder.path, "audit.jsonl"), "utf8");
  const events = text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { action: string; detail: { count?: number } });
  const counted = events.filter(({ action }) => action.startsWith("auth."));
  expect(counted.reduce((sum, { detail }) => sum + (detail.count ?? 1), 0)).toBe(PEERS * KEYS_EACH);
  expect(text + bridge.stderr).not.toMatch(/guess-|-0123456789/);
  expect(bridge.stderr).not.toContain(ADMIN_KEY);
  console.log(`${events.length} events, ${bytes} bytes, ${JSON.stringify(Object.fromEntries(statuses))}`);
  // A window has at most 10 + 2 events of each of 100 clients, and 2 of the others.
  expect(bytes).toBeLessThan(10 * 1024 * 1024);
});
