import type { StoreView } from "@bridge/core";
import type { Sample } from "../family.ts";
import { boxedRoutes } from "./duration-metrics.ts";
import { legLabels, type Metric, type Reading, type Waiting } from "./metric.ts";

/** Stores, and what waits in the outbox. */
export const STORE_METRICS: readonly Metric[] = [
  {
    name: "bridge_outbox_oldest_age_seconds",
    type: "gauge",
    help: "How long the oldest leg in the outbox has been there; 0 when none is.",
    read: (reading) => (reading.waiting === undefined ? [] : ages(reading, reading.waiting)),
  },
  {
    name: "bridge_store_writable",
    type: "gauge",
    help: "1 while the store is open and takes what is written to it; 0 when its disk is full or read-only, say.",
    read: perStore(({ open, fault }) => Number(open && fault === undefined)),
  },
  {
    name: "bridge_store_set_aside_files",
    type: "gauge",
    help: "Damaged files that the store has set aside and that no operator has acknowledged; no sample while it is not open.",
    read: perOpenStore(({ setAside }) => setAside.length),
  },
  {
    name: "bridge_store_spoiled_records",
    type: "gauge",
    help: "Records that were found not to be as they were written: they are kept, and never delivered; no sample while the store is not open.",
    read: perOpenStore(({ spoiled = 0 }) => spoiled),
  },
];

function perStore(value: (store: StoreView) => number) {
  return ({ view }: Reading) => view.stores.map(sampleOf(value));
}

/** Of what is in the others nobody knows. */
function perOpenStore(value: (store: StoreView) => number) {
  return ({ view }: Reading) => view.stores.filter(({ open }) => open).map(sampleOf(value));
}

function sampleOf(value: (store: StoreView) => number) {
  return (store: StoreView): Sample => ({ labels: { store: store.role }, value: value(store) });
}

/** A sample for each binding that has, or may have, something in the outbox. */
function* ages(reading: Reading, waiting: readonly Waiting[]): Generator<Sample> {
  const boxed = new Set(boxedRoutes(reading));
  const told = new Set(waiting.map(keyOf));
  for (const one of waiting) yield { labels: legLabels(one), value: one.oldestAgeMs / 1_000 };
  for (const leg of reading.stats.legs)
    if (boxed.has(leg.routeId) && leg.bindingId !== "" && !told.has(keyOf(leg)))
      yield { labels: legLabels(leg), value: 0 };
}

function keyOf({ routeId, bindingId }: Pick<Waiting, "routeId" | "bindingId">): string {
  return JSON.stringify([routeId, bindingId]);
}
