import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plugins } from "@bridge/config";
import { memory } from "@bridge/transport-memory";
import { afterAll, describe, expect, test } from "vitest";
import { runBridge } from "../src/index.ts";
import { StandIn } from "./stand-in.ts";

const folder = mkdtempSync(join(tmpdir(), "bridge-try-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = join(folder, "bridge.yaml");
writeFileSync(
  file,
  `
bridge: {id: test}
receivers: [{id: in, transport: memory, options: {channel: in}}]
senders: [{id: out, transport: memory}]
bindings:
  - {id: alarms, sender_id: out, address: "alarms/{device}"}
  - {id: rest, sender_id: out, address: rest}
routes:
  - id: only
    receiver_id: in
    resolver:
      type: rules
      rules: [{when: {field: subject, op: prefix, value: alarm/}, binding: alarms}]
      default_binding: rest
    bindings: [alarms, rest]
    policy: {on_permanent_failure: drop, on_expired: drop}
`,
);
const plugins: Plugins = { transports: [memory()] };

async function tried(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const host = new StandIn({ args: ["-try", file, ...args], input: "secret-payload" });
  const code = await runBridge({ program: { name: "bridge", version: "1.2.3" }, plugins }, host.process);
  return { code, stdout: host.stdout.text, stderr: host.stderr.text };
}

describe("-try: what a route would do with a message", () => {
  test("prints the binding chosen and its address, sends nothing, and never shows the payload", async () => {
    const { code, stdout } = await tried("-route", "only", "-subject", "alarm/7", "-header", "device=7");
    expect(code).toBe(0);
    expect(stdout).toContain('received   subject "alarm/7", 14 bytes, headers device');
    expect(stdout).toContain("binding    alarms: alarms/7");
    expect(stdout).not.toContain("secret-payload");
  });

  test("says why a binding has no address, and exits 1", async () => {
    const { code, stdout } = await tried("-route", "only", "-subject", "alarm/7");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^binding {4}alarms: BINDING_UNRESOLVED: .*"device"/m);
  });

  test("an unknown route is named, with those there are", async () => {
    const { code, stderr } = await tried("-route", "other");
    expect(code).toBe(1);
    expect(stderr).toContain('has no route "other"; it has: only');
  });
});
