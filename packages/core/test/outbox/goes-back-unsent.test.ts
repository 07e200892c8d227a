import type { DeadLetter } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { instantOf, Term } from "../../src/lease/term.ts";
import { giveBack } from "../../src/outbox/claim-verdicts.ts";
import { turn } from "../support/fake-clock.ts";
import { BATCH_MS, never, type Stage, stage } from "./sender-stage.ts";

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
    ["the lease may end before a send does", ({ clock }) => clock.skip(BATCH_MS)],
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
