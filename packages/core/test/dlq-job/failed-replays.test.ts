import { type DeadLetter, newHeaders, RESERVED } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { replayId } from "../../src/dlq-job/replay-id.ts";
import { replayOf } from "../../src/route/injection.ts";
import { envelopeOf } from "../support/envelope.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

const entry: DeadLetter = {
  id: "e1",
  routeId: "r",
  bindingId: "out",
  sourceId: "in",
  correlationId: "c",
  subject: "s",
  reason: "refused",
  category: "rejected",
  errorCode: "REJECTED",
  lastError: "no",
  failedAt: 1,
  attempts: 1,
  envelope: envelopeOf({ id: "original" }),
};

describe("a replay of a job", () => {
  const seams = { clock: { now: () => 5 } as never, random: { id: () => "fresh", next: () => 0 } };

  test("operators 3.4: goes out under an id made from job, entry and try, and names its job as far as the outbox", () => {
    const { envelope } = replayOf(entry, seams, { jobId: "job-1", attempt: 2 });
    expect(envelope.id).toBe(replayId({ jobId: "job-1", attempt: 2 }, "e1"));
    expect(envelope.headers[RESERVED.dedupId]).toBe(envelope.id);
    expect(envelope.headers[RESERVED.job]).toBe("job-1/2");
  });

  test("another redrive names none, whatever the entry says", () => {
    const headers = Object.assign(newHeaders(), { [RESERVED.job]: "job-9/9" });
    const { envelope } = replayOf({ ...entry, envelope: { ...entry.envelope, headers } }, seams);
    expect(envelope.id).toBe("fresh");
    expect(envelope.headers[RESERVED.job]).toBeUndefined();
  });
});

test("operators 1.4: an entry that is quarantined is not redriven by its id", async () => {
  const bridge = memoryBridge();
  const { hub, supervisor } = bridge;
  await supervisor.start(bound());
  const { dlq } = bridge;
  await dlq.put(entry, bound());
  await dlq.marks?.mark(new Map([["e1", { quarantined: true }]]), bound());
  expect(await supervisor.redrive(["e1"], bound())).toEqual({
    redriven: 0,
    failed: 1,
    errors: [{ id: "e1", error: "entry is quarantined" }],
  });
  expect(hub.channel("out").arrived).toBe(0);
  await supervisor.shutdown();
});
