import { hash } from "node:crypto";
import { openFileDlq } from "@bridge/dlq-file";
import { type DeadLetter, type ErrorClass, silentLogger, systemClock } from "@bridge/ports";

export const ROUTES = 10;
/** Of each route there are the same number. */
export const routeName = (index: number): string => `route-${index % ROUTES}`;
export const CATEGORIES = ["transient", "permanent", "rejected", "expired", "filtered"] as const;
/** What the entries of each route failed with, in turn. */
const ERRORS = ["conflict", "out of stock", "no such shop", "closed for the night", "too large"] as const;
/** The first entry's time. */
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
  /** Between one entry and the next. Default: 1. */
  readonly stepMs?: number | undefined;
}

export type DlqFile = ReturnType<typeof openFileDlq>;

export function openDlq(path: string): DlqFile {
  return openFileDlq({ path, clock: systemClock, logger: silentLogger });
}

/** Fills a store through its own interface. */
export async function fill(store: DlqFile, filling: Omit<Filling, "path">): Promise<void> {
  const { entries, size } = filling;
  const { signal } = new AbortController();
  const payload = new Uint8Array(size).fill(0x61);
  for (let begin = 0; begin < entries; begin += TOGETHER) {
    const count = Math.min(TOGETHER, entries - begin);
    const group = Array.from({ length: count }, (_, at) => deadLetter(begin + at, payload, filling));
    await Promise.all(group.map((entry) => store.put(entry, signal)));
  }
}

function deadLetter(
  number: number,
  payload: Uint8Array,
  { bindingId, stepMs = 1 }: Pick<Filling, "bindingId" | "stepMs">,
): DeadLetter {
  const id = `message-${number}`;
  const failedAt = BEGIN + number * stepMs;
  return {
    id: hash("sha256", `entry-${number}`),
    routeId: routeName(number),
    bindingId,
    sourceId: "in",
    correlationId: id,
    subject: "plant/7/temperature",
    reason: "the message itself was refused",
    category: categoryOf(number),
    errorCode: "REJECTED",
    lastError: `the target answered with 409: ${ERRORS[Math.floor(number / ROUTES) % ERRORS.length] ?? ""}`,
    failedAt,
    attempts: 1,
    envelope: {
      id,
      sourceId: "in",
      subject: "plant/7/temperature",
      contentType: "application/octet-stream",
      headers: { device: "boiler-3", unit: "celsius" },
      payload,
      correlationId: id,
      receivedAt: failedAt,
    },
  };
}

/** All of the first route are of one category, so that some filters match nothing although each half matches much. */
function categoryOf(number: number): ErrorClass {
  if (number % ROUTES === 0) return "rejected";
  return CATEGORIES[Math.floor(number / ROUTES) % CATEGORIES.length] ?? "rejected";
}
