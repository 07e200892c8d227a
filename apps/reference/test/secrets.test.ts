import { afterAll, describe, expect, test } from "vitest";
import { probe } from "./support/ask.ts";
import { Folder } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const CANARIES = ["canary-in-the-environment", "canary-in-a-file-0123456", "canary-in-clear-01234567"] as const;
const [inEnvironment, inFile, inClear] = CANARIES;

folder.write("key.txt", `${inFile}\n`);

const document = (level: string, addr: string): string => `
bridge: {id: test, log_level: ${level}}
http: {admin_addr: "${addr}", monitor_addr: "127.0.0.1:0", admin_api_key: "\${env:ADMIN}", monitor_api_key: "\${file:key.txt}"}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", api_key: ${inClear}}}]
senders: [{id: out, transport: http, options: {url: "http://127.0.0.1:1", bearer: "\${env:ADMIN}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]
`;

const output = (bridge: { stdout: string; stderr: string }): string => bridge.stdout + bridge.stderr;

function expectNoCanary(text: string): void {
  for (const canary of CANARIES) expect(text).not.toContain(canary);
}

describe("contract 7: secrets are resolved and never shown", () => {
  test("by a bridge that runs at the most talkative level", async () => {
    folder.write("runs.yaml", document("debug", "127.0.0.1:0"));
    await using bridge = folder.run(["-config", "runs.yaml"], { ADMIN: inEnvironment });
    const [admin, monitor] = [await bridge.url("admin"), await bridge.url("monitor")];
    await bridge.logged("bridge started");
    await probe(monitor, "health");
    const status = async (url: string, key: string): Promise<number> =>
      (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status(`${admin}/api/v1/admin/bridge`, inEnvironment)).toBe(200);
    expect(await status(`${admin}/api/v1/admin/bridge`, inFile)).toBe(401);
    expect(await status(`${monitor}/api/v1/monitor/topology`, inFile)).toBe(200);
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
    expect(bridge.log.some((line) => line.level === "debug")).toBe(true);
    expectNoCanary(output(bridge));
  });

  test.each([["-validate"], ["-start-empty"]])("by %s on a document with problems at the secrets", async (flag) => {
    folder.write("key.txt", `${inFile}\n`);
    folder.write(
      "refused.yaml",
      document("info", "nonsense").replace("bearer:", `api_key: [${inClear}], bearer: x, no_such_option:`),
    );
    await using bridge = folder.run([flag, "-config", "refused.yaml"], { ADMIN: inEnvironment });
    expect(await bridge.ended).toBe(1);
    expect(output(bridge)).toContain("no_such_option");
    expectNoCanary(output(bridge));
  });

  test("a reference to nothing names what is missing", async () => {
    folder.write("unset.yaml", document("info", "127.0.0.1:0").replace("key.txt", "nowhere.txt"));
    await using bridge = folder.run(["-validate", "-config", "unset.yaml"]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.stderr).toMatch(/unset\.yaml:3:\d+ http\.admin_api_key: .*ADMIN/);
    expect(bridge.stderr).toMatch(/unset\.yaml:3:\d+ http\.monitor_api_key: .*nowhere\.txt/);
    expectNoCanary(output(bridge));
  });

  test("a file that is no YAML is refused without its text", async () => {
    folder.write("broken.yaml", `http: {admin_api_key: "${inClear}\nbridge: [\n`);
    await using bridge = folder.run(["-config", "broken.yaml"]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.stderr).toMatch(/broken\.yaml:\d+:\d+/);
    expectNoCanary(output(bridge));
  });
});
