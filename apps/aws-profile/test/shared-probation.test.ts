import { PATIENCE } from "@bridge/tooling/patience";
import type { BinaryProcess } from "@bridge/tooling/binary-process";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ADMIN_KEY, ask, Site, type Told } from "./support/site.ts";
import { CONFIG_TABLE, type Tables, tablesFor } from "./support/tables.ts";

let site: Site;
let tables: Tables;
beforeAll(async () => {
  site = await Site.open();
  tables = await tablesFor(site);
  await using made = site.run(instanceOf("made"), ["-create-tables"]);
  await made.ended;
});
afterAll(async () => {
  await tables[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

function instanceOf(bridgeId: string, letter = "a") {
  const source = { config_source: "dynamodb", config_file_path: "", config_table: CONFIG_TABLE };
  const names = { bridge_id: bridgeId, instance_id: `${bridgeId}-${letter}` };
  return site.bootstrap({ ...names, poll_interval: "100ms", metrics: "none", ...source });
}

/** Of version 3, with one route. */
const document = (bridgeId: string, maxInFlight = 10) => ({
  config_version: 3,
  bridge: { id: bridgeId },
  receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
  senders: [{ id: "out", transport: "memory", options: { channel: "out" } }],
  bindings: [{ id: "to-out", sender_id: "out" }],
  routes: [
    {
      id: "only",
      receiver_id: "in",
      bindings: ["to-out"],
      policy: { max_in_flight: maxInFlight, on_permanent_failure: "drop", on_expired: "drop" },
    },
  ],
});

function call(instance: BinaryProcess, method: string, path: string, body: object = {}): Promise<Told> {
  const headers = { "X-API-Key": ADMIN_KEY, "Content-Type": "application/json" };
  return ask(instance, "admin", path, { method, headers, body: JSON.stringify(body) });
}

/** Commits another window; with `confirm_within` it is tried out. */
async function commit(instance: BinaryProcess, maxInFlight: number, body: object = {}): Promise<Told> {
  const { txn_id: id } = (await call(instance, "POST", "config/transactions")).body;
  const path = `config/transactions/${String(id)}`;
  await call(instance, "PATCH", path, { routes: [{ id: "only", policy: { max_in_flight: maxInFlight } }] });
  return call(instance, "POST", `${path}/commit`, body);
}

/** The version that an instance has in force, and the window of its route. */
async function runs(instance: BinaryProcess): Promise<readonly [unknown, unknown]> {
  const { config_watch: watch } = (await ask(instance, "monitor", "deephealth")).body;
  const { routes } = (await ask(instance, "admin", "routes")).body as { routes: { max_in_flight: number }[] };
  return [(watch as { version: number }).version, routes[0]?.max_in_flight];
}

const eventually = (instance: BinaryProcess, version: number, maxInFlight: number): Promise<void> =>
  vi.waitFor(async () => expect(await runs(instance)).toEqual([version, maxInFlight]), PATIENCE);

async function newest(instance: BinaryProcess): Promise<unknown> {
  return ((await ask(instance, "admin", "config/history")).body as { versions: readonly unknown[] }).versions[0];
}

/** How often what an instance runs was swapped. */
const swaps = (instance: BinaryProcess): number => instance.log.filter(({ to }) => to === "swapping").length;

/** Two instances on one document. */
async function pair(bridgeId: string) {
  await tables.putConfig(bridgeId, document(bridgeId));
  const [one, other] = [site.run(instanceOf(bridgeId, "a")), site.run(instanceOf(bridgeId, "b"))];
  for (const instance of [one, other]) await eventually(instance, 3, 10);
  return {
    one,
    other,
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

describe("a change on probation where instances share the document", () => {
  test("operators 7: is a canary on its committer; the second never ran what was taken back", async () => {
    await using both = await pair("canary");
    const { one, other } = both;
    const before = swaps(other);
    expect(await commit(one, 7, { confirm_within: "10s" })).toMatchObject({
      status: 200,
      body: { status: "probation", version: 4, former_version: 3 },
    });
    expect(await runs(one)).toEqual([4, 7]);
    expect(await runs(other)).toEqual([3, 10]);
    expect(await call(other, "POST", "config/transactions")).toMatchObject({
      status: 409,
      body: { reason: "probation" },
    });
    const elsewhere = await call(other, "POST", "config/confirm", { version: 4 });
    expect(elsewhere).toMatchObject({ status: 409, body: { reason: "no_probation" } });
    expect(elsewhere.body["error"]).toContain("canary-a");
    await eventually(one, 3, 10);
    await vi.waitFor(
      async () => expect(await newest(other)).toMatchObject({ version: 4, reverted: { why: "not_confirmed" } }),
      PATIENCE,
    );
    expect(await commit(one, 8)).toMatchObject({ body: { status: "committed", version: 5 } });
    await eventually(other, 5, 8);
    expect(swaps(other) - before).toBe(1);
    const reloaded = other.log.filter(({ msg }) => msg === "configuration reloaded");
    expect(reloaded).toMatchObject([{ config_version: 5 }]);
  });

  test("operators 7: is everybody's once it is confirmed", async () => {
    await using both = await pair("confirmed");
    const { one, other } = both;
    await commit(one, 7, { confirm_within: "5m" });
    expect(await call(one, "POST", "config/confirm", { version: 4 })).toMatchObject({
      status: 200,
      body: { status: "committed", version: 4 },
    });
    await eventually(other, 4, 7);
  });

  test("operators 7: a committer that dies leaves the former one everywhere, and so does one that ends in order", async () => {
    await using both = await pair("dying");
    const { one, other } = both;
    const before = swaps(other);
    await commit(one, 7, { confirm_within: "5m" });
    expect(await runs(one)).toEqual([4, 7]);
    one.kill("SIGKILL");
    await one.ended;
    await using again = site.run(instanceOf("dying"));
    await eventually(again, 3, 10);
    expect(await runs(other)).toEqual([3, 10]);
    expect(await newest(other)).toMatchObject({ version: 4, available: true, reverted: { why: "process_ended" } });
    const taken = again.log.filter(({ msg }) => msg.startsWith("a configuration on probation was taken back"));
    expect(taken).toMatchObject([{ config_version: 4, former_version: 3, why: "process_ended" }]);
    // What another hand writes counts, and takes away what was left staged.
    await tables.putConfig("dying", { ...document("dying", 11), config_version: 6 });
    for (const instance of [again, other]) await eventually(instance, 6, 11);
    await commit(again, 7, { confirm_within: "5m" });
    again.kill("SIGTERM");
    expect(await again.ended).toBe(0);
    expect(await runs(other)).toEqual([6, 11]);
    expect(await newest(other)).toMatchObject({ version: 7, reverted: { why: "process_ended" } });
    expect(swaps(other) - before).toBe(1);
    expect(await commit(other, 9)).toMatchObject({ body: { status: "committed" } });
  });

  test("operators 7: what a committer leaves that does not come back is taken back anywhere, as its refusals say", async () => {
    await using both = await pair("gone");
    const { one, other } = both;
    await commit(one, 7, { confirm_within: "1h" });
    one.kill("SIGKILL");
    await one.ended;
    const way =
      /version 4 is on probation at the instance gone-a until .*: confirm it there, or revert it at any instance/;
    for (const [path, body] of [
      ["config/transactions", {}],
      ["config/confirm", { version: 4 }],
    ] as const)
      expect(await call(other, "POST", path, body)).toMatchObject({
        status: 409,
        body: { error: expect.stringMatching(way) as unknown },
      });
    expect(await call(other, "POST", "config/revert", { version: 4, reason: "its machine is gone" })).toMatchObject({
      status: 200,
      body: { status: "rolled_back", version: 3 },
    });
    expect(await newest(other)).toMatchObject({ version: 4, available: true, reverted: { why: "operator" } });
    expect(await commit(other, 8)).toMatchObject({ body: { status: "committed", version: 5 } });
    await using again = site.run(instanceOf("gone"));
    await eventually(again, 5, 8);
  });

  test("operators 7: a committer that stands still while another takes it back goes back when it goes on", async () => {
    await using both = await pair("still");
    const { one, other } = both;
    await commit(one, 7, { confirm_within: "1h" });
    one.kill("SIGSTOP");
    await call(other, "POST", "config/revert", { version: 4, reason: "it does not answer" });
    one.kill("SIGCONT");
    await eventually(one, 3, 10);
    expect(await call(one, "POST", "config/confirm", { version: 4 })).toMatchObject({
      status: 409,
      body: { reason: "reverted" },
    });
    const { versions } = (await ask(one, "admin", "config/history")).body as { versions: { version: number }[] };
    expect(versions.filter(({ version }) => version === 4)).toHaveLength(1);
  });
});
