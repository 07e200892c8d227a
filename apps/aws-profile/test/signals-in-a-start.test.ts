import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { BinaryProcess } from "@bridge/tooling/binary-process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ADMIN_KEY, INSIDE, Site } from "./support/site.ts";
import { CONFIG_TABLE, type Tables, tablesFor } from "./support/tables.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

let site: Site;
let tables: Tables;
beforeAll(async () => {
  site = await Site.open();
  tables = await tablesFor(site);
  const store = (role: string) => ({ type: "dynamodb", options: { table_name: `stores-${role}` } });
  const stores = { dlq: store("dlq"), outbox: store("outbox"), lease: store("lease") };
  await using first = site.run(shared(), ["-create-tables"]);
  await first.ended;
  await tables.putConfig("test", { bridge: { id: "test" }, stores });
  await using second = site.run(shared(), ["-create-tables"]);
  await second.ended;
}, 120_000);
afterAll(async () => {
  await tables[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

function shared() {
  return site.bootstrap({ config_source: "dynamodb", config_file_path: "", config_table: CONFIG_TABLE });
}

/** A service of AWS that takes requests and never answers. */
async function silence() {
  const service = createServer().listen(0, "127.0.0.1");
  await once(service, "listening");
  return {
    url: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    asked: once(service, "request"),
    [Symbol.dispose]() {
      service.close();
      service.closeAllConnections();
    },
  };
}

/** The `k`-th request to DynamoDB, and all after it, get no answer; `never`: they all did. */
function hangAt(k: number, instance: () => BinaryProcess): Promise<"hangs" | "never"> {
  const { dynamo } = tables;
  dynamo.reset();
  let asked = 0;
  return new Promise((resolve) => {
    dynamo.choose = () => {
      if (++asked < k) return undefined;
      resolve("hangs");
      return "hang";
    };
    void instance()
      .logged("bridge started")
      .then(
        () => resolve("never"),
        () => {},
      );
  });
}

const CLEAN = { code: 0, errors: [] };

async function ended(instance: BinaryProcess, signal: NodeJS.Signals) {
  instance.kill(signal);
  const code = await instance.ended;
  return { code, errors: instance.log.filter(({ level }) => level === "error") };
}

describe("spec 3.4: asked to end while it starts, it ends with 0 and waits for nothing that hangs:", () => {
  test("whichever request to DynamoDB has no answer", { timeout: 300_000 }, async () => {
    let moments = 0;
    for (let k = 1; ; k++) {
      let begun: BinaryProcess | undefined;
      const reached = hangAt(k, () => (begun = site.run(shared())));
      if (begun === undefined) throw new Error("not begun");
      await using instance: BinaryProcess = begun;
      const moment = await reached;
      expect(await ended(instance, SIGNALS[k % 2] ?? "SIGTERM")).toEqual(CLEAN);
      if (moment === "never") break;
      moments++;
    }
    tables.dynamo.reset();
    // The tables of configuration and stores, the document, what is staged.
    expect(moments).toBeGreaterThanOrEqual(6);
  });

  test.each([
    ["the keys", (url: string) => ({ AWS_ENDPOINT_URL_SSM: url }), {}],
    [
      "a reference",
      (url: string) => ({ AWS_ENDPOINT_URL_SSM: url, BRIDGE_ADMIN_API_KEY: ADMIN_KEY }),
      { admin_api_key_param: "" },
    ],
  ])("SSM, asked for %s", async (what, env, more) => {
    using service = await silence();
    const text = INSIDE.replace("{channel: out}", "{channel: '${ssm:/out}'}");
    const path = site.write(`${what.replace(" ", "-")}.yaml`, text);
    await using instance = site.run(site.bootstrap({ config_file_path: path, ...more }), [], env(service.url));
    await service.asked;
    expect(await ended(instance, "SIGTERM")).toEqual(CLEAN);
  });

  test("at any moment once it takes signals, which is before its program is loaded", { timeout: 300_000 }, async () => {
    const path = site.write("any.yaml", INSIDE);
    for (const [index, ms] of [0, 2, 20, 100, 400, 1_000].entries()) {
      await using instance = site.run(site.bootstrap({ config_file_path: path }));
      await instance.takesSignals();
      await delay(ms * (0.5 + Math.random()));
      expect(await ended(instance, SIGNALS[index % 2] ?? "SIGTERM")).toEqual(CLEAN);
    }
  });
});
