import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, INSIDE, Site } from "./support/site.ts";

let site: Site;
beforeAll(async () => void (site = await Site.open()));
afterAll(() => site[Symbol.asyncDispose]());

/** A route from a listener to a web service that takes requests and never answers. */
async function held() {
  const target = createServer().listen(0, "127.0.0.1");
  await once(target, "listening");
  const { port } = target.address() as AddressInfo;
  const document = (bridge = ""): string => `
bridge: {id: test${bridge}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0"}}]
senders: [{id: out, transport: http, options: {url: "http://127.0.0.1:${port}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]
`;
  return {
    document,
    called: once(target, "request"),
    [Symbol.dispose]() {
      target.close();
      target.closeAllConnections();
    },
  };
}

async function inFlight(bridge: string, name: string) {
  const target = await held();
  const path = site.write(name, target.document(bridge));
  const instance = site.run(site.bootstrap({ config_file_path: path }));
  const { port } = await instance.logged("HTTP receiver listens");
  await instance.logged("bridge started");
  fetch(`http://127.0.0.1:${String(port)}/ingest/in`, { method: "POST", body: "hello" }).catch(() => {});
  await target.called;
  return { target, instance };
}

describe("spec 3.4: exit codes of the AWS profile", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("0: a clean shutdown by %s", async (signal) => {
    const path = site.write("inside.yaml", INSIDE);
    await using instance = site.run(site.bootstrap({ config_file_path: path }));
    await instance.logged("bridge started");
    instance.kill(signal);
    expect(await instance.ended).toBe(0);
    expect(instance.log.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("0: a missing configuration starts empty", async () => {
    await using instance = site.run(site.bootstrap({ config_file_path: "nowhere/bridge.yaml" }));
    expect(await instance.logged("bridge started")).toMatchObject({ routes: 0 });
    expect(await ask(instance, "monitor", "deephealth")).toMatchObject({ status: 503, body: { empty: true } });
    instance.kill("SIGTERM");
    expect(await instance.ended).toBe(0);
  });

  test.each([
    ["is not there", {}, "the environment: no bootstrap document"],
    ["lacks a key", { BRIDGE_BOOTSTRAP_JSON: '{"bridge_id":"x"}' }, "config_source"],
  ])("1: a bootstrap document that %s", async (_, env, problem) => {
    await using instance = site.runIn(env);
    expect(await instance.ended).toBe(1);
    expect((await instance.logged("bootstrap document refused"))["problem"]).toContain(problem);
    expect(instance.stdout).toBe("");
  });

  test.each([
    ["/none", {}, 'admin_api_key_param: "/none": there is no such parameter'],
    ["", {}, "admin_addr: the admin server has no key"],
    ["/any", { AWS_REGION: "" }, 'admin_api_key_param: "/any": no usable AWS region is configured: set AWS_REGION'],
  ])("1: without a key (%j %j)", async (name, env, error) => {
    await using instance = site.run(site.bootstrap({ admin_api_key_param: name }), [], env);
    expect(await instance.ended).toBe(1);
    expect((await instance.logged("the bridge cannot start"))["error"]).toContain(error);
  });

  test("1: a configuration that is not valid", async () => {
    const path = site.write("invalid.yaml", `${INSIDE}\nspeed: 1\n`);
    await using instance = site.run(site.bootstrap({ config_file_path: path }));
    expect(await instance.ended).toBe(1);
    expect((await instance.logged("configuration refused"))["problem"]).toMatch(/invalid\.yaml:\d+:\d+ speed: /);
  });

  test("1: a port that is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    await using instance = site.run(site.bootstrap({ monitor_addr: `127.0.0.1:${port}` }));
    expect(await instance.ended).toBe(1);
    expect((await instance.logged("the bridge cannot start"))["error"]).toContain("EADDRINUSE");
    taken.close();
  });

  test("1: a drain that overran, with the whole budget spent once", async () => {
    const { target, instance } = await inFlight(", shutdown_timeout: 300ms", "overrun.yaml");
    using _ = target;
    await using process = instance;
    process.kill("SIGTERM");
    expect(await process.ended).toBe(1);
    expect((await process.logged("the bridge did not stop cleanly"))["error"]).toBe("still stopping after 300 ms");
  });

  test("2: a second signal", async () => {
    const { target, instance } = await inFlight("", "twice.yaml");
    using _ = target;
    await using process = instance;
    process.kill("SIGTERM");
    await process.logged("shutting down");
    process.kill("SIGINT");
    expect(await process.ended).toBe(2);
  });

  test.each([
    [["-no-such-flag"], "unknown flag -no-such-flag"],
    [["-config", "bridge.yaml"], "unknown flag -config"],
    [["-validate", "-healthcheck"], "-healthcheck and -validate do not go together"],
  ])("2: %j is a usage error", async (args, message) => {
    await using instance = site.run(site.bootstrap(), args);
    expect(await instance.ended).toBe(2);
    expect(instance.stderr).toContain(`bridge-aws: ${message}\n\nusage: bridge-aws [flags]\n`);
    expect(instance.stdout).toBe("");
  });

  test("0: -version and -help, without any bootstrap document", async () => {
    await using version = site.runIn({}, ["-version"]);
    await using help = site.runIn({}, ["--help"]);
    expect(await version.ended).toBe(0);
    expect(version.stdout).toMatch(/^bridge-aws \d+\.\d+\.\d+\n$/);
    expect(await help.ended).toBe(0);
    expect(help.stdout).toContain("BRIDGE_BOOTSTRAP_JSON");
    for (const flag of ["-healthcheck", "-validate", "-create-tables"]) expect(help.stdout).toContain(flag);
  });
});

describe("contract 7: -validate", () => {
  test("0: nothing is wrong, and what does not count here is told", async () => {
    const path = site.write("valid.yaml", `${INSIDE}\nhttp: {admin_addr: ":1"}\n`);
    await using instance = site.run(site.bootstrap({ config_file_path: path, bridge_id: "other" }), ["-validate"]);
    expect(await instance.ended).toBe(0);
    expect(instance.stdout).toBe(`${path}: valid\n`);
    expect(instance.stderr).toContain('warning: bridge.id: is "test" here; this process is of the bridge "other"');
    expect(instance.stderr).toContain("warning: http: means nothing here");
  });

  test("1: each problem has its line, and those of the bootstrap document their path", async () => {
    const path = site.write("problems.yaml", "bridge: {id: test, speed: 1}\nroutes: 3\n");
    await using invalid = site.run(site.bootstrap({ config_file_path: path }), ["-validate"]);
    expect(await invalid.ended).toBe(1);
    expect(invalid.stderr).toMatch(/problems\.yaml:1:20 bridge\.speed: .*\n.*problems\.yaml:2:1 routes: /);
    await using refused = site.run(site.bootstrap({ speed: 1 }), ["-validate"]);
    expect(await refused.ended).toBe(1);
    expect(refused.stderr).toContain("BRIDGE_BOOTSTRAP_JSON: speed: unknown key");
    await using missing = site.run(site.bootstrap({ config_file_path: "none.yaml" }), ["-validate"]);
    expect(await missing.ended).toBe(1);
    expect(missing.stderr).toBe("none.yaml: there is no such file\n");
  });
});
