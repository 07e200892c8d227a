import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqMarks, type DlqStore } from "@bridge/ports";
import { SpoiledDeadLetter } from "@bridge/ports/internal";
import { describe, expect, test } from "vitest";
import { askStore, ensureMarked } from "../../src/dlq/ensure-marked.ts";
import { markFailed } from "../../src/dlq/failed-replay.ts";
import { entryOf, stored } from "../dlq-job/job-bridge.ts";
import { seenDlq } from "../dlq-job/seen-dlq.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound } from "../support/memory-bridge.ts";

const { id: entryId } = entryOf(1);
const replay = { entryId, jobId: "job-1", attempt: 1 };
const failure = { code: "REJECTED", error: "no thanks" } as const;

/** A store with one entry, whose calls a test sees and refuses by throwing. */
async function storeOf(onCall: (name: string) => void = () => {}) {
  const inner = openMemoryDlq({ maxEntries: 10 });
  await inner.put(entryOf(1), bound());
  const calls: string[] = [];
  const store: DlqStore = seenDlq(inner, (name) => {
    calls.push(name);
    onCall(name);
  });
  const markOf = async () => (await inner.get(entryId, bound()))?.marks?.redrives;
  return { inner, store: store as DlqStore & { readonly marks: DlqMarks }, calls, markOf };
}

describe("a call of a store", () => {
  test("fails when it has had no answer for 10 s, and the store is told", async () => {
    const clock = new BoundingClock();
    let given: AbortSignal | undefined;
    const answer = askStore({ clock, signal: bound() }, (signal) => {
      given = signal;
      return new Promise(() => {});
    });
    await clock.advance(9_999);
    expect(given?.aborted).toBe(false);
    await Promise.all([
      expect(answer).rejects.toMatchObject({ code: "TIMEOUT", message: "the DLQ store did not answer" }),
      clock.advance(1),
    ]);
    expect(given?.aborted).toBe(true);
  });

  test("ends with its caller, and the store is told", async () => {
    const caller = new AbortController();
    let given: AbortSignal | undefined;
    const answer = askStore({ clock: new BoundingClock(), signal: caller.signal }, (signal) => {
      given = signal;
      return new Promise(() => {});
    });
    caller.abort(new Error("the caller has gone"));
    await expect(answer).rejects.toThrow("the caller has gone");
    expect(given?.aborted).toBe(true);
  });
});

describe("a failed replay is marked on its entry", () => {
  test("by who ensures it, when nobody has", async () => {
    const { store, markOf } = await storeOf();
    const clock = new BoundingClock();
    expect(await ensureMarked({ store, clock, signal: bound() }, replay, failure)).toEqual(failure);
    expect(await markOf()).toEqual({
      count: 1,
      lastAt: clock.now(),
      lastCode: "REJECTED",
      lastError: "no thanks",
      jobId: "job-1",
      jobTry: 1,
    });
  });

  test("once: what the route has said of this try stays, and is told", async () => {
    const { inner, store, markOf } = await storeOf();
    const said = { failedAt: 5, errorCode: "UNAVAILABLE", lastError: "the target is away" } as const;
    await markFailed(inner.marks, replay, said, bound());
    const told = await ensureMarked({ store, clock: new BoundingClock(), signal: bound() }, replay, failure);
    expect(told).toEqual({ code: "UNAVAILABLE", error: "the target is away" });
    expect(await markOf()).toMatchObject({ count: 1, lastCode: "UNAVAILABLE" });
  });

  test.each(["get", "marks.mark"])("unless the entry is gone, which is told: before %s", async (before) => {
    const { inner, store } = await storeOf((name) => {
      if (name === before) void inner.admin.delete([entryId], bound());
    });
    const told = await ensureMarked({ store, clock: new BoundingClock(), signal: bound() }, replay, failure);
    expect([told, await stored(inner)]).toEqual(["gone", []]);
  });

  test.each(["get", "marks.mark"])("also by a store that fails for a while, every half second: %s", async (failing) => {
    let failures = 3;
    const { store, calls, markOf } = await storeOf((name) => {
      if (name === failing && failures-- > 0) throw new BridgeError("UNAVAILABLE", "disk gone");
    });
    const clock = new BoundingClock();
    const told = ensureMarked({ store, clock, signal: bound() }, replay, failure);
    await clock.advance(1_499);
    expect([calls.filter((name) => name === failing).length, await markOf()]).toEqual([3, undefined]);
    await clock.advance(1);
    expect([await told, (await markOf())?.count]).toEqual([failure, 1]);
  });

  test("also when the entry is not as it was written", async () => {
    const { store, markOf } = await storeOf((name) => {
      if (name === "get") throw new SpoiledDeadLetter(entryId);
    });
    const told = await ensureMarked({ store, clock: new BoundingClock(), signal: bound() }, replay, failure);
    expect([told, (await markOf())?.count]).toEqual([failure, 1]);
  });

  test.each([
    ["it takes the mark", false],
    ["the route has marked it", true],
  ])("and whoever watches is told each time that the store took none, and when %s", async (_, isMarked) => {
    let failures = 2;
    const { inner, store } = await storeOf((name) => {
      if (name === "marks.mark" && failures-- > 0) throw new BridgeError("UNAVAILABLE", "disk gone");
    });
    const clock = new BoundingClock();
    const said: string[] = [];
    const watch = {
      marked: () => void said.push("marked"),
      unmarked: (error: BridgeError) => void said.push(error.message),
    };
    const told = ensureMarked({ store, clock, signal: bound(), ...watch }, replay, failure);
    await clock.advance(500);
    expect(said).toEqual(["disk gone", "disk gone"]);
    const by = { failedAt: 5, errorCode: "REJECTED", lastError: "no thanks" } as const;
    if (isMarked) await markFailed(inner.marks, replay, by, bound());
    await clock.advance(500);
    expect([await told, said]).toEqual([failure, ["disk gone", "disk gone", "marked"]]);
  });

  test("until that is given up: then nothing more is asked, and no failure is told", async () => {
    const { store, calls, markOf } = await storeOf((name) => {
      if (name === "get") throw new BridgeError("UNAVAILABLE", "disk gone");
    });
    const [clock, stop] = [new BoundingClock(), new AbortController()];
    const told = ensureMarked({ store, clock, signal: stop.signal }, replay, failure);
    await clock.advance(700);
    stop.abort(new Error("the bridge stops"));
    expect([await told, await markOf()]).toEqual([undefined, undefined]);
    expect([calls, clock.pending]).toEqual([["get", "get"], 0]);
  });
});
