import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { draw } from "../src/index.ts";
import type { Auditor } from "../src/run/auditor.ts";
import { auditing, DELIVERED, letter, timeout } from "./support/auditing.ts";

test("a message that is settled before its target has it is told of, and so is one that is settled twice", () => {
  const auditor = auditing();
  auditor.source.settles(0, DELIVERED, false);
  auditor.targets.accepts(0, "out");
  auditor.source.settles(0, DELIVERED, true);
  expect(auditor.violations).toEqual([
    "message 0 was settled as delivered without proof for out",
    "a delivery of message 0 was settled twice",
  ]);
});

test("what was accepted once and forgotten by its source is well", () => {
  const auditor = auditing();
  auditor.targets.accepts(0, "out");
  auditor.source.settles(0, DELIVERED, false);
  auditor.source.forgotten(0);
  auditor.close();
  expect(auditor.violations).toEqual([]);
});

test("what is nowhere is lost, and what its source still has is not done", () => {
  const lost = auditing();
  lost.source.forgotten(0);
  lost.close();
  expect(lost.violations).toEqual(["message 0 is lost: it is neither at out nor in the DLQ nor dropped"]);
  const waiting = auditing();
  waiting.targets.accepts(0, "out");
  waiting.close();
  expect(waiting.violations).toEqual(["message 0 is still at its source when all is at rest"]);
});

test.each([
  ["an answer that was not heard", (auditor: Auditor) => auditor.targets.unheard(0, "out")],
  ["a source that took it back", (auditor: Auditor) => auditor.source.handedBack(0)],
])("a repeat has a cause: %s", (_, cause) => {
  for (const caused of [false, true]) {
    const auditor = auditing();
    if (caused) cause(auditor);
    auditor.targets.accepts(0, "out");
    auditor.targets.accepts(0, "out");
    auditor.source.forgotten(0);
    auditor.close();
    expect(auditor.violations).toEqual(caused ? [] : ["message 0 came 2 times to out, where 1 would have a cause"]);
  }
});

test("a dead letter has a cause: a refusal for good, or as many attempts as are configured", () => {
  const early = auditing();
  for (let tries = 1; tries <= 2; tries++) early.targets.failed(0, "out", timeout);
  early.letters.kept(letter, 0);
  expect(early.violations).toHaveLength(1);
  const late = auditing();
  for (let tries = 1; tries <= 3; tries++) late.targets.failed(0, "out", timeout);
  late.letters.kept(letter, 0);
  const refused = auditing();
  refused.targets.failed(0, "out", new BridgeError("FORBIDDEN", "no"));
  refused.letters.kept(letter, 0);
  expect([...late.violations, ...refused.violations]).toEqual([]);
});

test("a message that overtakes an older one of its key is told of, unless that one was given up", () => {
  const messages = [0, 1, 2].map((number) => ({ number, at: 0, ...(number !== 1 && { key: 1 }) }));
  for (const given of [true, false]) {
    const auditor = auditing({ messages, instances: 1 });
    for (const number of [1, 2]) {
      auditor.source.published(number);
      auditor.source.handedOut(number);
    }
    if (given) {
      auditor.targets.failed(0, "out", new BridgeError("FORBIDDEN", "no"));
      auditor.letters.kept(letter, 0);
    }
    auditor.targets.accepts(1, "out");
    auditor.targets.accepts(2, "out");
    expect(auditor.violations).toEqual(given ? [] : ["message 2 came to out before 0, which has the same key"]);
  }
});

test("a dead letter is deleted once its target has the message, and no more are told to be redriven", () => {
  for (const arrived of [true, false]) {
    const auditor = auditing();
    auditor.targets.failed(0, "out", new BridgeError("FORBIDDEN", "no"));
    auditor.letters.kept(letter, 0);
    auditor.source.forgotten(0);
    auditor.letters.redriven(0);
    if (arrived) auditor.targets.accepts(0, "out");
    auditor.letters.deleted(0, "out");
    auditor.letters.toldRedriven(arrived ? ["a"] : ["a", "b"]);
    auditor.close();
    expect(auditor.violations).toHaveLength(arrived ? 0 : 3);
  }
});

test("a send while the route is paused is told of", () => {
  const auditor = auditing();
  auditor.lease.holder = () => "first";
  for (const paused of [false, true]) {
    const by = { name: "first", alive: true, pending: 0, paused };
    auditor.source.delivers(by, 0, new AbortController().signal);
    auditor.targets.sends(by, 0, "out");
  }
  expect(auditor.violations).toEqual(["first sends 0 while its route is paused"]);
});

test("a send of what no source has handed out, or has taken back, is told of, unless an operator asked for it", () => {
  const by = { name: "first", alive: true, pending: 0 };
  const has = "first sends 0, and has no delivery of it that its source has not taken back";
  for (const [taken, asks, told] of [
    [false, undefined, []],
    [true, undefined, [has]],
    [true, "redriven", []],
    [true, "injected", []],
  ] as const) {
    const auditor = auditing();
    auditor.lease.holder = () => "first";
    const source = new AbortController();
    auditor.source.delivers(by, 0, source.signal);
    if (taken) source.abort();
    if (asks === "redriven") auditor.letters.redriven(0);
    if (asks === "injected") auditor.injects.asked(0);
    auditor.targets.sends(by, 0, "out");
    expect(auditor.violations).toEqual(told);
  }
  const nobodys = auditing();
  nobodys.lease.holder = () => "first";
  nobodys.targets.sends(by, 0, "out");
  expect(nobodys.violations).toEqual([has]);
});

test("a send under a lease that may end before it is told of, and so is what is settled when the lease has lapsed", () => {
  const by = { name: "first", alive: true, pending: 0 };
  const drawn = draw(1).document;
  const [route] = drawn.routes ?? [];
  if (route === undefined) throw new Error("a plan has a route");
  const document = { ...drawn, routes: [{ ...route, policy: { ...route.policy, send_timeout: "100ms" } }] };
  for (const [leftMs, told] of [
    [100, []],
    [99, ["sends 0 under a lease that ends before the send may"]],
    [-1, ["sends 0 after its lease has lapsed", "settles 0 after its lease has lapsed"]],
  ] as const) {
    const auditor = auditing({ document, leases: { latencyMs: 1 } });
    auditor.lease.holder = () => "first";
    auditor.ledger.now = () => 1_000;
    auditor.lease.until = () => 1_000 + leftMs;
    auditor.source.delivers(by, 0, new AbortController().signal);
    auditor.targets.sends(by, 0, "out");
    auditor.lease.acts(by, "settles", 0);
    expect(auditor.violations).toEqual(told.map((words) => `first ${words}`));
  }
});

test("under the lease of the targets all is sent by whoever has it, whoever asked for it, and nobody else connects", () => {
  const by = { name: "first", alive: true, pending: 0 };
  for (const holder of ["first", "other"]) {
    const auditor = auditing({
      outbox: { latencyMs: 1, shared: true, maxRecords: 1 },
      leases: { latencyMs: 1, of: "targets" },
    });
    auditor.lease.holder = () => holder;
    auditor.letters.redriven(0);
    auditor.lease.connects(by);
    auditor.targets.sends(by, 0, "out");
    auditor.targets.ends(by, 0, "out");
    auditor.lease.acts(by, "settles", 0);
    expect(auditor.violations).toEqual(
      holder === "first"
        ? []
        : ["connects to the targets", "sends 0", "still sends 0"].map(
            (what) => `first ${what} while other has the lease`,
          ),
    );
  }
});

test("more attempts than the cap allows are told of: of each process, and of all of them where the outbox counts", () => {
  const [one, other] = ["one", "other"].map((name) => ({ name, alive: true, pending: 0 }));
  const outbox = { latencyMs: 1, shared: true, maxRecords: 9 };
  for (const [changes, told] of [
    [{}, []],
    [{ outbox }, ["message 0 was tried 4 times at out, where 3 have a cause"]],
  ] as const) {
    const auditor = auditing({ faults: [], ...changes });
    for (const by of [one, one, one, other]) auditor.targets.failed(0, "out", timeout, by);
    expect(auditor.violations).toEqual(told);
  }
  const begun = auditing({ faults: [] });
  for (let tries = 1; tries <= 4; tries++) begun.targets.failed(0, "out", timeout, one);
  expect(begun.violations).toEqual(["message 0 was tried 4 times at out, where 3 have a cause"]);
  const { broker } = draw(1);
  for (const [ended, counts, told] of [
    // Its source does not know that its leg has ended.
    [true, false, ["message 0 was tried 5 times at out, where 4 have a cause"]],
    [false, false, ["message 0 was tried 5 times at out, where 4 have a cause"]],
    // Of the hold before it counts one.
    [false, true, []],
  ] as const) {
    const fanned = auditing({ faults: [], bindings: ["out", "other"], broker: { ...broker, counts } });
    const fail = (times: number): void => {
      for (let tries = 0; tries < times; tries++) fanned.targets.failed(0, "out", timeout, one);
    };
    fail(3);
    if (ended) fanned.letters.kept(letter, 0);
    fanned.source.handedBack(0);
    fail(2);
    expect(fanned.violations).toEqual(told);
    fail(1);
    if (counts) expect(fanned.violations).toEqual(["message 0 was tried 6 times at out, where 5 have a cause"]);
  }
  for (const heard of [true, false]) {
    const settled = auditing({ faults: [] });
    settled.targets.accepts(0, "out");
    settled.source.settles(0, DELIVERED, false, one, heard);
    for (let tries = 1; tries <= 4; tries++) settled.targets.failed(0, "out", timeout, one);
    expect(settled.violations).toEqual(heard ? [] : ["message 0 was tried 4 times at out, where 3 have a cause"]);
  }
  const lapsed = auditing({ faults: [], outbox });
  lapsed.outbox.lapsed(0, "out");
  for (let tries = 1; tries <= 4; tries++) lapsed.targets.failed(0, "out", timeout, one);
  expect(lapsed.violations).toEqual([]);
});

test("a send of a record while an older one of its key has not ended is told of, unless that was given up", () => {
  const messages = [0, 1].map((number) => ({ number, at: 0, key: 1 }));
  const by = { name: "first", alive: true, pending: 0 };
  for (const older of ["waits", "accepted", "kept", "done"] as const) {
    const auditor = auditing({ messages, faults: [], outbox: { latencyMs: 1, shared: true, maxRecords: 9 } });
    auditor.source.published(1);
    for (const number of [0, 1]) auditor.outbox.persisted(number, "out");
    if (older === "accepted" || older === "done") auditor.targets.accepts(0, "out");
    if (older === "done") auditor.outbox.ended(0, "out", "done", false);
    if (older === "kept") {
      auditor.targets.failed(0, "out", new BridgeError("FORBIDDEN", "no"));
      auditor.letters.kept(letter, 0);
    }
    auditor.targets.sends(by, 1, "out");
    expect(auditor.violations).toEqual(
      older === "waits"
        ? ["message 1 was sent to out before 0, which is before it in the outbox and has the same key"]
        : [],
    );
  }
});

test("an outbox that has forgotten how a record ended takes the message in again behind those that came meanwhile", () => {
  const messages = [0, 1].map((number) => ({ number, at: 0, key: 1 }));
  const by = { name: "first", alive: true, pending: 0 };
  for (const isForgotten of [false, true]) {
    const auditor = auditing({ messages, faults: [], outbox: { latencyMs: 1, shared: true, maxRecords: 1 } });
    auditor.source.published(1);
    auditor.outbox.persisted(0, "out");
    auditor.targets.failed(0, "out", new BridgeError("FORBIDDEN", "no"));
    auditor.letters.kept(letter, 0);
    if (isForgotten) auditor.outbox.ended(0, "out", "dead", false);
    auditor.outbox.persisted(1, "out");
    if (isForgotten) auditor.outbox.persisted(0, "out");
    auditor.targets.sends(by, 1, "out");
    auditor.targets.accepts(1, "out");
    expect(auditor.violations).toEqual(
      isForgotten ? [] : ["message 1 came to out before 0, which is before it in the outbox and has the same key"],
    );
  }
});

test("a lease that is released while what is open under it is neither closed nor lost is told of", () => {
  const by = { name: "first", alive: true, pending: 0 };
  const auditor = auditing({ leases: { latencyMs: 1 } });
  const closed = auditor.lease.opens(by);
  auditor.lease.releases(by);
  closed();
  closed();
  auditor.lease.releases(by);
  expect(auditor.violations).toEqual(["first releases the lease while its session is open"]);
});

test("a send of what the outbox has not lent is told of, unless a machine's clock stood still", () => {
  const by = { name: "first", alive: true, pending: 0 };
  const outbox = { latencyMs: 1, shared: true, maxRecords: 1 };
  for (const machine of [false, true])
    for (const lent of [false, true]) {
      const auditor = auditing({ outbox, faults: [{ kind: "freeze", at: 0, forMs: 1, machine }] });
      auditor.targets.lent = () => lent;
      auditor.targets.sends(by, 0, "out");
      expect(auditor.violations).toEqual(
        lent || machine ? [] : ["first sends 0 to out, which the outbox has not lent to it"],
      );
    }
});

test("what is dropped is lost, unless the policy drops and the target gave cause", () => {
  const dropped = { ...DELIVERED, outcome: "dropped" } as const;
  for (const [drops, cause] of [
    [false, true],
    [true, false],
    [true, true],
  ] as const) {
    const auditor = auditing({ drops });
    if (cause) auditor.targets.failed(0, "out", new BridgeError("FORBIDDEN", "no"));
    auditor.source.settles(0, dropped, false);
    expect(auditor.violations).toHaveLength(drops && cause ? 0 : 1);
  }
});

test("what an operator moves from the outbox is in the DLQ before it is dead, and no more are told to be moved", () => {
  const outbox = { latencyMs: 1, shared: true, maxRecords: 9 };
  for (const asked of [false, true]) {
    for (const kept of [false, true]) {
      const auditor = auditing({ outbox });
      auditor.outbox.persisted(0, "out");
      auditor.source.forgotten(0);
      if (asked) auditor.outbox.moves(0, "out");
      if (kept) auditor.letters.kept({ ...letter, errorCode: "REJECTED" }, 0);
      auditor.outbox.ended(0, "out", "dead", false);
      auditor.outbox.moveCount = 1;
      auditor.close();
      expect(auditor.violations).toHaveLength(asked ? Number(!kept) : 2);
    }
  }
});

test("a dead letter that an operator has deleted is no loss, and no proof that its target has it", () => {
  const auditor = auditing();
  auditor.targets.failed(0, "out", new BridgeError("FORBIDDEN", "no"));
  auditor.letters.kept(letter, 0);
  auditor.source.settles(0, { ...DELIVERED, outcome: "dead_lettered" }, false);
  auditor.letters.discarded(0, "out");
  auditor.source.forgotten(0);
  auditor.close();
  expect(auditor.violations).toEqual([]);
});

test("what has expired may be dropped when the policy says so and some clock shows it, and is sent no more by that clock", () => {
  for (const shown of [1, 11]) {
    const auditor = auditing({ messages: [{ number: 0, at: 0, expiresAt: 10 }], dropsExpired: true });
    auditor.ledger.latest = () => shown;
    const name = "first";
    auditor.lease.holder = () => name;
    const by = { name, alive: true, pending: 0, wall: () => shown };
    auditor.source.delivers(by, 0, new AbortController().signal);
    auditor.targets.sends(by, 0, "out");
    auditor.source.settles(0, { ...DELIVERED, outcome: "expired" }, false);
    expect(auditor.violations).toEqual([
      shown > 10
        ? "first sends 0, which has expired by its clock"
        : "message 0 was settled as expired without proof for out",
    ]);
  }
});

test("what is filtered out is dropped, unless it is to be kept, and only when a processor has said so", () => {
  for (const [said, keepsFiltered] of [
    [true, false],
    [false, false],
    [true, true],
  ] as const) {
    const auditor = auditing({ keepsFiltered });
    if (said) auditor.source.filtered(0);
    auditor.source.settles(0, { ...DELIVERED, outcome: "filtered" }, false);
    expect(auditor.violations).toHaveLength(said && !keepsFiltered ? 0 : 1);
  }
});

test("what lacks the header that an address or a resolver needs goes to the DLQ, and so does what is hardly a message", () => {
  for (const [dress, looksAt, isSent] of [
    ["bare", "address", false],
    ["bare", undefined, true],
    ["headed", "rules", true],
    ["forged", "header_map", true],
    ["crowded", undefined, false],
  ] as const) {
    const auditor = auditing({ messages: [{ number: 0, at: 0, dress }], ...(looksAt && { looksAt }) });
    auditor.letters.kept(letter, 0);
    expect(auditor.violations).toHaveLength(isSent ? 1 : 0);
  }
});

test("a message that has no payload, and so no binding, is in the DLQ for all of them", () => {
  for (const form of ["text", undefined] as const) {
    const auditor = auditing({ messages: [{ number: 0, at: 0, ...(form && { form }) }] });
    auditor.letters.kept({ ...letter, bindingId: "" }, 0);
    auditor.source.settles(0, { ...DELIVERED, outcome: "dead_lettered" }, false);
    expect(auditor.violations).toHaveLength(form === undefined ? 1 : 0);
  }
});
