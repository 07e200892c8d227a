import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BridgeError, type DeadLetter } from "@bridge/ports";
import fc from "fast-check";
import { expect } from "vitest";
import { deadLetter } from "./dead-letter.ts";
import { openDlq, scratchFolder } from "./scratch-dlq.ts";

const { signal } = new AbortController();
const COUNT = 60;
const MARK = { quarantined: true } as const;

function isMarked(number: number): boolean {
  return number % 3 === 0;
}

function entry(number: number): DeadLetter {
  return deadLetter(`e${number}`, { failedAt: number, routeId: `r${number % 3}` }, 50 + ((number * 997) % 6_000));
}

/** Any one bit of any file of a DLQ changed: it is refused or set aside, or each entry is as it was or said to be spoiled. Resolves to how many were changed. */
export async function flipBits(ending: "stop" | "kill", runs: number): Promise<number> {
  using scratch = scratchFolder();
  using left = scratchFolder();
  const copy = (): void => cpSync(scratch.folder, left.folder, { recursive: true });
  for (const half of [0, COUNT / 2]) {
    await using store = openDlq(scratch.path);
    for (let i = half; i < half + COUNT / 2; i++) await store.put(entry(i), signal);
    const marked = Array.from({ length: COUNT / 2 }, (_, i) => half + i).filter(isMarked);
    await store.marks?.mark(new Map(marked.map((number) => [`e${number}`, MARK])), signal);
    if (half > 0 && ending === "kill") copy();
  }
  if (ending === "stop") copy();
  const files = readdirSync(left.folder).filter((name) => readFileSync(join(left.folder, name)).length > 0);
  const where = fc.record({ file: fc.constantFrom(...files), at: fc.nat(), bit: fc.nat(7) });
  await fc.assert(
    fc.asyncProperty(where, async ({ file, at, bit }) => {
      using changed = scratchFolder();
      cpSync(left.folder, changed.folder, { recursive: true });
      const bytes = readFileSync(join(changed.folder, file));
      const place = at % bytes.length;
      bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
      writeFileSync(join(changed.folder, file), bytes);
      await read(changed.path);
    }),
    { numRuns: runs },
  );
  return runs;
}

async function read(path: string): Promise<void> {
  try {
    await using store = openDlq(path);
    if ((store.health?.().setAside ?? []).length > 0) return;
    let sound = 0;
    for (let number = 0; number < COUNT; number++) {
      const { id, ...rest } = entry(number);
      const found = await store.get(id, signal).catch((error: unknown) => error);
      if (found !== undefined && !BridgeError.is(found))
        expect(found, "a spoiled entry is handed out").toEqual({
          id,
          ...rest,
          ...(isMarked(number) && { marks: MARK }),
        });
      if (found !== undefined && !BridgeError.is(found)) sound++;
    }
    // A page takes what the columns say: an entry whose id was changed there is found under another, and is spoiled.
    for (const { id } of await store.list({}, { limit: 2 * COUNT, offset: 0 }, signal))
      await store.get(id, signal).catch(() => {});
    expect(sound + (store.health?.().spoiled ?? 0), "missing without a word").toBeGreaterThanOrEqual(COUNT);
  } catch (error) {
    if (!BridgeError.is(error)) throw error;
  }
}
