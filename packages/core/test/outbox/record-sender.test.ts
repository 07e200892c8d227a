import { BridgeError, type OutboxClaim, type Processor } from "@bridge/ports";
import { expect, test } from "vitest";
import { RateLimiter } from "../../src/control/rate-limiter.ts";
import { ClaimVerdicts, giveBack } from "../../src/outbox/claim-verdicts.ts";
import { EntryFates } from "../../src/outbox/entry-fates.ts";
import { RecordSender } from "../../src/outbox/record-sender.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { envelopeOf } from "../support/envelope.ts";
import { turn } from "../support/fake-clock.ts";
import { HeldSender } from "../support/held-sender.ts";
import { partsOf } from "../support/parts-of.ts";

const never = new AbortController().signal;

function claimOf(id: string): OutboxClaim {
  const record = {
    id,
    routeId: "r",
    bindingId: "out",
    address: "out",
    envelope: envelopeOf({ id }),
    payloadDigest: "d",
    createdAt: 0,
  };
  return { record, token: "t", attempts: 2 };
}

/** Sends the records of the binding `out` to a target that a test answers for. */
function stage({ rated = false, processors = [] as readonly Processor[] } = {}) {
  const clock = new BoundingClock();
  const { parts: built } = partsOf({ clock, processors, deliveryMode: "shared_outbox" });
  const [parts] = built.routes.values();
  const [given] = parts?.targets.values() ?? [];
  if (parts === undefined || given === undefined) throw new Error("the bridge has no binding");
  const sender = new HeldSender();
  const rate = new RateLimiter(clock, rated ? { messagesPerSecond: 0.01, burst: 1 } : undefined);
  const target = { ...given, sender, rate };
  const verdicts = new ClaimVerdicts({ parts, target, entries: new EntryFates(), givenUp: never });
  const records = new RecordSender({ parts, target, verdicts, leaving: never });
  const batch = { deadline: clock.monotonic() + 30_000, blocked: new Set<string>() };
  const send = (id: string) => records.send(claimOf(id), batch, never);
  return { clock, sender, send };
}

test("a record that gets no turn by the rate limit as long as its batch lasts goes back at its end, uncharged", async () => {
  const { clock, sender, send } = stage({ rated: true });
  void send("m1");
  let verdict: unknown;
  void send("m2").then((told) => (verdict = told));
  await clock.advance(29_999);
  expect(verdict).toBeUndefined();
  await clock.advance(1);
  expect(verdict).toEqual(giveBack(2));
  expect(sender.sends.map(({ envelope }) => envelope.id)).toEqual(["m1"]);
});

test("a processor that let a record through hears how its send has ended, in either way", async () => {
  const heard: string[] = [];
  const gate: Processor = {
    process: (envelope) => ({ kind: "pass", envelope }),
    admit: ({ id }) => ({ kind: "admitted", ended: ({ kind }) => void heard.push(`${id} ${kind}`) }),
  };
  const { sender, send } = stage({ processors: [gate] });
  const sent = [send("m1"), send("m2")];
  await turn();
  sender.sends[0]?.accept();
  sender.sends[1]?.refuse(new BridgeError("UNAVAILABLE", "away"));
  expect(await Promise.all(sent)).toMatchObject([{ end: { kind: "done" } }, { end: { kind: "retry", attempts: 3 } }]);
  expect(heard).toEqual(["m1 accepted", "m2 failed"]);
});
