import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ADMIN_KEY, ask, Site } from "./support/site.ts";
import { CONFIG_TABLE, type Tables, tablesFor } from "./support/tables.ts";

const SOON = { timeout: 30_000, interval: 50 };

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
        SOON,
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
      await vi.waitFor(async () => expect(await routes()).toMatchObject([{ id: "only", max_in_flight: 7 }]), SOON);
    }
    for (const instance of [one, other]) {
      instance.kill("SIGTERM");
      expect(await instance.ended).toBe(0);
    }
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
