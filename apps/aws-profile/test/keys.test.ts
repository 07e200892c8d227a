import { PATIENCE } from "@bridge/tooling/patience";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ADMIN_KEY, ADMIN_PARAM, ask, INSIDE, Site } from "./support/site.ts";

const MONITOR_ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:bridge/monitor-AbCdEf";

let site: Site;
beforeAll(async () => {
  site = await Site.open();
  site.write("bridge.yaml", INSIDE);
});
afterAll(() => site[Symbol.asyncDispose]());

const keyed = (key: string) => ({ key });

describe("keys from AWS", () => {
  test("are rotated without a restart, and a refresh that fails keeps the last good ones", async () => {
    site.secrets.secrets.set(MONITOR_ARN, "the-first-monitor-key");
    await using instance = site.run(
      site.bootstrap({ poll_interval: "100ms", monitor_api_key_param: MONITOR_ARN, metrics: "none" }),
    );
    await instance.logged("bridge started");
    expect(await ask(instance, "admin", "bridge")).toMatchObject({ status: 200 });
    expect(await ask(instance, "monitor", "topology", keyed("the-first-monitor-key"))).toMatchObject({ status: 200 });
    expect(await ask(instance, "admin", "bridge", keyed("the-first-monitor-key"))).toMatchObject({ status: 401 });

    // One key becomes several with names: those who use the old one have to move.
    const named = { alice: "the-key-of-alice-1", "ci.bot": "the-key-of-the-bot-1" };
    site.secrets.parameters.set(ADMIN_PARAM, { value: JSON.stringify(named) });
    site.secrets.secrets.set(MONITOR_ARN, "the-second-monitor-key");
    await vi.waitFor(
      async () => expect((await ask(instance, "admin", "bridge", keyed(named.alice))).status).toBe(200),
      PATIENCE,
    );
    expect((await ask(instance, "admin", "routes", keyed(named["ci.bot"]))).status).toBe(200);
    expect((await ask(instance, "admin", "bridge")).status).toBe(401);
    expect((await ask(instance, "monitor", "topology", keyed("the-second-monitor-key"))).status).toBe(200);
    expect(instance.log.filter(({ msg }) => msg === "audit").map((line) => line["actor"])).toContain("ci.bot");

    // Somebody stores what is no key; then the service is down.
    site.secrets.parameters.set(ADMIN_PARAM, { value: '{"alice": "canary-of-a-broken-map"' });
    const health = async () => (await ask(instance, "monitor", "deephealth", keyed(named.alice))).body["api_keys"];
    await vi.waitFor(
      async () =>
        expect(await health()).toMatchObject({ last_error: expect.stringContaining("begins with {") as string }),
      PATIENCE,
    );
    site.secrets.outage = { kind: "error", status: 400, type: "AccessDeniedException" };
    await vi.waitFor(
      async () =>
        expect(await health()).toMatchObject({ last_error: expect.stringContaining("access is denied") as string }),
      PATIENCE,
    );
    expect((await ask(instance, "admin", "bridge", keyed(named.alice))).status).toBe(200);
    const metrics = await fetch(`${await instance.url("monitor")}/api/v1/monitor/metrics`, {
      headers: { Authorization: `Bearer ${named.alice}` },
    });
    expect(await metrics.text()).toMatch(/^bridge_key_refresh_failures_total [1-9]/m);

    site.secrets.outage = undefined;
    site.secrets.parameters.set(ADMIN_PARAM, { value: ADMIN_KEY });
    await vi.waitFor(async () => expect((await ask(instance, "admin", "bridge")).status).toBe(200), PATIENCE);
    expect((await ask(instance, "monitor", "deephealth")).body["api_keys"]).not.toHaveProperty("last_error");
    instance.kill("SIGTERM");
    expect(await instance.ended).toBe(0);
    for (const secret of ["canary", ADMIN_KEY, ...Object.values(named), "monitor-key"])
      expect(instance.stderr).not.toContain(secret);
  });

  test("contract 3: come from the environment where the document names none", async () => {
    const keys = { BRIDGE_ADMIN_API_KEY: "the-key-of-the-environment", BRIDGE_MONITOR_API_KEY: "the-other-key-of-it" };
    await using instance = site.run(site.bootstrap({ admin_api_key_param: "" }), [], keys);
    await instance.logged("bridge started");
    expect((await ask(instance, "admin", "bridge", keyed(keys.BRIDGE_ADMIN_API_KEY))).status).toBe(200);
    const health = await ask(instance, "monitor", "deephealth", keyed(keys.BRIDGE_MONITOR_API_KEY));
    expect(health.body).not.toHaveProperty("api_keys");
  });

  test("without any there is a monitor server and no admin server", async () => {
    const { admin_addr: _, ...bootstrap } = site.bootstrap({ admin_api_key_param: "" });
    await using instance = site.run(bootstrap);
    await instance.logged("bridge started");
    expect(instance.stderr).toContain("no admin server");
    expect((await ask(instance, "monitor", "live")).status).toBe(200);
  });
});

describe("references to AWS in the configuration", () => {
  test("are resolved, never shown, and never written back", async () => {
    const arn = `${MONITOR_ARN}-receiver`;
    site.secrets.secrets.set(arn, "canary-of-the-receiver");
    site.secrets.parameters.set("/bridge/user", { value: "canary-of-the-sender", type: "String" });
    const path = site.write(
      "referring.yaml",
      `
bridge: {id: test}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", api_key: "\${secret:${arn}}"}}]
senders: [{id: out, transport: http, options: {url: "http://127.0.0.1:1", bearer: "\${ssm:/bridge/user}"}}]
bindings: [{id: to-out, sender_id: out, address: "/\${ssm:/bridge/user}"}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]
`,
    );
    await using instance = site.run(site.bootstrap({ config_file_path: path }));
    const { port } = await instance.logged("HTTP receiver listens");
    await instance.logged("bridge started");
    const post = (key: string) =>
      fetch(`http://127.0.0.1:${String(port)}/ingest/in`, { method: "POST", body: "", headers: { "X-API-Key": key } });
    expect((await post("another-key-0123456789")).status).toBe(401);
    expect((await post("canary-of-the-receiver")).status).not.toBe(401);
    const shown = await ask(instance, "admin", "config");
    expect(shown.body).toMatchObject({ config: { bindings: [{ address: "[REDACTED]" }] } });

    const { txn_id: id } = (await ask(instance, "admin", "config/transactions", { method: "POST" })).body;
    const transaction = `config/transactions/${String(id)}`;
    const overlay = JSON.stringify({ bridge: { log_level: "debug" } });
    const headers = { "X-API-Key": ADMIN_KEY, "Content-Type": "application/json" };
    expect((await ask(instance, "admin", transaction, { method: "PATCH", body: overlay, headers })).status).toBe(200);
    expect((await ask(instance, "admin", `${transaction}/commit`, { method: "POST" })).status).toBe(200);
    expect(site.read("referring.yaml")).toContain(`api_key: "\${secret:${arn}}"`);
    expect(site.read("referring.yaml")).not.toContain("canary");
    instance.kill("SIGTERM");
    await instance.ended;
    expect(instance.stderr + instance.stdout + JSON.stringify(shown)).not.toContain("canary");
  });

  test("that fail are problems with their place, all at once", async () => {
    const failing = [
      ["${ssm:/none}", 'what ${ssm:…} names, "/none", cannot be read: there is no such parameter'],
      ["${ssm:no name}", "neither the name of an SSM parameter"],
      ["${secret:/name}", "it is not the ARN of a Secrets Manager secret"],
      [`\${ssm:${MONITOR_ARN}}`, "it is the ARN of a secret"],
      ["${ssm:/x", "is not closed"],
    ] as const;
    const receivers = failing.map(
      ([reference], index) => `\n  - {id: in-${index}, transport: memory, options: {channel: "${reference}"}}`,
    );
    const path = site.write(
      "failing.yaml",
      INSIDE.replace(/receivers: .*/, () => `receivers:${receivers.join("")}`),
    );
    await using instance = site.run(site.bootstrap({ config_file_path: path }), ["-validate"]);
    expect(await instance.ended).toBe(1);
    for (const [index, [, problem]] of failing.entries()) {
      const line = instance.stderr.split("\n").find((each) => each.includes(`receivers[${index}].options.channel: `));
      expect(line).toMatch(new RegExp(`failing\\.yaml:${index + 4}:\\d+ `));
      expect(line).toContain(problem);
    }
  });
});
