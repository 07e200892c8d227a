import { rows } from "@bridge/tooling/long";
import { chownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { getuid } from "node:process";
import { describe, expect, test } from "vitest";
import { ask } from "./support/ask.ts";
import { INSIDE } from "./support/documents.ts";
import { ADMIN_KEY } from "./support/folder.ts";
import { NOBODY, NobodysFolder } from "./support/unusable-places.ts";

const DOCUMENT = `${INSIDE}stores:
  outbox: {type: file, options: {path: data/outbox/outbox.db}}
  dlq: {type: file, options: {path: data/dlq/dlq.db}}
audit: {log: false, file: {path: data/audit/audit.jsonl}}
`;
const UMASKS = ["000", "022", "027", "077", "177", "277", "377", "477", "577", "677", "777"];

/** Below `folder`: each file and folder with its mode. */
function modesBelow(folder: string): readonly (readonly [path: string, mode: string])[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => {
    const kind = statSync(join(folder, name));
    return [name, (kind.mode & 0o777).toString(8) + (kind.isDirectory() ? "/" : "")];
  });
}

describe.skipIf(getuid?.() !== 0).concurrent("whatever the umask is (needs root)", { timeout: 120_000 }, () => {
  test.for(rows(UMASKS, (umask) => ["000", "377", "777"].includes(umask)))(
    "%s: files are made for their owner, who can use them, now and after a restart",
    async (umask) => {
      using folder = new NobodysFolder();
      folder.own("data");
      chownSync(folder.path, NOBODY, NOBODY);
      chownSync(folder.write("bridge.yaml", DOCUMENT), NOBODY, NOBODY);
      for (let starts = 0; starts < 2; starts++) {
        await using bridge = folder.run([], {}, umask);
        await bridge.logged("bridge started");
        const transactions = `${await bridge.url("admin")}/api/v1/admin/config/transactions`;
        const call = (path: string, method: string, body: object) =>
          ask(transactions + path, { method, headers: { "X-API-Key": ADMIN_KEY }, body: JSON.stringify(body) });
        const { txn_id: id } = (await call("", "POST", {})).body as { readonly txn_id: string };
        await call(`/${id}`, "PATCH", { bridge: { log_level: starts === 0 ? "debug" : "info" } });
        expect(await call(`/${id}/commit`, "POST", {})).toMatchObject({ status: 200 });
        bridge.kill("SIGTERM");
        expect(await bridge.ended).toBe(0);
        expect(bridge.log.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
      }
      const made = modesBelow(folder.path).filter(([name]) => !["data", "bridge.yaml"].includes(name));
      expect(made.map(([name]) => name)).toEqual(
        expect.arrayContaining(["bridge.yaml.history.jsonl", "bridge.yaml-lock", join("data", "outbox", "outbox.db")]),
      );
      expect(made.filter(([, mode]) => mode !== "600" && mode !== "700/")).toEqual([]);
    },
  );
});
