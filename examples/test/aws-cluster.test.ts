import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { below, typed } from "./support/shell.ts";
import { TwoInstances } from "./support/two-instances.ts";

const START = fileURLToPath(new URL("../aws-cluster/start.ts", import.meta.url));
const SOON = { timeout: 30_000, interval: 200 };

test("a cluster on emulators of AWS: a commit reaches both, the active one is killed, the key is rotated, and every reading arrives", async () => {
  await using cluster = await TwoInstances.start(START);
  await cluster.printed(/bridge-leases: made/);
  await cluster.divided();
  const { stdout } = cluster;

  expect(await typed(below("Commit", stdout))).toContain('"status":"committed","version":2');
  await vi.waitFor(async () => {
    const both = await Promise.all(cluster.admin.map(routesOf));
    for (const routes of both) expect(routes).toContain('"max_in_flight":7');
  }, SOON);

  await cluster.killActive();

  const rotate = below("Rotate", stdout).split("\n");
  await typed(rotate[0] ?? "");
  await vi.waitFor(async () => expect(await typed(rotate[1] ?? "")).toContain('"running":true'), SOON);

  cluster.kill("SIGINT");
  expect(await cluster.ended).toBe(0);
  const [, published, arrived] = /all of (\d+) readings published, (\d+) arrived/.exec(cluster.stdout) ?? [];
  expect(Number(published)).toBeGreaterThan(0);
  expect(arrived).toBe(published);
});

async function routesOf(port: string): Promise<string> {
  const headers = { "X-API-Key": "aws-cluster-admin-key" };
  return (await fetch(`http://127.0.0.1:${port}/api/v1/admin/routes`, { headers })).text();
}
