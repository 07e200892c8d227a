import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { ask } from "./support/ask.ts";
import { INSIDE } from "./support/documents.ts";
import { Folder } from "./support/folder.ts";
import { WebService } from "./support/web-service.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const COMMAND = fileURLToPath(new URL("../dist/bridge-audit.js", import.meta.url));
const KEY = "an-hmac-key-for-tests-0123456789abcdef";

interface Event {
  readonly action: string;
  readonly outcome: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

function document(name: string, file = ""): string {
  return `${INSIDE}audit: {log: false, file: {path: ${name}.jsonl${file}}}\n`;
}

function eventsIn(name: string): readonly Event[] {
  const text = readFileSync(join(folder.path, `${name}.jsonl`), "utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Event);
}

function verify(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, "verify", ...args], { cwd: folder.path }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

describe("contract 6: the audit file of a bridge", () => {
  test("has every change when it is answered, verifies, and a byte that somebody changes is found", async () => {
    folder.write("bridge.yaml", document("audit"));
    await using bridge = folder.run();
    const admin = `${await bridge.url("admin")}/api/v1/admin`;
    await ask(`${admin}/bridge`);
    await ask(`${admin}/bridge/stop`, { method: "POST" });
    expect(eventsIn("audit").map(({ action }) => action)).toEqual([
      "bridge.status",
      "bridge.stop.begin",
      "bridge.stop",
    ]);
    await ask(`${admin}/routes/nothing/inject`, { method: "POST", body: "{}" });
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);

    expect(bridge.log.some(({ msg }) => msg === "audit")).toBe(false);
    const head = String(bridge.log.findLast(({ msg }) => msg === "audit head")?.["head"]);
    expect(await verify("-head", head, "audit.jsonl-lock", "audit.jsonl")).toEqual({
      code: 0,
      said: `audit.jsonl: records 1 to 4\naudit.jsonl-lock: no records\nok: 4 records, head ${head}\n`,
    });
    const path = join(folder.path, "audit.jsonl");
    writeFileSync(path, readFileSync(path, "utf8").replace("bridge.stop.begin", "bridge.stoq.begin"));
    expect(await verify("audit.jsonl")).toMatchObject({
      code: 1,
      said: /^BREAK audit\.jsonl:2: record 2 was changed/m,
    });
  });

  test("a crash in the middle of a change leaves what had begun, and the next start goes on", async () => {
    await using target = await WebService.open();
    const inside = INSIDE.replace(
      /senders: .*/,
      `senders: [{id: out, transport: http, options: {url: "${target.url}"}}]`,
    );
    folder.write("crash.yaml", `${inside}audit: {file: {path: crash.jsonl, hmac_key: "\${env:AUDIT_KEY}"}}\n`);
    const run = () => folder.run(["-config", "crash.yaml"], { AUDIT_KEY: KEY });
    {
      await using bridge = run();
      const url = `${await bridge.url("admin")}/api/v1/admin/routes/only/inject`;
      await bridge.logged("bridge started");
      const answered = ask(url, { method: "POST", body: JSON.stringify({ subject: "s" }) });
      answered.catch(() => {});
      await target.called;
      bridge.kill("SIGKILL");
      await expect(answered).rejects.toThrow("fetch failed");
    }
    expect(eventsIn("crash").map(({ action, outcome }) => [action, outcome])).toEqual([
      ["route.inject.begin", "pending"],
    ]);
    await using bridge = run();
    await ask(`${await bridge.url("admin")}/api/v1/admin/bridge`);
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
    folder.write("key", `${KEY}\n`);
    expect(await verify("-key-file", "key", "crash.jsonl")).toMatchObject({ code: 0, said: /records 1 to 2/ });
    expect(bridge.stderr + readFileSync(join(folder.path, "crash.jsonl"), "utf8")).not.toContain(KEY);
  });

  test("a second bridge on the same file does not start, and names it", async () => {
    folder.write("taken.yaml", document("taken"));
    await using first = folder.run(["-config", "taken.yaml"]);
    await first.logged("bridge started");
    await using second = folder.run(["-config", "taken.yaml"]);
    expect(await second.ended).toBe(1);
    expect(second.log.at(-1)?.["error"]).toMatch(/audit\.file\.path.*taken\.jsonl is in use/);
  });
});
