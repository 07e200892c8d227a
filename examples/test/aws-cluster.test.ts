import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { freePorts } from "./support/free-ports.ts";
import { Program } from "./support/program.ts";
import { below, typed } from "./support/shell.ts";

const START = fileURLToPath(new URL("../aws-cluster/start.ts", import.meta.url));
const SOON = { timeout: 30_000, interval: 200 };

test("a cluster on emulators of AWS: a commit reaches both, the active one is killed, the key is rotated, and every reading arrives", async () => {
  const [broker, adminA, monitorA, adminB, monitorB] = (await freePorts(5)).map(String);
  const flags = { broker, "admin-a": adminA, "monitor-a": monitorA, "admin-b": adminB, "monitor-b": monitorB };
  await using cluster = new Program(
    START,
    Object.entries(flags).flatMap(([name, port]) => [`--${name}`, port ?? ""]),
  );
  const ready = async (port = ""): Promise<Readonly<Record<string, string>>> =>
    (await (await fetch(`http://127.0.0.1:${port}/api/v1/monitor/ready?level=full`)).json()) as never;
  const roles = async (): Promise<string[]> =>
    (await Promise.all([ready(monitorA), ready(monitorB)])).map(({ role }) => role ?? "");
  await cluster.printed(/bridge-leases: made/);
  await vi.waitFor(async () => expect((await roles()).toSorted()).toEqual(["active", "standby"]), SOON);
  const { stdout } = cluster;

  expect(await typed(below("Commit", stdout))).toContain('"status":"committed","version":2');
  await vi.waitFor(async () => {
    const both = await Promise.all([adminA, adminB].map(routesOf));
    for (const routes of both) expect(routes).toContain('"max_in_flight":7');
  }, SOON);

  const active = (await roles()).indexOf("active");
  const [, pid = ""] = await cluster.printed(new RegExp(`${"ab"[active]} active full \\(pid (\\d+)\\)`));
  process.kill(Number(pid), "SIGKILL");
  const other = active === 0 ? monitorB : monitorA;
  await vi.waitFor(async () => expect(await ready(other)).toMatchObject({ role: "active", level: "full" }), SOON);
  await cluster.printed(/has ended with SIGKILL/);
  const killed = active === 0 ? monitorA : monitorB;
  await vi.waitFor(async () => expect(await ready(killed)).toMatchObject({ role: "standby" }), SOON);

  const rotate = below("Rotate", stdout).split("\n");
  await typed(rotate[0] ?? "");
  await vi.waitFor(async () => expect(await typed(rotate[1] ?? "")).toContain('"running":true'), SOON);

  cluster.kill("SIGINT");
  expect(await cluster.ended).toBe(0);
  const [, published, arrived] = /all of (\d+) readings published, (\d+) arrived/.exec(cluster.stdout) ?? [];
  expect(Number(published)).toBeGreaterThan(0);
  expect(arrived).toBe(published);
});

async function routesOf(port = ""): Promise<string> {
  const headers = { "X-API-Key": "aws-cluster-admin-key" };
  return (await fetch(`http://127.0.0.1:${port}/api/v1/admin/routes`, { headers })).text();
}
