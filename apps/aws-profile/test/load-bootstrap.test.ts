import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { loadBootstrap } from "../src/bootstrap/load-bootstrap.ts";

const folder = mkdtempSync(join(tmpdir(), "bridge-bootstrap-"));
const [PIPE, HUGE] = [join(folder, "pipe"), join(folder, "huge")];
execFileSync("sh", ["-c", `mkfifo "$0"`, PIPE]);
writeFileSync(HUGE, "");
truncateSync(HUGE, 2 ** 30);
afterAll(() => rmSync(folder, { recursive: true }));

const MINIMAL = { bridge_id: "plant-7", config_source: "file", config_file_path: "bridge.yaml" };
const of = (document: unknown) => loadBootstrap({ BRIDGE_BOOTSTRAP_JSON: JSON.stringify(document) });

async function problems(document: unknown): Promise<readonly string[]> {
  const loaded = await of(document);
  return loaded.ok ? [] : loaded.problems;
}

describe("contract 7: the bootstrap document", () => {
  test("has defaults for all but who it is and where the configuration is", async () => {
    expect(await of(MINIMAL)).toEqual({
      ok: true,
      bootstrap: {
        bridgeId: "plant-7",
        instanceId: undefined,
        configSource: { kind: "file", path: "bridge.yaml" },
        pollIntervalMs: 30_000,
        adminKeyParam: undefined,
        monitorKeyParam: undefined,
        listeners: {
          adminAddr: ":8080",
          monitorAddr: ":8081",
          corsOrigins: [],
          tlsCertFile: "",
          tlsKeyFile: "",
          sessions: { idleMs: 3_600_000, maxMs: 43_200_000, trustForwardedProto: false },
        },
        wantsAdmin: false,
        metrics: { namespace: "Bridge", intervalMs: 60_000 },
      },
    });
  });

  test("says everything else too", async () => {
    const document = {
      bridge_id: "plant-7",
      instance_id: "plant-7-a",
      config_source: "dynamodb",
      config_table: "bridge-config",
      poll_interval: "5s",
      admin_api_key_param: "/bridge/admin-key",
      monitor_api_key_param: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:bridge-AbCdEf",
      admin_addr: "127.0.0.1:1",
      monitor_addr: "[::1]:2",
      cors_origins: "https://ops.example.com",
      tls_cert_file: "/run/tls.crt",
      tls_key_file: "/run/tls.key",
      metrics: "none",
    };
    expect(await of(document)).toMatchObject({
      ok: true,
      bootstrap: {
        instanceId: "plant-7-a",
        configSource: { kind: "dynamodb", tableName: "bridge-config" },
        pollIntervalMs: 5_000,
        adminKeyParam: "/bridge/admin-key",
        listeners: { adminAddr: "127.0.0.1:1", corsOrigins: ["https://ops.example.com"], tlsKeyFile: "/run/tls.key" },
        wantsAdmin: true,
        metrics: undefined,
      },
    });
  });

  test("is read from a file as well", async () => {
    const file = join(folder, "bootstrap.json");
    writeFileSync(file, JSON.stringify(MINIMAL));
    expect(await loadBootstrap({ BRIDGE_BOOTSTRAP_FILE: file })).toMatchObject({ ok: true });
    expect(await loadBootstrap({ BRIDGE_BOOTSTRAP_FILE: file, BRIDGE_BOOTSTRAP_JSON: "" })).toMatchObject({ ok: true });
  });

  test("is strict, and tells every problem at once with its path", async () => {
    const document = {
      bridge_id: "plant 7",
      config_source: "file",
      config_table: "bridge-config",
      poll_intervall: "5s",
      poll_interval: 5,
      admin_addr: "8080",
      admin_api_key_param: "a key",
      cors_origins: "*",
      tls_cert_file: "/run/tls.crt",
      metrics: "none",
      metrics_namespace: "AWS/SQS",
    };
    const found = await problems(document);
    for (const part of [
      "bridge_id: an id consists of",
      'poll_intervall: unknown key; did you mean "poll_interval"?',
      "poll_interval: a duration is a string with a unit",
      "admin_addr: not an address",
      "admin_api_key_param: expected the name of an SSM parameter",
      'cors_origins: the wildcard "*" is not allowed',
      "metrics_namespace: a namespace has",
      'config_file_path: is required because config_source is "file"',
      'config_table: means nothing, because config_source is "file": remove it',
      "tls_key_file: is required because tls_cert_file is given",
      'metrics_namespace: means nothing, because metrics is "none": remove it',
    ])
      expect(found).toContainEqual(expect.stringContaining(`BRIDGE_BOOTSTRAP_JSON: ${part}`));
    expect(found).toHaveLength(11);
  });

  test.each([
    [{ ...MINIMAL, config_source: "s3" }, "config_source: expected one of file, dynamodb"],
    [{ ...MINIMAL, config_source: "dynamodb", config_file_path: "" }, "config_table: is required because"],
    [{ ...MINIMAL, poll_interval: "0s" }, "poll_interval: must be longer than 0s"],
    [{ ...MINIMAL, bridge_id: null }, "bridge_id"],
    ["text", "expected"],
    [[], "expected"],
    [null, "must not be null"],
  ])("%j is refused", async (document, problem) => {
    expect(await problems(document)).toContainEqual(expect.stringContaining(problem));
  });

  const meeting = "monitor_addr: admin_addr listens on this address already: give each an address of its own";

  test.each([
    { admin_addr: "127.0.0.1:9", monitor_addr: "127.0.0.1:9" },
    { admin_addr: ":9", monitor_addr: "127.0.0.1:9" },
    { admin_addr: "[::1]:9", monitor_addr: "localhost:9" },
    { admin_addr: ":8081" },
    { admin_api_key_param: "/bridge/key", monitor_addr: ":8080" },
  ])("one address for both servers is refused: %j", async (addresses) => {
    expect(await problems({ ...MINIMAL, ...addresses })).toEqual([`BRIDGE_BOOTSTRAP_JSON: ${meeting}`]);
  });

  test.each([
    { admin_addr: ":0", monitor_addr: ":0" },
    { admin_addr: "127.0.0.1:9", monitor_addr: "127.0.0.2:9" },
    // Without an admin key there is no admin server.
    { monitor_addr: ":8080" },
  ])("addresses that can be had both at once are taken: %j", async (addresses) => {
    const document = JSON.stringify({ ...MINIMAL, ...addresses });
    expect(await loadBootstrap({ BRIDGE_BOOTSTRAP_JSON: document })).toMatchObject({ ok: true });
  });

  test("that is no JSON is refused without a word of it", async () => {
    const loaded = await loadBootstrap({ BRIDGE_BOOTSTRAP_JSON: '{"bridge_id": canary' });
    expect(loaded).toEqual({ ok: false, problems: ["BRIDGE_BOOTSTRAP_JSON: the bootstrap document is not JSON"] });
  });

  test("that has a key twice is refused, because the parser would take the last one", async () => {
    const loaded = await loadBootstrap({ BRIDGE_BOOTSTRAP_JSON: '{"bridge_id": "p", "bridge_id": "q"}' });
    const twice = ['BRIDGE_BOOTSTRAP_JSON: the key "bridge_id" is there twice: remove one of them'];
    expect(loaded).toEqual({ ok: false, problems: twice });
  });

  test.each([
    [{}, "the environment: no bootstrap document: set BRIDGE_BOOTSTRAP_JSON or BRIDGE_BOOTSTRAP_FILE"],
    [
      { BRIDGE_BOOTSTRAP_JSON: "{}", BRIDGE_BOOTSTRAP_FILE: "x" },
      "the environment: BRIDGE_BOOTSTRAP_JSON and BRIDGE_BOOTSTRAP_FILE are both set: set one",
    ],
    [{ BRIDGE_BOOTSTRAP_FILE: "/none.json" }, "/none.json: the bootstrap document cannot be read (ENOENT)"],
    [{ BRIDGE_BOOTSTRAP_FILE: "/" }, "/: the bootstrap document cannot be read: it is no file"],
    [{ BRIDGE_BOOTSTRAP_FILE: "/dev/zero" }, "/dev/zero: the bootstrap document cannot be read: it is no file"],
    [{ BRIDGE_BOOTSTRAP_FILE: PIPE }, `${PIPE}: the bootstrap document cannot be read: it is no file`],
    [{ BRIDGE_BOOTSTRAP_FILE: HUGE }, `${HUGE}: the bootstrap document cannot be read: it has more than 65536 bytes`],
  ])("%j", async (env, problem) => {
    expect(await loadBootstrap(env)).toEqual({ ok: false, problems: [problem] });
  });
});
