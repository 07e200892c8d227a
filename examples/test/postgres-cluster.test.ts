import { fileURLToPath } from "node:url";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, expect, test, vi } from "vitest";
import { freePorts } from "./support/free-ports.ts";
import { Program } from "./support/program.ts";
import { below, typed } from "./support/shell.ts";

const START = fileURLToPath(new URL("../postgres-cluster/start.ts", import.meta.url));
const SOON = { timeout: 30_000, interval: 200 };

describe.skipIf(noPostgres)("a cluster on PostgreSQL", () => {
  test("the active one is killed, the other goes on, dead letters are seen from both, and every reading is accounted for", async () => {
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
    await cluster.printed(/tables of the store lease made/);
    await vi.waitFor(async () => expect((await roles()).toSorted()).toEqual(["active", "standby"]), SOON);

    const counted = async (): Promise<readonly string[]> =>
      (await typed(below("See the dead letters", cluster.stdout))).match(/"count":\d+/g) ?? [];
    await vi.waitFor(async () => {
      const [one, other] = await counted();
      expect(one).toMatch(/[1-9]/);
      expect(other).toBe(one);
    }, SOON);

    const active = (await roles()).indexOf("active");
    const [, pid = ""] = await cluster.printed(new RegExp(`${"ab"[active]} active full \\(pid (\\d+)\\)`));
    process.kill(Number(pid), "SIGKILL");
    const other = active === 0 ? monitorB : monitorA;
    await vi.waitFor(async () => expect(await ready(other)).toMatchObject({ role: "active", level: "full" }), SOON);
    await cluster.printed(/has ended with SIGKILL/);
    const killed = active === 0 ? monitorA : monitorB;
    await vi.waitFor(async () => expect(await ready(killed)).toMatchObject({ role: "standby" }), SOON);

    // The instance that was killed has a runtime again some moments after its probes answer.
    await vi.waitFor(async () => {
      const redriven = await typed(below("Send the oldest again", cluster.stdout));
      expect(redriven).toContain('"redriven":1');
      expect(redriven).toContain('"error":"DLQ entry not found"');
    }, SOON);

    cluster.kill("SIGINT");
    expect(await cluster.ended).toBe(0);
    const [, published] = /published (\d+) · taken \d+ · refused \d+; unaccounted 0, /.exec(cluster.stdout) ?? [];
    expect(Number(published)).toBeGreaterThan(20);
  });
});
