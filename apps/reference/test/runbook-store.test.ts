import { execFile } from "node:child_process";
import { chmodSync, chownSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { env, getuid, execPath } from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { BINARY } from "./support/binary.ts";
import { INSIDE } from "./support/documents.ts";
import { ADMIN_KEY } from "./support/folder.ts";
import { NOBODY, NobodysFolder } from "./support/unusable-places.ts";

const RUNBOOK = new URL("../../../docs/runbooks/store-not-writable.md", import.meta.url);
const commands = [...readFileSync(RUNBOOK, "utf8").matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);

test.skipIf(getuid?.() !== 0)(
  "each command of the runbook runs, and tells what it is said to (needs root)",
  async () => {
    using folder = new NobodysFolder();
    const file = join(folder.own("data"), "dlq.db");
    const programs = folder.own("bin");
    writeFileSync(join(programs, "bridge"), `#!/bin/sh\nexec "${execPath}" "${BINARY}" "$@"\n`);
    chmodSync(join(programs, "bridge"), 0o755);
    const audit = join(folder.own("audit"), "audit.jsonl");
    const config = folder.write(
      "bridge.yaml",
      `${INSIDE}stores: {dlq: {type: file, options: {path: ${file}}}}\naudit: {file: {path: ${audit}}}\n`,
    );
    writeFileSync(
      file,
      Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(52), Buffer.from("BrDQ"), Buffer.alloc(60)]),
    );
    chownSync(file, NOBODY, NOBODY);
    await using bridge = folder.run();
    await bridge.logged("bridge started");
    const run = async (script: string): Promise<string> => {
      const { stdout } = await promisify(execFile)("/bin/sh", ["-e", "-c", script], {
        env: {
          ...env,
          PATH: `${programs}:${env["PATH"] ?? ""}`,
          A: `${await bridge.url("admin")}/api/v1/admin`,
          M: `${await bridge.url("monitor")}/api/v1/monitor`,
          K: `X-API-Key: ${ADMIN_KEY}`,
          FILE: file,
          CONFIG: config,
          OWNER: "nobody",
        },
      });
      return stdout;
    };
    const said: string[] = [];
    for (const each of commands) {
      // What an operator finds who started the bridge as root.
      if (each.startsWith("chown")) chownSync(dirname(file), 0, 0);
      said.push(await run(each));
    }
    expect(said).toEqual([
      expect.stringMatching(/"role": "dlq".*"set_aside": \[\s+".*dlq\.db\.damaged-/s),
      expect.stringContaining("dlq.db-lock"),
      expect.stringContaining(`${config}: valid\n`),
      expect.stringContaining("dlq.db.damaged-"),
      expect.stringContaining('"ok": true'),
      expect.stringMatching(/bridge_store_set_aside_files\{.*\} 0\n/),
    ]);
  },
);
