import { openMemoryLeases } from "@bridge/memory";
import { BridgeError, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { instantOf, Term } from "../../src/lease/term.ts";
import { turn } from "../support/fake-clock.ts";
import { heldRoute, sourceMessage } from "../support/held-route.ts";
import { bound, type MemoryBridgeOptions, outage, refusal } from "../support/memory-bridge.ts";

const ONE: MemoryBridgeOptions = { policy: { maxInFlight: 1 } };

/** A logger whose warnings are kept. */
function warned() {
  const lines: { readonly message: string; readonly fields: object | undefined }[] = [];
  const logger = {
    ...silentLogger,
    warn: (message: string, fields?: object) => void lines.push({ message, fields }),
    child: () => logger,
  };
  return { lines, logger };
}

describe("a source that is told how its delivery ended", () => {
  test("and takes time to hear it keeps its slot until then, and that is how long it was held", async () => {
    const { clock, route, parts, sender, receive } = heldRoute(ONE);
    const told = Promise.withResolvers<void>();
    receive("m1", { settle: () => told.promise });
    await clock.advance(300);
    sender.sends[0]?.accept();
    await clock.advance(200);
    expect([route.admission.hasRoom, parts.account.inFlight, parts.account.ended]).toEqual([false, 1, 0]);
    told.resolve();
    await turn();
    expect([route.admission.hasRoom, parts.account.inFlight, parts.account.ended]).toEqual([true, 0, 1]);
    expect(parts.account.hold.read().sum).toBe(500);
    expect(parts.account.settleFailures).toBe(0);
  });

  test("at once has held it until the target accepted it, or until the policy was carried out", async () => {
    const { clock, parts, sender, receive } = heldRoute({ policy: { onPermanentFailure: "drop" } });
    receive("m1");
    receive("m2");
    await clock.advance(300);
    sender.sends[0]?.accept();
    await clock.advance(200);
    sender.sends[1]?.refuse(refusal);
    await turn();
    expect(parts.account.hold.read().sum).toBe(800);
  });

  test.each([
    [
      "throws",
      () => {
        throw new BridgeError("CONNECTION_LOST", "too late");
      },
    ],
    ["rejects", () => Promise.reject(new BridgeError("CONNECTION_LOST", "too late"))],
  ] as const)("and %s will hand it out again: that is counted and logged, and its slot is free", async (_, settle) => {
    const { lines, logger } = warned();
    const { route, parts, sender, receive } = heldRoute({ ...ONE, logger });
    receive("m1", { settle });
    await turn();
    sender.sends[0]?.accept();
    await turn();
    expect(parts.account).toMatchObject({ settleFailures: 1, ended: 1, handedOn: 1, inFlight: 0 });
    expect(parts.account.hold.read().sum).toBe(0);
    expect(lines).toEqual([
      {
        message: "delivery not settled: its source will redeliver it",
        fields: { envelope_id: "m1", error: "too late" },
      },
    ]);
    expect(route.admission.hasRoom).toBe(true);
  });

  test("and fails in a way that nobody has classified is logged as a mistake of its receiver", async () => {
    const lines: (object | undefined)[] = [];
    const logger = {
      ...silentLogger,
      error: (_: string, fields?: object) => void lines.push(fields),
      child: () => logger,
    };
    const { sender, receive } = heldRoute({ logger });
    receive("m1", { settle: () => Promise.reject(new TypeError("x is not a function")) });
    await turn();
    sender.sends[0]?.accept();
    await turn();
    expect(lines).toMatchObject([{ where: "receiver in", error: "x is not a function", envelope_id: "m1" }]);
  });

  test("when a stop has given up to wait for it, nobody is bothered", async () => {
    const { lines, logger } = warned();
    const { route, parts, sender, receive } = heldRoute({ ...ONE, logger });
    receive("m1", { settle: () => new Promise(() => {}) });
    await turn();
    sender.sends[0]?.accept();
    await turn();
    route.cancelAll();
    await turn();
    expect([parts.account.inFlight, lines]).toEqual([0, []]);
  });

  test("is not told under a lease that has ended: whoever holds it by now has the message too", async () => {
    const { clock, parts, sender, settled, receive } = heldRoute({
      session: true,
      leases: () => openMemoryLeases({ name: "in-flight" }),
      policy: { sendTimeoutMs: 1_000 },
    });
    parts.sourceLink?.lease?.taken(new Term(clock, 1, instantOf(clock), 60_000));
    for (const { link } of parts.targets.values()) link?.connectedWith(new Set());
    receive("m1");
    await turn();
    // Its time is over, and nobody has looked yet.
    clock.skip(60_000);
    sender.sends[0]?.accept();
    await turn();
    expect(settled).toEqual([]);
  });

  test("is none for what was injected, which nobody holds", async () => {
    const { clock, route, parts, sender } = heldRoute();
    const injected = route.inject(sourceMessage("m1"), bound());
    await clock.advance(300);
    sender.sends[0]?.accept();
    await injected;
    expect(parts.account.hold.read().sum).toBe(0);
    expect(parts.account).toMatchObject({ inFlight: 0, ended: 1, handedOn: 1 });
  });
});

test("what has ended for good is counted, and apart what nothing was wrong with", async () => {
  const { route, parts, sender, receive } = heldRoute({ policy: { onPermanentFailure: "drop" } });
  for (const id of ["delivered", "dropped", "released", "abandoned"]) receive(id, { releasable: true });
  await turn();
  const [delivered, dropped, released] = sender.sends;
  delivered?.accept();
  dropped?.refuse(refusal);
  released?.refuse(outage);
  await turn();
  route.cancelAll();
  await turn();
  expect(parts.account).toMatchObject({ ended: 2, handedOn: 1, inFlight: 0 });
});

test("the oldest of what is unsettled says for how long", async () => {
  const { clock, route, sender, receive } = heldRoute();
  expect(route.progress.oldestUnsettledMs).toBe(0);
  receive("m1");
  await clock.advance(300);
  receive("m2");
  await clock.advance(200);
  expect(route.progress.oldestUnsettledMs).toBe(500);
  sender.sends[0]?.accept();
  await turn();
  expect(route.progress.oldestUnsettledMs).toBe(200);
  route[Symbol.dispose]();
});

describe("messages of one ordering key", () => {
  const keyed = (id: string) => ({ message: { ...sourceMessage(id), orderingKey: "k" } });

  test("go one after another, each with all of its send_timeout from then on", async () => {
    const { clock, parts, sender, settled, receive } = heldRoute({ policy: { sendTimeoutMs: 1_000 } });
    for (const id of ["m1", "m2"]) receive(id, keyed(id));
    await clock.advance(800);
    expect(sender.sends.map(({ envelope }) => envelope.id)).toEqual(["m1"]);
    sender.sends[0]?.accept();
    await clock.advance(800);
    expect(sender.sends.map(({ envelope }) => envelope.id)).toEqual(["m1", "m2"]);
    sender.sends[1]?.accept();
    await turn();
    expect(settled).toMatchObject([{ envelopeId: "m1" }, { envelopeId: "m2" }]);
    expect(parts.targets.get("out")?.account.read().sends.accepted.sum).toBe(1_600);
  });

  test("and one that is given up before its turn lets the next one go, after those before it", async () => {
    const { sender, receive } = heldRoute();
    const taken = new AbortController();
    receive("m1", keyed("m1"));
    receive("m2", { ...keyed("m2"), signal: taken.signal });
    receive("m3", keyed("m3"));
    await turn();
    taken.abort();
    await turn();
    expect(sender.sends.map(({ envelope }) => envelope.id)).toEqual(["m1"]);
    sender.sends[0]?.accept();
    await turn();
    expect(sender.sends.map(({ envelope }) => envelope.id)).toEqual(["m1", "m3"]);
  });
});
