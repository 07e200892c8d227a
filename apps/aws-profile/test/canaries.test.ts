import { PATIENCE } from "@bridge/tooling/patience";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ADMIN_PARAM, ask, Site } from "./support/site.ts";
import { CONFIG_TABLE, type Tables, tablesFor } from "./support/tables.ts";

const canary = (place: string): string => `canary-${place}-0123456789`;
const MONITOR_ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:bridge/monitor-AbCdEf";
const KEYS = { alice: canary("alice"), "ci.bot": canary("bot") };

let site: Site;
let tables: Tables;
beforeAll(async () => {
  site = await Site.open();
  tables = await tablesFor(site);
});
afterAll(async () => {
  await tables[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

test("quality 4: keys and secrets from AWS are seen in no output, view, table or error", async () => {
  const { parameters, secrets } = site.secrets;
  parameters.set(ADMIN_PARAM, { value: JSON.stringify(KEYS) });
  parameters.set("/bridge/receiver", { value: canary("receiver") });
  secrets.set(MONITOR_ARN, canary("monitor"));
  site.env["AWS_SECRET_ACCESS_KEY"] = canary("aws-secret");
  const bootstrap = site.bootstrap({
    config_source: "dynamodb",
    config_file_path: "",
    config_table: CONFIG_TABLE,
    monitor_api_key_param: MONITOR_ARN,
    poll_interval: "50ms",
    metrics_interval: "50ms",
  });
  const seen: string[] = [];
  const once = async (args: readonly string[]): Promise<void> => {
    await using process = site.run(bootstrap, args);
    await process.ended;
    seen.push(process.stdout, process.stderr);
  };
  await once(["-create-tables"]);
  const document = (key: string) => ({
    bridge: { id: "test", log_level: "debug" },
    receivers: [{ id: "in", transport: "http", options: { addr: "127.0.0.1:0", api_key: key } }],
    senders: [{ id: "out", transport: "http", options: { url: "http://127.0.0.1:1" } }],
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
  await tables.putConfig("test", document("${ssm:/bridge/receiver}"));
  await once(["-validate"]);
  await using instance = site.run(bootstrap);
  await instance.logged("bridge started");
  const views = async (): Promise<void> => {
    for (const [server, path] of [
      ["monitor", "deephealth"],
      ["admin", "config"],
      ["admin", "bridge"],
    ] as const)
      seen.push(JSON.stringify(await ask(instance, server, path, { key: KEYS.alice })));
  };
  await views();
  seen.push(JSON.stringify(await ask(instance, "admin", "bridge", { key: canary("wrong-key") })));

  // What goes wrong with secrets is told, and nothing of them.
  const failing = async (fault: () => void): Promise<void> => {
    const before = (await ask(instance, "monitor", "deephealth", { key: KEYS.alice })).body["api_keys"];
    fault();
    const failures = async () =>
      ((await ask(instance, "monitor", "deephealth", { key: KEYS.alice })).body["api_keys"] as { failures: number })
        .failures;
    await vi.waitFor(
      async () => expect(await failures()).toBeGreaterThan((before as { failures: number }).failures),
      PATIENCE,
    );
    await views();
  };
  await failing(() => void (site.secrets.outage = { kind: "torn" }));
  site.secrets.outage = undefined;
  await failing(() => void parameters.set(ADMIN_PARAM, { value: `{"alice": "${canary("broken")}` }));
  await failing(() => void parameters.set(ADMIN_PARAM, { value: JSON.stringify({ [canary("name")]: "alice" }) }));
  await failing(() => void parameters.set(ADMIN_PARAM, { value: ` ${canary("blank")}` }));
  await tables.putConfig("test", document("${ssm:/none} and ${ssm:/bridge/receiver}"));
  await instance.logged("configuration refused");
  await once(["-validate"]);
  await views();
  instance.kill("SIGTERM");
  expect(await instance.ended).toBe(0);
  seen.push(instance.stdout, instance.stderr);
  // In base64 as well.
  const everything = seen.join("\n");
  expect(everything).toContain('"actor":"alice"');
  expect(everything).not.toContain("canary-");
  expect(everything).not.toContain(Buffer.from("canary-").toString("base64").slice(0, -2));
});
