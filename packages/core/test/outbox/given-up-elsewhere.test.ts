import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { type DlqStore, RESERVED, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { replayHeader } from "../../src/dlq-job/replay-id.ts";
import { RouteOutbox } from "../../src/outbox/route-outbox.ts";
import { Failures } from "../../src/route/failures.ts";
import { entryOf } from "../dlq-job/job-bridge.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";

const FAILED = { lastCode: "FORBIDDEN", lastError: "not you" } as const;

test("an inject that another instance has given up is answered, also when the DLQ does not say whether it has the entry", async () => {
  const clock = new BoundingClock();
  const store = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const { supervisor, config } = memoryBridge({
    deliveryMode: "shared_outbox",
    clock,
    // Only the other instance delivers.
    outbox: { ...store, shared: true, claim: async () => [] },
    dlq: { ...openMemoryDlq({ maxEntries: 10 }), get: () => new Promise(() => {}) },
  });
  await supervisor.start(bound());
  const answers: string[] = [];
  const injected = supervisor.inject(config.routes[0]?.id ?? "", { id: "m", payload: "hello" });
  void injected.then(({ outcome }) => answers.push(outcome));
  await clock.advance(1_000);
  const [record] = await store.list({}, { limit: 1, offset: 0 }, bound());
  const claim = await store.claimOne(record?.id ?? "", 1_000, bound());
  await store.finish([{ id: record?.id ?? "", token: claim?.token ?? "", outcome: { kind: "dead" } }], bound());
  await clock.advance(10_000);
  expect(answers).toEqual(["dead_lettered"]);
  await supervisor.shutdown();
});

test.each<[string, DlqStore["get"] | undefined, object]>([
  [
    "the mark on the dead letter that was redriven",
    async () => entryOf(1, { marks: { redrives: { count: 1, lastAt: 1, ...FAILED, jobId: "j", jobTry: 2 } } }),
    { disposition: "dead_lettered", error: { code: "FORBIDDEN", message: "not you" } },
  ],
  [
    "the dead letter that there is now",
    async (id) => (id === "e1" ? undefined : entryOf(1, { errorCode: "PAYLOAD_TOO_LARGE", lastError: "too much" })),
    { disposition: "dead_lettered", error: { code: "PAYLOAD_TOO_LARGE", message: "too much" } },
  ],
  ["that there is no DLQ", undefined, { disposition: "dropped", error: undefined }],
  ["that there is none", async () => undefined, { disposition: "dropped", error: undefined }],
])("what another instance has made of a redrive is told by %s", async (_, get, told) => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const outbox = { ...memory, shared: true, status: async () => "dead" as const };
  const { parts: built } = partsOf({ clock, outbox, deliveryMode: "shared_outbox" });
  const [route] = built.routes.values();
  if (route === undefined) throw new Error("the bridge has no route");
  const parts = { ...route, dlq: () => get && { ...openMemoryDlq({ maxEntries: 10 }), get } };
  using own = new RouteOutbox({ parts, failures: new Failures(parts) });
  using redriven = own.watchEntry("e1");
  const received = envelopeOf({ headers: { [RESERVED.job]: replayHeader({ jobId: "j", attempt: 2 }) } });
  const records = [{ disposition: "persisted", bindingId: "out", recordId: "1" } as const];
  const handed = { disposition: "persisted", failedBindings: [], records } as const;
  expect(await own.drained(received, handed, redriven, bound())).toMatchObject({ ...told, failedBindings: ["out"] });
});
