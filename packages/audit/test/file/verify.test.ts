import { readFileSync, writeFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GENESIS, seal } from "../../src/file/record.ts";
import { verifyFiles, type VerifyOptions } from "../../src/file/verify.ts";
import { event, files, lines, scratch, writeAll } from "./support/scratch.ts";

const NAMES = Array.from({ length: 8 }, (_, n) => `n${n}`);
const KEY = "a-key-of-the-operator-0123456789abcdef";

/** What a change of the lines of a sound file of 8 records comes to. */
async function breakAfter(
  change: (whole: string[]) => readonly string[],
  { hmacKey, ...options }: VerifyOptions & { hmacKey?: string } = {},
) {
  using folder = scratch();
  await writeAll(folder.path, NAMES, { hmacKey });
  writeFileSync(
    folder.path,
    change([...lines(folder.path)])
      .map((line) => `${line}\n`)
      .join(""),
  );
  return (await verifyFiles([folder.path], options)).break;
}

describe("contract 6: verify finds", () => {
  test("an edited record", async () => {
    const found = await breakAfter((all) => all.map((line) => line.replace("n4", "n9")));
    expect(found).toMatchObject({ line: 5, message: "record 5 was changed: its hash is of other bytes" });
  });

  test("a dropped record, and several", async () => {
    expect((await breakAfter((all) => all.toSpliced(4, 1)))?.message).toBe("record 5 is missing");
    expect((await breakAfter((all) => all.toSpliced(4, 3)))?.message).toBe("records 5 to 7 are missing");
  });

  test("a reordered record, and one that is there twice", async () => {
    const swapped = await breakAfter((all) => [...all.slice(0, 3), all[4]!, all[3]!, ...all.slice(5)]);
    expect(swapped).toMatchObject({ line: 4, message: "record 4 is missing" });
    const twice = await breakAfter((all) => all.toSpliced(3, 0, all[2]!));
    expect(twice).toMatchObject({ line: 4, message: "record 3 stands behind record 3: out of order, or twice" });
  });

  test("a record that was replaced with one that is sound in itself", async () => {
    const forge = (all: string[]): string[] => {
      const { prev } = JSON.parse(all[3]!) as { prev: string };
      return all.with(3, seal(event("forged"), { seq: 3, hash: prev }, undefined).line);
    };
    expect(await breakAfter(forge)).toMatchObject({ line: 5, message: /record 5 does not follow the record 4/ });
  });

  test("a cut tail, and a tail that was written anew, with the head", async () => {
    using folder = scratch();
    await writeAll(folder.path, NAMES);
    const { head } = await verifyFiles([folder.path]);
    expect((await verifyFiles([folder.path], { head: head.toUpperCase() })).break).toBeUndefined();
    const all = lines(folder.path);
    writeFileSync(folder.path, `${all.slice(0, 5).join("\n")}\n`);
    expect((await verifyFiles([folder.path])).break).toBeUndefined();
    expect((await verifyFiles([folder.path], { head })).break?.message).toMatch(/the tail was cut, or replaced/);
    await writeAll(folder.path, ["n5", "n6", "forged"]);
    expect((await verifyFiles([folder.path])).break).toBeUndefined();
    expect((await verifyFiles([folder.path], { head })).break?.message).toMatch(/the tail was cut, or replaced/);
  });

  test("a whole chain that was made anew without the operator's key", async () => {
    const forge = (all: string[]): string[] => {
      let link = GENESIS;
      return all.map((_, n) => {
        const sealed = seal(event(`forged-${n}`), link, n < 4 ? undefined : "another-key");
        link = sealed.link;
        return sealed.line;
      });
    };
    expect(await breakAfter(forge, { hmacKey: KEY, keys: [KEY] })).toMatchObject({ line: 1, message: /no HMAC/ });
    expect(await breakAfter(forge, { hmacKey: KEY, keys: [KEY], keyedFrom: 5 })).toMatchObject({ line: 5 });
    const plain = await breakAfter(
      (all) => [...all.slice(0, 7), seal(event("x"), JSON.parse(all[6]!), undefined).line],
      {
        hmacKey: KEY,
        keys: [KEY],
      },
    );
    expect(plain).toMatchObject({ line: 8 });
  });

  test("a file that is missing between others", async () => {
    using folder = scratch();
    await writeAll(
      folder.path,
      Array.from({ length: 60 }, (_, n) => `${n}`),
      { maxBytes: 4096, keep: 100 },
    );
    const all = files(folder.folder);
    expect(all.length).toBeGreaterThan(3);
    expect((await verifyFiles(all.slice(1))).break).toBeUndefined();
    expect((await verifyFiles(all.toSpliced(1, 1))).break?.message).toMatch(/^records \d+ to \d+ are missing$/);
  });

  test("finding 5.8: first records that were cut off, of the first file and of a later one", async () => {
    const message = /^no file begins with record \d+: those before it were cut off/;
    expect(await breakAfter((all) => all.slice(1))).toMatchObject({ line: 1, message });
    expect(await breakAfter((all) => all.slice(5), { hmacKey: KEY, keys: [KEY] })).toMatchObject({ line: 1, message });
    using folder = scratch();
    await writeAll(
      folder.path,
      Array.from({ length: 60 }, (_, n) => `${n}`),
      { maxBytes: 4096, keep: 100 },
    );
    for (const file of files(folder.folder)) {
      expect((await verifyFiles([file])).break).toBeUndefined();
      writeFileSync(file, `${lines(file).slice(1).join("\n")}\n`);
      expect((await verifyFiles([file])).break).toMatchObject({ line: 1, message });
    }
  });

  test("finding 5.8: files of an older version, which do not say that they begin, are sound as a whole chain only", async () => {
    using folder = scratch();
    let link = GENESIS;
    const old = NAMES.map((name) => {
      const sealed = seal(event(name), link, undefined);
      link = sealed.link;
      return `${sealed.line}\n`;
    });
    const full = `${folder.path}.0000000000000005`;
    writeFileSync(full, old.slice(0, 5).join(""));
    writeFileSync(folder.path, old.slice(5).join(""));
    expect(await verifyFiles([folder.path, full])).toMatchObject({ records: 8, break: undefined });
    expect((await verifyFiles([folder.path])).break?.message).toMatch(/of an older version \(then give all files/);
    await writeAll(folder.path, ["new"]);
    expect(await verifyFiles([folder.path, full])).toMatchObject({ records: 9, break: undefined });
  });

  test("any one byte that is changed", { timeout: 30_000 }, async () => {
    using folder = scratch();
    await writeAll(folder.path, NAMES);
    const whole = readFileSync(folder.path);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 2), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ change;
        writeFileSync(folder.path, changed);
        expect((await verifyFiles([folder.path])).break).toBeDefined();
      }),
      { numRuns: 150 },
    );
  });
});

test("an empty file has no records and no break", async () => {
  using folder = scratch();
  writeFileSync(folder.path, "");
  expect(await verifyFiles([folder.path])).toMatchObject({ records: 0, head: GENESIS.hash, break: undefined });
  expect((await verifyFiles([folder.path], { head: "a".repeat(64) })).break).toBeDefined();
});
