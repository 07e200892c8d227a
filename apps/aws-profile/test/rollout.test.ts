import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { BinaryProcess } from "@bridge/tooling/binary-process";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ADMIN_KEY, ask, Site, type Told } from "./support/site.ts";
import { CONFIG_TABLE, type Tables, tablesFor } from "./support/tables.ts";

const LEFT_BEHIND =
  "another version is staged and not confirmed: it is being committed, or was left behind, and does not run";
/** As long as what was staged counts as being committed, and a minute more. */
const CLOCK_AHEAD = "const now = Date.now; Date.now = () => now() + 6 * 60_000;";

let site: Site;
let tables: Tables;
/** Takes whatever is sent to it, and never answers. */
let target: Server;
beforeAll(async () => {
  site = await Site.open();
  tables = await tablesFor(site);
  target = createServer().listen(0, "127.0.0.1");
  await once(target, "listening");
  await using made = site.run(bootstrap("made"), ["-create-tables"]);
  await made.ended;
});
afterAll(async () => {
  target.close();
  target.closeAllConnections();
  await tables[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

function addressOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function bootstrap(bridgeId: string, more: object = {}) {
  const source = { config_source: "dynamodb", config_file_path: "", config_table: CONFIG_TABLE };
  return site.bootstrap({ bridge_id: bridgeId, poll_interval: "100ms", metrics: "none", ...source, ...more });
}

/** An instance whose second receiver listens at `second`, as soon as a route asks for it. */
function instanceOf(
  bridgeId: string,
  letter: string,
  second = "127.0.0.1:0",
  env: Readonly<Record<string, string>> = {},
) {
  return site.run(bootstrap(bridgeId, { instance_id: `${bridgeId}-${letter}` }), [], { SECOND: second, ...env });
}

const policy = { on_permanent_failure: "drop", on_expired: "drop" };
const document = (bridgeId: string) => ({
  config_version: 4,
  bridge: { id: bridgeId },
  receivers: [
    { id: "in", transport: "memory", options: { channel: "in" } },
    { id: "second", transport: "http", options: { addr: "${env:SECOND}" } },
  ],
  senders: [{ id: "out", transport: "http", options: { url: `http://${addressOf(target)}` } }],
  bindings: [{ id: "to-out", sender_id: "out" }],
  routes: [{ id: "only", receiver_id: "in", bindings: ["to-out"], policy }],
});
const SEVEN = { routes: [{ id: "only", policy: { max_in_flight: 7 } }] };
const SECOND_ROUTE = { routes: [{ id: "second", receiver_id: "second", bindings: ["to-out"], policy }] };

async function post(instance: BinaryProcess, path: string, body: object, method = "POST"): Promise<Told> {
  const headers = { "X-API-Key": ADMIN_KEY, "Content-Type": "application/json" };
  return ask(instance, "admin", path, { method, headers, body: JSON.stringify(body) });
}

/** Opens a transaction and patches it; its path, or the refusal. */
async function opened(instance: BinaryProcess, overlay: object): Promise<string | Told> {
  const transaction = await post(instance, "config/transactions", {});
  if (transaction.status !== 201) return transaction;
  const path = `config/transactions/${String(transaction.body["txn_id"])}`;
  expect((await post(instance, path, overlay, "PATCH")).status).toBe(200);
  return path;
}

async function commit(instance: BinaryProcess, overlay: object): Promise<Told> {
  const path = await opened(instance, overlay);
  return typeof path === "string" ? post(instance, `${path}/commit`, {}) : path;
}

async function health(instance: BinaryProcess): Promise<Told["body"]> {
  return (await ask(instance, "monitor", "deephealth")).body;
}

async function runs(instance: BinaryProcess, version: number): Promise<void> {
  await vi.waitFor(async () => expect(await health(instance)).toMatchObject({ config_version: version }), PATIENCE);
}

describe("instances that share a configuration", () => {
  test("a committer that is killed before it has confirmed leaves a version behind that runs nowhere", async () => {
    await tables.putConfig("killed", document("killed"));
    await using a = instanceOf("killed", "a");
    await using b = instanceOf("killed", "b");
    for (const instance of [a, b]) await runs(instance, 4);

    // The route that is replaced waits for what it has in flight: so long the commit is under way.
    const asked = once(target, "request");
    post(a, "routes/only/inject", { subject: "s", payload: "aGk=" }).catch(() => {});
    await asked;
    commit(a, SEVEN).catch(() => {});
    const staged = { version: 5, instance_id: "killed-a", since: expect.any(String) as string };
    await vi.waitFor(async () => expect((await health(b))["config_watch"]).toMatchObject({ staged }), PATIENCE);
    // Not before what is staged stands in the history as well.
    await vi.waitFor(() => expect(a.log).toContainEqual(expect.objectContaining({ to: "swapping" })), PATIENCE);
    a.kill("SIGKILL");
    await a.ended;

    expect(await commit(b, SEVEN)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining("the instance killed-a has been committing version 5 since") as string },
    });
    expect(await health(b)).toMatchObject({ config_version: 4 });
    await using again = instanceOf("killed", "a");
    await runs(again, 4);
    expect(await again.logged(LEFT_BEHIND)).toMatchObject({
      config_version: 4,
      staged_version: 5,
      staged_by: "killed-a",
    });
    expect((await ask(again, "admin", "config/history")).body).toMatchObject({
      versions: [{ version: 5, pending: true }],
    });

    const later = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(CLOCK_AHEAD)}"` };
    await using c = instanceOf("killed", "c", undefined, later);
    await runs(c, 4);
    expect(await commit(c, SEVEN)).toEqual({ status: 200, body: { status: "committed", version: 5 } });
    for (const instance of [again, b, c]) await runs(instance, 5);
    expect((await health(b))["config_watch"]).not.toHaveProperty("staged");
  });

  test("what its committer cannot apply runs nowhere; what another one cannot apply makes that one a laggard, until that is mended", async () => {
    await tables.putConfig("lags", document("lags"));
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    await using a = instanceOf("lags", "a", addressOf(taken));
    await using b = instanceOf("lags", "b");
    for (const instance of [a, b]) await runs(instance, 4);

    expect(await commit(a, SECOND_ROUTE)).toMatchObject({ status: 500, body: { status: "rolled_back", version: 4 } });
    expect(await commit(b, SEVEN)).toEqual({ status: 200, body: { status: "committed", version: 5 } });
    for (const instance of [a, b]) await runs(instance, 5);
    expect((await ask(b, "admin", "routes")).body["routes"]).toMatchObject([{ id: "only", max_in_flight: 7 }]);
    expect(b.log.map(({ msg }) => msg)).not.toContain("configuration reloaded");

    expect(await commit(b, SECOND_ROUTE)).toEqual({ status: 200, body: { status: "committed", version: 6 } });
    const error = expect.stringContaining("the address is in use") as string;
    await vi.waitFor(
      async () => expect((await health(a))["config_watch"]).toMatchObject({ last_error: error }),
      PATIENCE,
    );
    expect(await health(a)).toMatchObject({ config_version: 5 });
    expect(await health(b)).toMatchObject({ config_version: 6 });
    taken.close();
    a.kill("SIGHUP");
    await runs(a, 6);
    expect((await health(a))["config_watch"]).not.toHaveProperty("last_error");
    for (const instance of [a, b]) {
      instance.kill("SIGTERM");
      expect(await instance.ended).toBe(0);
    }
  });

  test("of two that commit at once one does, and both run it", async () => {
    await tables.putConfig("race", document("race"));
    await using a = instanceOf("race", "a");
    await using b = instanceOf("race", "b");
    for (const instance of [a, b]) await runs(instance, 4);
    const levels = ["debug", "warn"];
    const paths = await Promise.all([a, b].map((each, i) => opened(each, { bridge: { log_level: levels[i] } })));
    const answers = await Promise.all([a, b].map((each, i) => post(each, `${paths[i] as string}/commit`, {})));
    const winners = answers.flatMap(({ status }, i) => (status === 200 ? [levels[i]] : []));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    for (const instance of [a, b]) {
      await runs(instance, 5);
      const { config } = (await ask(instance, "admin", "config")).body as { config?: unknown };
      expect(config).toMatchObject({ bridge: { log_level: winners[0] } });
    }
  });
});
