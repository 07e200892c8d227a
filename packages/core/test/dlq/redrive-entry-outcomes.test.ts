import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DeadLetter, type DlqAdmin, type DlqMarks, type DlqStore, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { DeliveredEntries } from "../../src/dlq/delivered-entries.ts";
import { redriveEntry, type RedriveEntryOptions } from "../../src/dlq/redrive-entry.ts";
import { OperationError } from "../../src/operation-error.ts";
import type { InjectResult } from "../../src/route/inject-result.ts";
import { entryOf, stored } from "../dlq-job/job-bridge.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";

const DELIVERED: InjectResult = { envelopeId: "new", outcome: "delivered", failedBindings: [] };
/** As an entry is written for a message that was refused as it came in. */
const REFUSED = { bindingId: "", attempts: 0, errorCode: "INVALID_PAYLOAD" } as const;

type Store = DlqStore & { readonly admin: DlqAdmin; readonly marks: DlqMarks };

async function redriving(changes: Partial<RedriveEntryOptions> = {}, entry: DeadLetter = entryOf(1)) {
  const store: Store = openMemoryDlq({ maxEntries: 10 });
  await store.put(entry, bound());
  const options: RedriveEntryOptions = {
    id: entry.id,
    store,
    replay: async () => DELIVERED,
    edit: (one) => one,
    busy: new Set(),
    delivered: new DeliveredEntries(),
    clock: new BoundingClock(),
    random: { next: () => 0, id: () => "some-id" },
    logger: silentLogger,
    signal: bound(),
    ...changes,
  };
  const mark = async () => (await store.get(entry.id, bound()))?.marks?.redrives;
  return { options, store, entry, mark };
}

/** As `store`, which deletes nothing. */
function undeleting(store: Store): Store {
  return { ...store, admin: { ...store.admin, delete: () => Promise.reject(new BridgeError("REJECTED", "no")) } };
}

describe("operators 4: a single entry whose route has not delivered it", () => {
  test.each([
    ["the code of its error", { error: new BridgeError("TIMEOUT", "no answer") }, "TIMEOUT", ": no answer"],
    ["REJECTED when there is none", {}, "REJECTED", ""],
  ] as const)("is marked with %s", async (_, changes, lastCode, text) => {
    const result: InjectResult = { ...DELIVERED, outcome: "dropped", ...changes };
    const { options, mark, store } = await redriving({ replay: async () => result });
    expect(await redriveEntry(options)).toEqual({ kind: "not_delivered", result });
    expect(await mark()).toMatchObject({ count: 1, lastCode, lastError: `not delivered, dropped${text}` });
    expect(await stored(store)).toEqual(["e00001"]);
  });

  test("and that somebody has deleted meanwhile is gone, and nothing is written", async () => {
    const { options, store, entry } = await redriving();
    const result: InjectResult = { ...DELIVERED, outcome: "dropped" };
    const replay = async () => {
      await store.admin.delete([entry.id], bound());
      return result;
    };
    expect(await redriveEntry({ ...options, replay })).toEqual({ kind: "gone", result });
    expect(await stored(store)).toEqual([]);
  });

  test("since the outbox knows it already is somebody else's: it has no mark, and stays", async () => {
    const { options, mark, store } = await redriving({ replay: async () => ({ ...DELIVERED, outcome: "duplicate" }) });
    expect(await redriveEntry(options)).toEqual({ kind: "busy" });
    expect([await mark(), await stored(store)]).toEqual([undefined, ["e00001"]]);
  });

  test("since its inject failed is marked, and who asked is told", async () => {
    const replay = () => Promise.reject(new BridgeError("UNAVAILABLE", "no room"));
    const { options, mark } = await redriving({ replay });
    const told = { name: "OperationError", kind: "failed", message: "the inject failed: no room" };
    await expect(redriveEntry(options)).rejects.toMatchObject(told);
    expect(await mark()).toMatchObject({ count: 1, lastCode: "UNAVAILABLE", lastError: "no room" });
  });

  test.each(["pending", "not_begun", "not_found"] as const)("since that was refused has no mark: %s", async (kind) => {
    const refused = new OperationError(kind, "it says why");
    const { options, mark, store } = await redriving({ replay: () => Promise.reject(refused) });
    await expect(redriveEntry(options)).rejects.toBe(refused);
    expect([await mark(), await stored(store)]).toEqual([undefined, ["e00001"]]);
  });

  test("since its caller has given it up has no mark", async () => {
    const caller = new AbortController();
    const { options, mark } = await redriving({
      signal: caller.signal,
      replay: (_, signal) =>
        new Promise((__, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    });
    const redriven = redriveEntry(options);
    await turn();
    caller.abort(new Error("the caller has gone"));
    await expect(redriven).rejects.toThrow("outcome unknown: the entry stays");
    expect(await mark()).toBeUndefined();
  });
});

describe("operators 4: a single entry that is delivered", () => {
  test("and that somebody has deleted meanwhile was busy, and its message is named", async () => {
    const { options, store, entry } = await redriving();
    const replay = async () => {
      await store.admin.delete([entry.id], bound());
      return DELIVERED;
    };
    expect(await redriveEntry({ ...options, replay })).toEqual({ kind: "busy", envelopeId: "new" });
  });

  test("and not deleted stays so with a store that still does not, names no message again, and sends nothing", async () => {
    let sent = 0;
    const { options, store } = await redriving({ replay: async () => (sent++, DELIVERED) });
    const silent = { ...options, store: undeleting(store) };
    expect(await redriveEntry(silent)).toEqual({ kind: "not_deleted", envelopeId: "new" });
    expect(await redriveEntry(silent)).toEqual({ kind: "not_deleted", envelopeId: undefined });
    expect(sent).toBe(1);
  });

  test("and not deleted, and that somebody deletes just before another redrive does, was busy", async () => {
    const { options, store } = await redriving();
    await redriveEntry({ ...options, store: undeleting(store) });
    const late: Store = { ...store, admin: { ...store.admin, delete: async () => new Set() } };
    expect(await redriveEntry({ ...options, store: late })).toEqual({ kind: "busy", envelopeId: undefined });
  });
});

describe("operators 4: a single entry is delivered with a warning", () => {
  const warned = async (changes: Partial<RedriveEntryOptions>, entry?: DeadLetter): Promise<string | undefined> => {
    const redriven = await redriveEntry((await redriving(changes, entry)).options);
    return redriven.kind === "redriven" ? redriven.warning : `it was ${redriven.kind}`;
  };

  test("when it was refused as it came in, and is sent as it was kept", async () => {
    expect(await warned({}, entryOf(1, REFUSED))).toMatch(/^1 message was refused on the way in, and sent as kept/);
  });

  test("of its route alone, when an editor has given it another payload", async () => {
    const replay = async () => ({ ...DELIVERED, warning: "its id was long" });
    const edit = (one: DeadLetter) => ({ ...one, envelope: { ...one.envelope, payload: Buffer.from("whole") } });
    expect(await warned({ edit }, entryOf(1, REFUSED))).toBeUndefined();
    expect(await warned({ edit, replay }, entryOf(1, REFUSED))).toBe("its id was long");
  });

  test("that has both in it", async () => {
    const replay = async () => ({ ...DELIVERED, warning: "its id was long" });
    expect(await warned({ replay }, entryOf(1, REFUSED))).toMatch(/^its id was long; 1 message was refused/);
  });

  test("unless there is nothing to warn of", async () => {
    expect(await warned({})).toBeUndefined();
  });
});
