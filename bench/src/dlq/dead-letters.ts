import { openFileDlq } from "@bridge/dlq-file";
import { type DeadLetter, type ErrorClass, silentLogger, systemClock } from "@bridge/ports";

export const ROUTES = 10;
/** Of each route there are the same number. */
export const routeName = (index: number): string => `route-${index % ROUTES}`;
export const CATEGORIES = ["transient", "permanent", "rejected", "expired", "filtered"] as const;
/** The first entry's time; there is one each millisecond. */
export const BEGIN = Date.UTC(2026, 0, 1);

/** Puts waiting for the disk together. */
const TOGETHER = 1_000;

/** Any of the four filters may be given or not (spec 4.3); of each combination so many pages are asked for. */
export const COMBINATIONS = 16;
export const SAMPLES = 100;
export const PAGES = COMBINATIONS * SAMPLES;

export interface Filling {
  readonly path: string;
  readonly entries: number;
  readonly size: number;
  readonly bindingId: string;
}

export type DlqFile = ReturnType<typeof openFileDlq>;

export function openDlq(path: string): DlqFile {
  return openFileDlq({ path, clock: systemClock, logger: silentLogger });
}

/** Fills a store through its own interface. */
export async function fill(store: DlqFile, { entries, size, bindingId }: Omit<Filling, "path">): Promise<void> {
  const { signal } = new AbortController();
  const payload = new Uint8Array(size).fill(0x61);
  for (let begin = 0; begin < entries; begin += TOGETHER) {
    const count = Math.min(TOGETHER, entries - begin);
    const group = Array.from({ length: count }, (_, at) => deadLetter(begin + at, payload, bindingId));
    await Promise.all(group.map((entry) => store.put(entry, signal)));
  }
}

function deadLetter(number: number, payload: Uint8Array, bindingId: string): DeadLetter {
  const id = `message-${number}`;
  return {
    id: `entry-${number}`,
    routeId: routeName(number),
    bindingId,
    sourceId: "in",
    correlationId: id,
    subject: "plant/7/temperature",
    reason: "the message itself was refused",
    category: categoryOf(number),
    errorCode: "REJECTED",
    lastError: "the target answered with 409",
    failedAt: BEGIN + number,
    attempts: 1,
    envelope: {
      id,
      sourceId: "in",
      subject: "plant/7/temperature",
      contentType: "application/octet-stream",
      headers: { device: "boiler-3", unit: "celsius" },
      payload,
      correlationId: id,
      receivedAt: BEGIN + number,
    },
  };
}

/** All of the first route are of one category, so that some filters match nothing although each half matches much. */
function categoryOf(number: number): ErrorClass {
  if (number % ROUTES === 0) return "rejected";
  return CATEGORIES[Math.floor(number / ROUTES) % CATEGORIES.length] ?? "rejected";
}
