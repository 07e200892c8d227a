import { openMemoryOutbox } from "@bridge/memory";
import {
  type Delivery,
  type Envelope,
  type OutboxRecord,
  type OutboxStore,
  type PersistResult,
  silentLogger,
  systemRandom,
} from "@bridge/ports";
import { OutboxDepth } from "../../src/outbox/outbox-depth.ts";
import { Failures } from "../../src/route/failures.ts";
import { SharedOutbox } from "../../src/route/shared-outbox.ts";
import { Work } from "../../src/route/work.ts";
import type { FakeClock } from "./fake-clock.ts";
import { partsOf } from "./parts-of.ts";

interface Given {
  readonly bindings?: readonly string[];
  readonly max?: number;
  readonly clock?: FakeClock;
  readonly shared?: boolean;
  /** Takes the place of a write; `undefined` lets the memory outbox do it. */
  readonly write?: (records: readonly OutboxRecord[], times: number) => Promise<readonly PersistResult[]> | undefined;
}

/** The way of a route into an outbox in memory. */
export function wayIntoOutbox({
  bindings = ["out"],
  max = 10,
  clock: given,
  shared = false,
  write = () => undefined,
}: Given = {}) {
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (message: string) => void errors.push(message), child: () => logger };
  let ids = 0;
  const { bridge, parts } = partsOf(
    {
      bindings,
      logger,
      deliveryMode: "shared_outbox",
      ...(given !== undefined && { clock: given }),
      policy: {
        onPermanentFailure: "drop",
        backoff: { initialIntervalMs: 1_000, maxIntervalMs: 8_000, multiplier: 2, jitter: 0 },
      },
    },
    { next: () => 0.5, id: () => `record-${ids++}` },
  );
  const [route] = parts.routes.values();
  if (route === undefined) throw new Error("the bridge has no route");
  const { clock } = bridge;
  const inner = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
  const writes: (readonly OutboxRecord[])[] = [];
  const store: OutboxStore = {
    ...inner,
    shared,
    persist: (records, signal) => write(records, writes.push(records)) ?? inner.persist(records, signal),
  };
  const depth = new OutboxDepth(max);
  const woken: string[] = [];
  const open = { store: store as OutboxStore | undefined };
  const stop = new AbortController();
  const outbox = new SharedOutbox({
    parts: route,
    failures: new Failures(route),
    store: () => open.store,
    depth,
    givenUp: stop.signal,
    wake: (bindingId) => void woken.push(bindingId),
  });
  const workOf = (envelope: Envelope, more: Partial<Delivery> = {}, entry?: Work["entry"]): Work => {
    const delivery: Delivery = { message: envelope, settle: () => {}, ...more };
    return new Work({ delivery, envelope, origin: "received", startedAt: clock.monotonic(), entry });
  };
  const hand = (work: Work) => outbox.handOn(work, [...route.targets.values()]);
  const books = (bindingId = "out") => route.targets.get(bindingId)?.account.read();
  return { clock, route, store, open, stop, outbox, depth, woken, writes, errors, workOf, hand, books };
}
