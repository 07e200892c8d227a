import { PATIENCE } from "@bridge/tooling/patience";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ADMIN_KEY, ask, Site } from "./support/site.ts";
import { CONFIG_TABLE, type Tables, tablesFor } from "./support/tables.ts";

let site: Site;
let tables: Tables;
beforeAll(async () => {
  site = await Site.open();
  tables = await tablesFor(site);
  await using made = site.run(shared("made"), ["-create-tables"]);
  await made.ended;
});
afterAll(async () => {
  await tables[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

function shared(bridgeId: string, more: object = {}) {
  const source = { config_source: "dynamodb", config_file_path: "", config_table: CONFIG_TABLE };
  return site.bootstrap({ bridge_id: bridgeId, poll_interval: "100ms", metrics: "none", ...source, ...more });
}

const document = (bridgeId: string, channel = "in") => ({
  bridge: { id: bridgeId },
  receivers: [{ id: "in", transport: "memory", options: { channel } }],
  senders: [{ id: "out", transport: "memory", options: { channel: "out" } }],
  bindings: [{ id: "to-out", sender_id: "out" }],
  routes: [
    {
      id: "only",
      receiver_id: "in",
      bindings: ["to-out"],
      policy: { on_permanent_failure: "drop", on_expired: "drop" },
    },
  ],
});

describe("a configuration in a table", () => {
  test("is waited for, taken when it appears, and a commit on one instance reaches the other", async () => {
    await using one = site.run(shared("plant-7", { instance_id: "plant-7-a" }));
    await using other = site.run(shared("plant-7", { instance_id: "plant-7-b" }));
    expect(await one.logged("bridge started")).toMatchObject({ instance_id: "plant-7-a", routes: 0 });
    await other.logged("bridge started");
    await tables.putConfig("plant-7", document("plant-7"));
    for (const instance of [one, other]) {
      await vi.waitFor(
        async () => expect((await ask(instance, "admin", "routes")).body["routes"]).toHaveLength(1),
        PATIENCE,
      );
    }

    const { txn_id: id } = (await ask(one, "admin", "config/transactions", { method: "POST" })).body;
    const transaction = `config/transactions/${String(id)}`;
    const headers = { "X-API-Key": ADMIN_KEY, "Content-Type": "application/json" };
    const body = JSON.stringify({ routes: [{ id: "only", policy: { max_in_flight: 7 } }] });
    expect((await ask(one, "admin", transaction, { method: "PATCH", headers, body })).status).toBe(200);
    expect(await ask(one, "admin", `${transaction}/commit`, { method: "POST" })).toEqual({
      status: 200,
      body: { status: "committed", version: 1 },
    });
    for (const instance of [one, other]) {
      const routes = async () => (await ask(instance, "admin", "routes")).body["routes"];
      await vi.waitFor(async () => expect(await routes()).toMatchObject([{ id: "only", max_in_flight: 7 }]), PATIENCE);
    }
    for (const instance of [one, other]) {
      instance.kill("SIGTERM");
      expect(await instance.ended).toBe(0);
    }
  });

  test("that is met before the tables of its stores are there is taken once they are, without a signal", async () => {
    await using instance = site.run(shared("early"));
    await instance.logged("bridge started");
    const lease = { type: "dynamodb", options: { table_name: "early-leases" } };
    await tables.putConfig("early", { ...document("early"), stores: { lease } });
    const waits = "configuration not applied: nothing runs, and it is tried again until it can be";
    expect((await instance.logged(waits))["error"]).toContain("early-leases");
    expect((await ask(instance, "monitor", "ready")).status).toBe(503);
    const { config_watch: watched } = (await ask(instance, "monitor", "deephealth")).body;
    expect(watched).toMatchObject({ last_error: expect.stringContaining("early-leases") as string });
    await using made = site.run(shared("early"), ["-create-tables"]);
    expect(await made.ended).toBe(0);
    await vi.waitFor(async () => expect((await ask(instance, "monitor", "ready")).status).toBe(200), PATIENCE);
    expect((await ask(instance, "monitor", "deephealth")).body["config_watch"]).not.toHaveProperty("last_error");
    expect(instance.log.filter(({ msg }) => msg === waits)).toHaveLength(1);
  });

  test("that refers to a parameter which is not there yet is taken once it is, without a signal", async () => {
    await tables.putConfig("secretive", document("secretive"));
    await using instance = site.run(shared("secretive"));
    await instance.logged("bridge started");
    await tables.putConfig("secretive", { config_version: 2, ...document("secretive", "${ssm:/channel}") });
    expect((await instance.logged("configuration refused"))["problem"]).toContain("there is no such parameter");
    const watched = async () =>
      (await ask(instance, "monitor", "deephealth")).body["config_watch"] as Record<string, unknown>;
    expect((await watched())["last_error"]).toContain("/channel");
    site.secrets.parameters.set("/channel", { value: "in" });
    await vi.waitFor(async () => expect(await watched()).toMatchObject({ version: 2 }), PATIENCE);
    expect(await watched()).not.toHaveProperty("last_error");
  });

  test("spec 3.4: a table that is not there: 1", async () => {
    await using instance = site.run(shared("plant-7", { config_table: "no-such-table" }));
    expect(await instance.ended).toBe(1);
    expect((await instance.logged("the bridge cannot start"))["error"]).toContain("no-such-table");
  });

  test("-validate reads it, and names the table in each problem", async () => {
    await tables.putConfig("invalid", { bridge: { id: "invalid", speed: 1 } });
    await using invalid = site.run(shared("invalid"), ["-validate"]);
    expect(await invalid.ended).toBe(1);
    expect(invalid.stderr).toMatch(/^dynamodb:bridge-config\/invalid bridge\.speed: unknown key/);
    await using missing = site.run(shared("nobody"), ["-validate"]);
    expect(await missing.ended).toBe(1);
    expect(missing.stderr).toContain("there is no configuration there");
  });
});
