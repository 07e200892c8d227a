import { getEventListeners } from "node:events";
import { openMemoryLeases } from "@bridge/memory";
import { type DeadLetter, RESERVED } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { NO_JOB, replayId } from "../../src/dlq-job/replay-id.ts";
import { deadLetterOf } from "../../src/route/dead-letter.ts";
import { envelopeOf } from "../support/envelope.ts";
import { turn } from "../support/fake-clock.ts";
import { heldRoute, sourceMessage } from "../support/held-route.ts";
import { bound, refusal } from "../support/memory-bridge.ts";

const entryOf = (bindingId: string): DeadLetter =>
  deadLetterOf({ received: envelopeOf(), routeId: "r", bindingId, attempts: 1, failedAt: 5 }, refusal);
const NOT_BEGUN = { kind: "not_begun" };

describe("what an operator injects", () => {
  test("is told what became of it, and leaves nothing behind on the caller's signal", async () => {
    const { route, sender } = heldRoute();
    const { signal } = new AbortController();
    const delivered = route.inject(sourceMessage("m1"), signal);
    await turn();
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    sender.sends[0]?.accept();
    expect(await delivered).toEqual({ envelopeId: "m1", outcome: "delivered", failedBindings: [] });
    const refused = route.inject(sourceMessage("m2"), signal);
    await turn();
    sender.sends[1]?.refuse(refusal);
    expect(await refused).toMatchObject({ outcome: "dead_lettered", failedBindings: ["out"], error: refusal });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(sender.sends[0]?.envelope.sourceId).toBe("inject");
  });

  test("is refused for what stands in its way, each time in words of its own", async () => {
    const paused = heldRoute();
    paused.parts.control.pause.pause();
    await expect(paused.route.inject(sourceMessage("m"), bound())).rejects.toMatchObject({
      kind: "conflict",
      message: "the route is paused: resume it first",
    });
    const leases = () => openMemoryLeases({ name: "route-injects" });
    const leased = heldRoute({ session: true, leases });
    await expect(leased.route.inject(sourceMessage("m"), bound())).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("lease of session s") as string,
    });
    const replaced = heldRoute();
    replaced.route.retire();
    await expect(replaced.route.inject(sourceMessage("m"), bound())).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("being replaced") as string,
    });
    for (const { sender } of [paused, leased, replaced]) expect(sender.sends).toEqual([]);
  });

  test("and waits for room when it is given up, or when the route stops, was never begun", async () => {
    const { route, sender } = heldRoute({ policy: { maxInFlight: 1 } });
    const first = route.inject(sourceMessage("m1"), bound());
    await turn();
    const caller = new AbortController();
    const given = route.inject(sourceMessage("m2"), caller.signal);
    const late = route.inject(sourceMessage("m3"), bound());
    caller.abort(new Error("enough"));
    await expect(given).rejects.toMatchObject(NOT_BEGUN);
    route.cancelAll();
    await expect(first).rejects.toMatchObject({ kind: "failed" });
    await expect(late).rejects.toMatchObject(NOT_BEGUN);
    expect(sender.sends).toHaveLength(1);
    expect(route.admission.hasRoom).toBe(true);
  });

  test("and is given up while it is sent is cancelled, and its caller hears that reason", async () => {
    const { route, sender, parts } = heldRoute();
    const caller = new AbortController();
    const injected = route.inject(sourceMessage("m1"), caller.signal);
    await turn();
    caller.abort(new Error("enough"));
    await expect(injected).rejects.toThrow("enough");
    expect(sender.sends[0]?.signal.aborted).toBe(true);
    expect(parts.targets.get("out")?.account.read()).toMatchObject({ injected: 1, dispositions: { abandoned: 1 } });
    // A source would have to be told to hand it out again; of an inject there is none.
    expect(route.left).toBe(false);
  });

  test("and meets a bug is answered all the same", async () => {
    const broken = (): never => {
      throw new Error("beyond repair");
    };
    const { route, bugs } = heldRoute({}, ({ surprises }) => ({
      resolver: broken,
      surprises: Object.assign(surprises, { tell: broken }),
    }));
    await expect(route.inject(sourceMessage("m1"), bound())).rejects.toMatchObject({
      kind: "failed",
      message: "the inject failed: internal error",
    });
    expect(bugs).toHaveLength(1);
  });
});

describe("spec 4.6.4, 4.6.5: a dead letter that is redriven", () => {
  const TWO = { bindings: ["a", "b"] };

  test("goes to the binding that failed, past the resolver, under an id of its own that is remembered", async () => {
    const { route, sender, parts } = heldRoute(TWO);
    const replayed = route.replay(entryOf("b"), bound());
    await turn();
    expect(sender.sends.map(({ address }) => address)).toEqual(["b"]);
    sender.sends[0]?.accept();
    expect(await replayed).toMatchObject({ envelopeId: "id", outcome: "delivered" });
    expect(sender.sends[0]?.envelope.headers[RESERVED.causationId]).toBe("m1");
    expect(parts.recent.redrives.of("m1")).toEqual([{ envelopeId: "id", jobId: undefined }]);
  });

  test("is resolved anew when it failed before a binding was chosen", async () => {
    const { route, sender } = heldRoute(TWO);
    const replayed = route.replay(entryOf(""), bound());
    await turn();
    expect(sender.sends.map(({ address }) => address)).toEqual(["a"]);
    sender.sends[0]?.accept();
    expect(await replayed).toMatchObject({ outcome: "delivered" });
  });

  test.each([
    ["a job, which is remembered", "job-1", "job-1"],
    ["an operator, alone", NO_JOB, undefined],
  ])("has the same id whenever it is repeated by %s", async (_, jobId, remembered) => {
    const { route, sender, parts } = heldRoute();
    const request = { jobId, attempt: 2 };
    const entry = entryOf("out");
    const replayed = route.replay(entry, bound(), request);
    await turn();
    sender.sends[0]?.accept();
    const envelopeId = replayId(request, entry.id);
    expect(await replayed).toMatchObject({ envelopeId, outcome: "delivered" });
    expect(parts.recent.redrives.of("m1")).toEqual([{ envelopeId, jobId: remembered }]);
  });

  test("is not begun when its job does not want it any more, and its room is free", async () => {
    const { route, sender } = heldRoute({ policy: { maxInFlight: 1 } });
    const request = { jobId: "job-1", attempt: 1, mayBegin: () => false };
    await expect(route.replay(entryOf("out"), bound(), request)).rejects.toMatchObject(NOT_BEGUN);
    expect([sender.sends.length, route.admission.hasRoom]).toEqual([0, true]);
  });

  test("is not begun once the route stops, though what a caller has brought still is", async () => {
    const { route, sender } = heldRoute();
    await route.quiesce(bound(), false);
    await expect(route.replay(entryOf("out"), bound())).rejects.toMatchObject(NOT_BEGUN);
    const injected = route.inject(sourceMessage("m2"), bound());
    await turn();
    sender.sends[0]?.accept();
    expect(await injected).toMatchObject({ outcome: "delivered" });
  });
});
