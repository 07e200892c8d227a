import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BridgeError, type OutboxRecord } from "@bridge/ports";
import fc from "fast-check";
import { expect } from "vitest";
import { end, outboxRecord, ROUTE } from "./records.ts";
import { openOutbox, scratchFolder } from "./scratch-outbox.ts";

const { signal } = new AbortController();
const PAGE = 4_096;
/** The first byte of a page that holds an index, or leads to other pages. */
const INDEX_PAGES = [2, 5, 10];
const CLAIM = { ...ROUTE, limit: 500, loanMs: 60_000 };

type Site = Disposable & { readonly folder: string; readonly waiting: ReadonlyMap<string, OutboxRecord> };

/** The folder of an outbox that was stopped, or killed, with what waits in it: some of it in the file, some in its log. */
async function site(ending: "stop" | "kill"): Promise<Site> {
  using scratch = scratchFolder();
  const left = scratchFolder();
  const records = Array.from({ length: 60 }, (_, i) =>
    outboxRecord(`r${i}`, { ...(i % 3 === 0 && { orderingKey: `key ${i % 5}` }) }, 100 + ((i * 997) % 6_000)),
  );
  const waiting = new Map(records.map((record) => [record.id, record]));
  const work = async (some: readonly OutboxRecord[], atTheEnd: () => void): Promise<void> => {
    await using store = openOutbox(scratch.path);
    for (let at = 0; at < some.length; at += 6) await store.persist(some.slice(at, at + 6), signal);
    const claims = await store.claim({ ...CLAIM, limit: 8 }, signal);
    const ends = claims.map((claim, i) =>
      end(claim, i < 4 ? { kind: "done" } : { kind: "retry", delayMs: 0, attempts: 1 }),
    );
    await store.finish(ends, signal);
    for (const { id, outcome } of ends) if (outcome.kind === "done") waiting.delete(id);
    atTheEnd();
  };
  const copy = (): void => cpSync(scratch.folder, left.folder, { recursive: true });
  await work(records.slice(0, 30), () => {});
  await work(records.slice(30), ending === "kill" ? copy : () => {});
  if (ending === "stop") copy();
  return { folder: left.folder, waiting, [Symbol.dispose]: () => left[Symbol.dispose]() };
}

/** Any one bit of any file of an outbox changed: it is refused, repaired or harmless, and nothing is lost or spoiled without a word. Resolves to how many were. */
export async function flipBits(ending: "stop" | "kill", runs: number): Promise<number> {
  using stopped = await site(ending);
  const files = readdirSync(stopped.folder).filter((name) => readFileSync(join(stopped.folder, name)).length > 0);
  const anywhere = fc.record({ file: fc.constantFrom(...files), at: fc.nat(), bit: fc.nat(7) });
  // Payloads are most of a file: what holds it together gets its share.
  const where = fc.oneof(anywhere, inIndexes(readFileSync(join(stopped.folder, "outbox.db"))), nearFrames());
  await fc.assert(
    fc.asyncProperty(where, async ({ file, at, bit }) => {
      using scratch = scratchFolder();
      cpSync(stopped.folder, scratch.folder, { recursive: true });
      if (!files.includes(file)) return;
      const bytes = readFileSync(join(scratch.folder, file));
      const place = at % bytes.length;
      bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
      writeFileSync(join(scratch.folder, file), bytes);
      await drain(scratch.path, stopped.waiting);
    }),
    { numRuns: runs },
  );
  return runs;
}

type Where = fc.Arbitrary<{ readonly file: string; readonly at: number; readonly bit: number }>;

function inIndexes(bytes: Buffer): Where {
  const pages = Array.from({ length: bytes.length / PAGE }, (_, page) => page);
  const indexes = pages.filter((page) => page > 0 && INDEX_PAGES.includes(bytes[page * PAGE] ?? 0));
  return fc.record({
    file: fc.constant("outbox.db"),
    at: fc.tuple(fc.constantFrom(...indexes), fc.nat(PAGE - 1)).map(([page, at]) => page * PAGE + at),
    bit: fc.nat(7),
  });
}

/** In the header of the log, or that of a frame. */
function nearFrames(): Where {
  const at = fc.tuple(fc.nat(50), fc.nat(55)).map(([frame, beside]) => frame * (24 + PAGE) + beside);
  return fc.record({ file: fc.constantFrom("outbox.db-wal", "outbox.db"), at, bit: fc.nat(7) });
}

async function drain(path: string, waiting: Site["waiting"]): Promise<void> {
  const delivered = new Set<string>();
  try {
    await using store = openOutbox(path);
    for (;;) {
      const claims = await store.claim(CLAIM, signal);
      if (claims.length === 0) break;
      for (const { record } of claims) {
        expect(record, "a spoiled record is delivered").toEqual(waiting.get(record.id));
        delivered.add(record.id);
      }
      await store.finish(
        claims.map((claim) => end(claim, { kind: "done" })),
        signal,
      );
    }
    const missing = [...waiting.keys()].filter((id) => !delivered.has(id));
    expect(store.health?.().spoiled ?? 0, `missing without a word: ${missing.join(", ")}`).toBe(missing.length);
  } catch (error) {
    if (!BridgeError.is(error)) throw error;
  }
}
