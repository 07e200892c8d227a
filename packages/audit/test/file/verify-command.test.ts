import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bridgeAudit } from "../../src/file/verify-command.ts";
import { event, files, openSink, scratch, writeAll } from "./support/scratch.ts";

const KEY = "a-key-of-the-operator-0123456789abcdef";

async function run(...args: readonly string[]) {
  let out = "";
  let err = "";
  const code = await bridgeAudit(args, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

describe("bridge-audit verify", () => {
  test("0: names the files, their records and the head", async () => {
    using folder = scratch();
    await writeAll(
      folder.path,
      Array.from({ length: 40 }, (_, n) => `${n}`),
      { maxBytes: 4096 },
    );
    const all = files(folder.folder);
    const { code, out, err } = await run("verify", ...all.toReversed());
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n")[0]).toBe(`${all[0]}: records 1 to ${Number(all[0]?.split(".").at(-1))}`);
    const [, head = ""] = /^ok: 40 records, head ([0-9a-f]{64})$/m.exec(out) ?? [];
    for (const flag of [["-head", head], ["--head", head], [`-head=${head}`]])
      expect(await run("verify", ...flag, ...all)).toMatchObject({ code: 0 });
    expect(await run("verify", "-head", "f".repeat(64), ...all)).toMatchObject({
      code: 1,
      out: /BREAK .*tail was cut/,
    });
  });

  test("1: prints the first break, with file and line", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a", "b", "c"]);
    writeFileSync(folder.path, readFileSync(folder.path, "utf8").replace("alice", "alicf"));
    expect(await run("verify", folder.path)).toMatchObject({
      code: 1,
      out: expect.stringContaining(`BREAK ${folder.path}:1: record 1 was changed`) as string,
    });
  });

  test("finding 5.2: says how many calls have no records of their own", async () => {
    using folder = scratch();
    const detail = { merged: 230, actions: { "dlq.list": 200, "config.read": 30 }, client_addr: "" };
    {
      await using sink = await openSink(folder.path);
      await sink.write({ ...event("a", "audit.merged"), detail });
    }
    expect(await run("verify", folder.path)).toMatchObject({
      code: 0,
      out: /:1: record 1 stands for 230 calls that changed nothing: 200 dlq\.list, 30 config\.read\n/,
    });
  });

  test("takes the key of HMACs from a file, and never shows it", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a"], { hmacKey: KEY });
    const key = join(folder.folder, "key");
    writeFileSync(key, `${KEY}\n`);
    const told = await run("verify", "-key-file", key, folder.path);
    expect(told.code).toBe(0);
    expect(told.out + told.err).not.toContain(KEY);
    expect(await run("verify", folder.path)).toMatchObject({ code: 1, out: /give the key with -key-file/ });
  });

  test("-keyed-from: where the key was set later, and from which record on", async () => {
    using folder = scratch();
    await writeAll(folder.path, ["a"]);
    await writeAll(folder.path, ["b"], { hmacKey: KEY });
    const key = join(folder.folder, "key");
    writeFileSync(key, KEY);
    const asked = ["verify", "-key-file", key] as const;
    expect(await run(...asked, folder.path)).toMatchObject({ code: 1, out: /record 1 has no HMAC.*-keyed-from/ });
    expect(await run(...asked, "-keyed-from", "2", folder.path)).toMatchObject({
      code: 0,
      out: /went on with record 2: the records before it have no HMAC/,
    });
  });

  test.each([
    [[], /^usage:/],
    [["check"], /unknown command "check"/],
    [["verify"], /no files were named/],
    [["verify", "-head", "abc", "x"], /-head takes the 64 hexadecimal digits/],
    [["verify", "-keyed-from", "0", "x"], /-keyed-from takes the number of a record/],
    [["verify", "-keyed-from", "2", "x"], /goes with -key-file/],
    [["verify", "-nonsense", "x"], /nonsense/],
    [["verify", "not-there.jsonl"], /not-there\.jsonl/],
  ])("2: %j", async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, out: "", err: message });
  });

  test("-help", async () => {
    expect(await run("-help")).toMatchObject({ code: 0, out: /^usage: bridge-audit verify/, err: "" });
  });
});
