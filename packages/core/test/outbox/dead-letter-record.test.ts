import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type DlqStore, type Logger, type OutboxStore, RESERVED, systemRandom } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { replayHeader } from "../../src/dlq-job/replay-id.ts";
import { deadLetterRecords, type MovedAs } from "../../src/outbox/dead-letter-record.ts";
import { entryOf, fill, stored } from "../dlq-job/job-bridge.ts";
import { envelopeOf } from "../support/envelope.ts";
import { HastyClock } from "../support/hasty-clock.ts";
import { bound } from "../support/memory-bridge.ts";

const refuse = () => Promise.reject(new BridgeError("UNAVAILABLE", "disk full"));
const never = () => new Promise<never>(() => {});

/** An outbox with the records `a` and `b`, and `r` of a job that redrives the dead letter `e00000`, and calls of both stores that can be replaced. */
async function holding(
  changes: {
    readonly outbox?: (inner: OutboxStore) => Partial<OutboxStore>;
    readonly put?: DlqStore["put"];
    readonly marks?: false;
  } = {},
) {
  const clock = new HastyClock();
  const inner = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const memoryDlq = openMemoryDlq({ maxEntries: 10 });
  const record = { routeId: "r", bindingId: "out", address: "out", payloadDigest: "", createdAt: clock.now() };
  await inner.persist(
    ["a", "b"].map((id) => ({ ...record, id, envelope: envelopeOf({ id }) })),
    bound(),
  );
  const headers = { [RESERVED.job]: replayHeader({ jobId: "j", attempt: 2 }) };
  const replay = { envelope: envelopeOf({ id: "r", headers }), entryId: "e00000" };
  await inner.persist([{ ...record, id: "r", bindingId: "replays", ...replay }], bound());
  const moved: string[] = [];
  const told: string[] = [];
  const logger = { warn: (text: string) => void told.push(text) } as unknown as Logger;
  const outbox = { ...inner, ...changes.outbox?.(inner) };
  const { marks, ...others } = memoryDlq;
  const dlq = { ...others, ...(changes.marks !== false && { marks }), ...(changes.put && { put: changes.put }) };
  const seams = {
    clock,
    random: systemRandom(),
    logger,
    hooks: { deadLetter: ({ id }: { readonly id: string }) => void told.push(id) },
  };
  const doubted: string[] = [];
  const hears =
    (list: string[]) =>
    ({ id }: { readonly id: string }, as: MovedAs) =>
      void list.push(as === "dead_lettered" ? id : `${id} ${as}`);
  const options = { ...seams, outbox, dlq, moved: hears(moved), doubted: hears(doubted) };
  return {
    moved,
    doubted,
    told,
    dlq: memoryDlq,
    outbox: inner,
    move: (ids: readonly string[], signal = bound()) => deadLetterRecords(ids, options, signal),
    /** What the next owner is lent. */
    due: async () => {
      const claims = await inner.claim({ routeId: "r", bindingId: "out", limit: 10, loanMs: 1_000 }, bound());
      return claims.map(({ record: { id }, attempts }) => [id, attempts]);
    },
    entries: async () => (await memoryDlq.list({}, { limit: 10, offset: 0 }, bound())).length,
  };
}

const UNTRIED = [
  ["a", 0],
  ["b", 0],
];

test("records that an operator moves are in the DLQ and nowhere else, each once", async () => {
  const { move, moved, due, entries } = await holding();
  expect(await move(["a", "b", "a"])).toEqual({ moved: 2, errors: [] });
  expect([moved, await due(), await entries()]).toEqual([["a", "b"], [], 2]);
});

test.each([
  ["refuses", refuse, "disk full"],
  ["does not answer", never, "the store did not answer"],
])("a DLQ that %s: the record is due again at once, and nothing is charged", async (_, put, error) => {
  const { move, moved, due } = await holding({ put });
  expect(await move(["a"])).toEqual({ moved: 0, errors: [{ id: "a", error }] });
  expect([moved, await due()]).toEqual([[], UNTRIED]);
});

test("when neither store can be written to, what is told is why there is no dead letter", async () => {
  const { move, moved } = await holding({
    put: refuse,
    outbox: () => ({ finish: () => Promise.reject(new BridgeError("CONNECTION_LOST", "the outbox is away")) }),
  });
  expect(await move(["a"])).toEqual({ moved: 0, errors: [{ id: "a", error: "disk full" }] });
  expect(moved).toEqual([]);
});

test("an outbox that lends nothing fails each record, and nothing is dead-lettered", async () => {
  for (const [claimOne, error] of [
    [refuse, "disk full"],
    [never, "the store did not answer"],
    [async () => undefined, "record not pending, or being sent at the moment"],
  ] as const) {
    const { move, moved, entries } = await holding({ outbox: () => ({ claimOne }) });
    expect(await move(["a", "b"])).toEqual({
      moved: 0,
      errors: [
        { id: "a", error },
        { id: "b", error },
      ],
    });
    expect([moved, await entries()]).toEqual([[], 0]);
  }
});

test("a record whose end is not entered has its dead letter too, is told of, and is not taken for moved", async () => {
  for (const [finish, error, unsure] of [
    [async () => [false], "the record was taken over by somebody else; it is in the DLQ too", []],
    [refuse, "disk full", ["a"]],
    [never, "the store did not answer", ["a"]],
  ] as const) {
    const { move, moved, doubted, entries } = await holding({ outbox: () => ({ finish }) });
    expect(await move(["a"])).toEqual({ moved: 0, errors: [{ id: "a", error }] });
    expect([moved, doubted, await entries()]).toEqual([[], unsure, 1]);
  }
});

test("at the caller's bound the record that has begun is seen through, and the others are not attempted", async () => {
  const stop = new AbortController();
  const { move, moved, due } = await holding({
    outbox: (inner) => ({
      claimOne(...asked) {
        stop.abort(new Error("60 s are over"));
        return inner.claimOne(...asked);
      },
    }),
  });
  expect(await move(["a", "b"], stop.signal)).toEqual({ moved: 1, errors: [{ id: "b", error: "not attempted" }] });
  expect([moved, await due()]).toEqual([["a"], [["b", 0]]]);
});

describe("a record that replays a dead letter for a job", () => {
  const text = "moved from the outbox to the DLQ by an operator";

  test("is in the DLQ already, which is marked: there is no second entry", async () => {
    const { move, moved, told, dlq, outbox } = await holding();
    await fill(dlq, 1);
    expect(await move(["r"])).toEqual({ moved: 1, errors: [] });
    expect([moved, await stored(dlq), await outbox.status("r", bound())]).toEqual([["r"], ["e00000"], "dead"]);
    const marked = { count: 1, lastCode: "REJECTED", lastError: text, jobId: "j", jobTry: 2 };
    expect((await dlq.get("e00000", bound()))?.marks?.redrives).toMatchObject(marked);
    expect(told).toEqual([]);
  });

  test("ends and leaves nothing when its dead letter was deleted meanwhile, and is not taken for moved", async () => {
    const { move, moved, told, dlq, outbox } = await holding();
    expect(await move(["r"])).toEqual({
      moved: 0,
      errors: [
        {
          id: "r",
          error: "the dead letter that it redrove was deleted meanwhile: the record has ended, and nothing is written",
        },
      ],
    });
    expect([moved, await stored(dlq), await outbox.status("r", bound())]).toEqual([["r dropped"], [], "dead"]);
    expect(told).toEqual(["redrive failed: the dead letter was deleted meanwhile, and nothing is written"]);
  });

  test("is said to be in the DLQ only if it is, when somebody else has taken it over", async () => {
    for (const [entries, error] of [
      [1, "the record was taken over by somebody else; it is in the DLQ too"],
      [0, "the record was taken over by somebody else"],
    ] as const) {
      const { move, dlq } = await holding({ outbox: () => ({ finish: async () => [false] }) });
      await fill(dlq, entries);
      expect(await move(["r"])).toEqual({ moved: 0, errors: [{ id: "r", error }] });
    }
  });

  test("is an entry of its own, which belongs to no job, in a store that keeps no marks", async () => {
    const { move, moved, told, dlq } = await holding({ marks: false });
    await dlq.put(entryOf(0), bound());
    expect(await move(["r"])).toEqual({ moved: 1, errors: [] });
    const [id = ""] = told;
    expect([moved, told, (await stored(dlq)).length]).toEqual([["r"], [id], 2]);
    expect((await dlq.get(id, bound()))?.envelope.headers).toEqual({});
  });

  test("goes back when the store takes no mark", async () => {
    const { move, moved, dlq, outbox } = await holding();
    dlq.marks.mark = refuse;
    expect(await move(["r"])).toEqual({ moved: 0, errors: [{ id: "r", error: "disk full" }] });
    expect([moved, await outbox.status("r", bound())]).toEqual([[], "pending"]);
  });
});
