import type { DeadLetter } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { instantOf, Term } from "../../src/lease/term.ts";
import { giveBack } from "../../src/outbox/claim-verdicts.ts";
import { turn } from "../support/fake-clock.ts";
import { BATCH_MS, never, SEND_TIMEOUT_MS, type Stage, stage } from "./sender-stage.ts";

describe("what was lent goes back unsent and uncharged", () => {
  /** When it is that something comes in between: before anything, or while the record waits for somebody. */
  const moments: readonly (readonly [string, (meanwhile: (on: Stage) => void) => Promise<unknown>])[] = [
    [
      "before its turn",
      async (meanwhile) => {
        const on = stage();
        meanwhile(on);
        return endOf(on, on.send("m1", { orderingKey: "k" }));
      },
    ],
    [
      "while it waits for its turn by the rate limit",
      async (meanwhile) => {
        const on = stage({ rated: true });
        void on.target.rate.take(never);
        const verdict = on.send("m1", { orderingKey: "k" });
        meanwhile(on);
        on.target.rate.limit = undefined;
        return endOf(on, verdict);
      },
    ],
    [
      "while the DLQ is asked whether it has failed already",
      async (meanwhile) => {
        const answer = Promise.withResolvers<DeadLetter | undefined>();
        const on = stage({ get: () => answer.promise });
        const verdict = on.send("m1", { redriven: true, orderingKey: "k" });
        await turn();
        meanwhile(on);
        answer.resolve(undefined);
        return endOf(on, verdict);
      },
    ],
  ];

  const obstacles: readonly (readonly [string, (on: Stage) => void])[] = [
    ["the drain is told to leave", ({ leaving }) => leaving.abort(new Error("stopped"))],
    ["too many sends that were given up do not end", ({ target }) => times(100, () => target.strays.add())],
    ["the route is paused", ({ pause }) => pause.pause()],
    ["its batch is over", ({ clock }) => clock.skip(BATCH_MS + 1)],
    ["its link is away", ({ link }) => link.closed()],
    [
      "its link is away, and the lease at another instance",
      ({ link, lease }) => {
        link.closed();
        lease.seenElsewhere(true);
      },
    ],
    ["the one before it of its key is to be tried again", ({ batch }) => void batch.blocked.add("k")],
  ];

  test.each(
    moments.flatMap(([moment, during]) => obstacles.map(([why, arises]) => [why, moment, during, arises] as const)),
  )("when %s: %s", async (_why, _moment, during, arises) => {
    expect(await during(arises)).toEqual({ verdict: giveBack(2), sent: [], told: [] });
  });

  const none: readonly (readonly [string, (on: Stage) => void])[] = [
    ["nothing has come in between", () => {}],
    [
      "its batch ends at this very moment",
      ({ clock, lease }) => {
        clock.skip(BATCH_MS);
        lease.taken(new Term(clock, 2, instantOf(clock), BATCH_MS));
      },
    ],
    ["one of another key is to be tried again", ({ batch }) => void batch.blocked.add("other")],
  ];

  test.each(moments.flatMap(([moment, during]) => none.map(([why, arises]) => [why, moment, during, arises] as const)))(
    "but not when %s: %s",
    async (_why, _moment, during, arises) => {
      expect(await during(arises)).toEqual({ verdict: undefined, sent: ["m1"], told: [] });
    },
  );
});

describe("a record whose lease is too short for a send", () => {
  /** Its lease lasts no longer than its batch, which has a second left. */
  function short(rated: boolean): Stage {
    const on = stage({ rated });
    on.clock.skip(BATCH_MS - 1_000);
    on.lease.taken(new Term(on.clock, 2, instantOf(on.clock), SEND_TIMEOUT_MS));
    return on;
  }

  test.each([false, true])("waits for its renewal, and keeps its turn by the rate limit: %s", async (rated) => {
    const on = short(rated);
    const ended = on.send("m1");
    expect(await endOf(on, ended)).toEqual({ verdict: undefined, sent: [], told: [] });
    on.lease.term?.renew(instantOf(on.clock), 2 * SEND_TIMEOUT_MS);
    expect(await endOf(on, ended)).toEqual({ verdict: undefined, sent: ["m1"], told: [] });
  });

  test("goes back when its batch ends first, and leaves its turn to the next", async () => {
    const on = short(true);
    on.lease.taken(new Term(on.clock, 2, instantOf(on.clock), 2 * SEND_TIMEOUT_MS));
    void on.target.rate.take(never);
    const ended = on.send("m1");
    await turn();
    on.lease.taken(new Term(on.clock, 3, instantOf(on.clock), SEND_TIMEOUT_MS));
    on.target.rate.giveBack();
    await turn();
    await on.clock.advance(1_001);
    expect(await endOf(on, ended)).toEqual({ verdict: giveBack(2), sent: [], told: [] });
    expect(on.target.rate.take(never)).toBeUndefined();
  });

  test("goes back when the drain is told to leave, or its lease ends", async () => {
    for (const ends of [
      ({ leaving }: Stage) => leaving.abort(new Error("stopped")),
      ({ lease }: Stage) => lease.term?.end(),
    ]) {
      const on = short(false);
      const ended = on.send("m1");
      await turn();
      ends(on);
      expect(await endOf(on, ended)).toEqual({ verdict: giveBack(2), sent: [], told: [] });
    }
  });
});

/** What has become of a record when everything that could run has run. */
async function endOf({ sent, told }: Stage, ended: Promise<unknown>) {
  let verdict: unknown;
  void ended.then((given) => (verdict = given));
  await turn();
  await turn();
  return { verdict, sent: sent(), told };
}

function times(count: number, what: () => void): void {
  for (let time = 0; time < count; time++) what();
}
