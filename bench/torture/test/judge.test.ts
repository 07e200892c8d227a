import { describe, expect, it, vi } from "vitest";
import { judge, type RouteJudgement } from "../src/auditor/judge.ts";
import { Ledger } from "../src/auditor/ledger.ts";
import type { DeliveryMode, RouteName } from "../src/routes.ts";

const ROUTE = "mqtt-mqtt";

/** A message that its source has accepted, and what else the auditor saw of it. */
function afterwards(mode: DeliveryMode, events: (ledger: Ledger, id: string) => void, dlq = false): RouteJudgement {
  const ledger = new Ledger([ROUTE], Date.now());
  const { id } = ledger.open(ROUTE);
  ledger.offered(id);
  ledger.accepted(id);
  events(ledger, id);
  const [judged] = judge(ledger, [ROUTE], mode, { deadLetters: dlq ? [id] : [], outbox: [] }).routes;
  return judged!;
}

const NOTHING_WRONG = { lost: 0, atSource: 0, withheld: 0, unexplained: 0 };

describe("where a message is", () => {
  it("is at its target when it has arrived", () => {
    expect(afterwards("direct_hold", (ledger, id) => ledger.arrived(id, true))).toMatchObject({
      ...NOTHING_WRONG,
      accepted: 1,
      atTarget: 1,
    });
  });

  it("is in the DLQ when an entry has its id", () => {
    expect(afterwards("direct_hold", (ledger, id) => ledger.settled(id), true)).toMatchObject({
      ...NOTHING_WRONG,
      inDlq: 1,
    });
  });

  it("is lost when its source was told to forget it and it is nowhere", () => {
    const judged = afterwards("direct_hold", (ledger, id) => {
      ledger.handed(id);
      ledger.settled(id);
    });
    expect(judged).toMatchObject({ lost: 1, atSource: 0, withheld: 0 });
  });

  it("is at its source when that was never told to forget it", () => {
    expect(afterwards("direct_hold", (ledger, id) => ledger.handed(id))).toMatchObject({ lost: 0, atSource: 1 });
  });

  it("is withheld when the broker has never handed it over", () => {
    expect(afterwards("direct_hold", () => {})).toMatchObject({ lost: 0, withheld: 1 });
  });

  it("does not matter when no source has accepted it", () => {
    const ledger = new Ledger([ROUTE], Date.now());
    ledger.offered(ledger.open(ROUTE).id);
    const { routes } = judge(ledger, [ROUTE], "direct_hold", { deadLetters: [], outbox: [] });
    expect(routes).toMatchObject([{ ...NOTHING_WRONG, offered: 1, accepted: 0 }]);
  });
});

describe("repeats", () => {
  const twice = (ledger: Ledger, id: string): void => {
    ledger.arrived(id, true);
    ledger.arrived(id, true);
  };

  it.each(["direct_hold", "shared_outbox"] as const)("are unexplained in %s when nothing was in flight", (mode) => {
    const judged = afterwards(mode, (ledger, id) => {
      ledger.handed(id);
      twice(ledger, id);
    });
    expect(judged).toMatchObject({ repeats: 1, bound: 0, unexplained: 1 });
  });

  it.each(["direct_hold", "shared_outbox"] as const)("are explained in %s by a send that is in doubt", (mode) => {
    const judged = afterwards(mode, (ledger, id) => {
      ledger.doubtful(id);
      twice(ledger, id);
    });
    expect(judged).toMatchObject({ repeats: 1, bound: 1, unexplained: 0 });
  });

  it("are explained in direct_hold, and not in shared_outbox, by a source that hands the message over again", () => {
    const again = (ledger: Ledger, id: string): void => {
      ledger.handed(id);
      ledger.handed(id);
      twice(ledger, id);
    };
    expect(afterwards("direct_hold", again)).toMatchObject({ repeats: 1, bound: 1, unexplained: 0 });
    expect(afterwards("shared_outbox", again)).toMatchObject({ repeats: 1, bound: 0, unexplained: 1 });
  });
});

describe("order", () => {
  /** Two messages of one key in the order of their numbers; `between` happens when both are offered. */
  function inTurn(
    between: (ledger: Ledger, older: string, younger: string) => void,
    dlq: readonly string[] = [],
    route: RouteName = ROUTE,
  ): number {
    vi.useFakeTimers();
    const ledger = new Ledger([route], Date.now());
    const ids = Array.from({ length: 33 }, () => ledger.open(route).id);
    const [older, younger] = [ids[0]!, ids[32]!];
    for (const id of [older, younger]) {
      vi.advanceTimersByTime(10);
      ledger.offered(id);
      vi.advanceTimersByTime(10);
      ledger.accepted(id);
    }
    between(ledger, older, younger);
    vi.useRealTimers();
    return judge(ledger, [route], "direct_hold", { deadLetters: dlq, outbox: [] }).routes[0]!.overtaken;
  }

  const overtaking = (ledger: Ledger, older: string, younger: string): void => {
    ledger.arrived(younger, true);
    ledger.arrived(older, true);
  };

  it("is kept when the older message arrives first, even if it comes again later", () => {
    const overtaken = inTurn((ledger, older, younger) => {
      for (const id of [older, younger, older]) ledger.arrived(id, true);
    });
    expect(overtaken).toBe(0);
  });

  it("is broken when the younger message of a key arrives first", () => {
    expect(inTurn(overtaking)).toBe(1);
  });

  it("is not broken by a source that hands the younger message over first", () => {
    const overtaken = inTurn((ledger, older, younger) => {
      ledger.handed(younger);
      vi.advanceTimersByTime(10);
      ledger.handed(older);
      overtaking(ledger, older, younger);
    });
    expect(overtaken).toBe(0);
  });

  it("is broken by a repeat that overtakes, but not from JetStream, which repeats when the time of a message is over", () => {
    const late = (ledger: Ledger, older: string, younger: string): void => {
      ledger.handed(older);
      ledger.handed(younger);
      ledger.arrived(younger, true);
      vi.advanceTimersByTime(10);
      ledger.handed(older);
      ledger.arrived(older, true);
    };
    expect(inTurn(late)).toBe(1);
    expect(inTurn(late, [], "nats-mqtt")).toBe(0);
    expect(inTurn(overtaking, [], "nats-mqtt")).toBe(1);
  });

  it("is not broken by a message that was given up and comes all the same", () => {
    expect(inTurn(overtaking, ["mqtt-mqtt:0"])).toBe(0);
  });
});

it("what nobody has offered, and what did not arrive as it was sent, is noted", () => {
  const ledger = new Ledger([ROUTE], Date.now());
  const { id } = ledger.open(ROUTE);
  ledger.arrived(id, false);
  ledger.arrived("mqtt-mqtt:17", true);
  ledger.arrived("", true);
  const { spoiled, strangers } = judge(ledger, [ROUTE], "direct_hold", { deadLetters: [], outbox: [] });
  expect(spoiled).toEqual([id]);
  expect(strangers).toEqual(["mqtt-mqtt:17", ""]);
});
