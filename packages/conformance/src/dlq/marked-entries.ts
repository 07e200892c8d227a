import {
  type DeadLetter,
  deadLetterHead,
  type DeadLetterHead,
  type DeadLetterQuery,
  type DlqStore,
  type MarkChange,
  marked,
} from "@bridge/ports";
import { putAll } from "./check.ts";
import { at, deadLetter } from "./dead-letters.ts";
import { marksOf } from "./parts.ts";

const COUNT = 60;
const CODES = ["UNAVAILABLE", "TIMEOUT", "FORBIDDEN"] as const;
const CATEGORIES = ["transient", "permanent", "rejected"] as const;

/** Entries that differ in all that a query may ask for. Three fail at each time. */
export const VARIED: readonly DeadLetter[] = Array.from({ length: COUNT }, (_, i) =>
  deadLetter(`v${String((i * 37) % COUNT).padStart(2, "0")}`, {
    routeId: `route-${i % 2}`,
    bindingId: i % 5 === 0 ? "" : `binding-${i % 3}`,
    category: CATEGORIES[i % 3] ?? "permanent",
    errorCode: CODES[i % 3] ?? "INTERNAL",
    lastError: `attempt ${i} at shop ${"abcd"[i % 4]}`,
    correlationId: i % 7 === 0 ? "" : `correlation-${i % 4}`,
    subject: `shop/${i % 6}/orders`,
    failedAt: at(Math.floor(i / 3)),
    envelope: { id: `message-${i % 20}` },
  }),
);

/** What is added to them, by id. */
export const MARKS: ReadonlyMap<string, MarkChange> = new Map(
  VARIED.flatMap(({ id }, i): [string, MarkChange][] => {
    if (i % 4 === 1) return [[id, { assignee: i % 8 === 1 ? "alice" : "bob" }]];
    if (i % 4 === 2) return [[id, { quarantined: true }]];
    if (i % 4 === 3) return [[id, { redriven: redriven(i % 8 === 3 ? "job-1" : "job-2") }]];
    return [];
  }),
);

/** As a store has to show them, oldest first. */
export const VARIED_HEADS: readonly DeadLetterHead[] = VARIED.map((entry) => {
  const change = MARKS.get(entry.id);
  const marks = change && marked(undefined, change);
  return { ...deadLetterHead(entry), ...(marks && { marks }) };
}).toSorted((a, b) => a.failedAt - b.failedAt || (a.id < b.id ? -1 : 1));

/** Each field of a query, alone and with others. */
export const QUERIES: readonly DeadLetterQuery[] = [
  {},
  { routeId: "route-1" },
  { category: "rejected" },
  { routeId: "route-0", category: "permanent" },
  { since: at(3), before: at(17) },
  { routeId: "route-1", since: at(3) },
  { bindingId: "binding-2" },
  { bindingId: "" },
  { errorCode: "TIMEOUT", before: at(10) },
  { envelopeId: "message-7" },
  { envelopeId: "message-8", routeId: "route-1" },
  { correlationId: "correlation-2" },
  { correlationId: "", since: at(2) },
  { correlationId: "correlation-1", before: at(9) },
  { subjectPrefix: "shop/4" },
  { assignee: "alice" },
  { assignee: "" },
  { quarantined: true },
  { quarantined: false, category: "transient" },
  { jobId: "job-2" },
  { jobId: "nobody's" },
  { routeId: "no route" },
];

/** Puts them, and marks them. */
export async function fillVaried(store: DlqStore, signal: AbortSignal): Promise<void> {
  await putAll(store, VARIED, signal);
  await marksOf(store).mark(MARKS, signal);
}

export function redriven(jobId: string): NonNullable<MarkChange["redriven"]> {
  return { lastAt: at(100), lastCode: "TIMEOUT", lastError: "no answer", jobId, jobTry: 1 };
}
