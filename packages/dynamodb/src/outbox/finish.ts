import type { ClaimEnd } from "@bridge/ports";
import type { Item } from "../client/batches.ts";
import type { Change } from "./items.ts";
import { partsOfToken } from "./lend.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { number, type StoredRecord, text } from "./record-item.ts";

const MARGIN_S = 60;
const REFUSED = Promise.resolve(false);
/** What evidence against duplicates does not need. */
const DELIVERED = [
  "shard",
  "place",
  "token",
  "held_ms",
  "held_by",
  "held_until",
  "due_at",
  "entry_id",
  "address",
  "envelope",
  "payload",
  "received",
  "received_payload",
] as const;

/** Ends loans, each by a condition that its token is the record's; those of one record one after another. */
export async function finish(
  parts: OutboxParts,
  ends: readonly ClaimEnd[],
  signal: AbortSignal,
): Promise<readonly boolean[]> {
  const byRecord = new Map<string, Promise<boolean>>();
  const orders = new Set<string>();
  const entered = await Promise.all(
    ends.map((end) => {
      const token = partsOfToken(end.token);
      if (token === undefined) return REFUSED;
      const { key, nonce } = token;
      const before = byRecord.get(key) ?? REFUSED;
      const entering = before.then(() => enter(parts, end, key, nonce, orders, signal));
      byRecord.set(key, entering);
      return entering;
    }),
  );
  await parts.orders.trim(orders, signal);
  return entered;
}

async function enter(
  parts: OutboxParts,
  end: ClaimEnd,
  key: string,
  nonce: string,
  orders: Set<string>,
  signal: AbortSignal,
): Promise<boolean> {
  const { items, random, lanes } = parts;
  const word = random.id();
  const change = end.outcome.kind === "retry" ? retryOf(parts, end.outcome) : finishOf(parts, end.outcome.kind);
  const window = lanes.with(key);
  const record = window?.find(key);
  const result = await items.change(
    key,
    { ...change, set: { ...change.set, ended_by: text(word) }, when: { id: text(end.id), token: text(nonce) } },
    signal,
  );
  const made = result.made || (result.unsure && (await items.get(key, signal))?.["ended_by"]?.S === word);
  if (window === undefined || record?.stored?.token !== nonce) return made;
  const { stored } = record;
  if (!made) {
    window.unread(record);
  } else if (end.outcome.kind === "retry") {
    window.moved(record, retried(parts, stored, end.outcome), false);
  } else {
    window.drop(record);
    if (stored.order !== undefined) {
      parts.orders.over(stored.order.line);
      orders.add(stored.order.item);
    }
  }
  return made;
}

function finishOf(parts: OutboxParts, status: "done" | "dead"): Omit<Change, "when"> {
  return { set: finishedNow(parts, status), remove: DELIVERED, add: { revision: number(1) } };
}

/** What a record says that is finished from now on. */
export function finishedNow({ clock, retentionMs }: OutboxParts, status: "done" | "dead"): Item {
  const now = clock.now();
  return {
    status: text(status),
    finished_at: number(now),
    expires_at: number(Math.ceil((now + retentionMs) / 1_000) + MARGIN_S),
  };
}

type Retry = Extract<ClaimEnd["outcome"], { readonly kind: "retry" }>;

function retryOf({ timeline, clock }: OutboxParts, { delayMs, attempts }: Retry): Omit<Change, "when"> {
  return {
    set: {
      attempts: number(attempts),
      held_ms: number(delayMs),
      held_by: text(timeline.name),
      held_until: number(clock.monotonic() + delayMs),
      due_at: number(clock.now() + delayMs),
    },
    remove: ["token"],
    add: { revision: number(1) },
  };
}

function retried({ timeline, clock }: OutboxParts, stored: StoredRecord, { delayMs, attempts }: Retry): StoredRecord {
  const dueAt = clock.now() + delayMs;
  const hold = { kind: "waits", ms: delayMs, by: timeline.name, until: clock.monotonic() + delayMs, dueAt } as const;
  return { ...stored, attempts, revision: stored.revision + 1, token: undefined, hold };
}
