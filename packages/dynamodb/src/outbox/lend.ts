import { endOf } from "./hold.ts";
import { type LaneWindow, type Waiting, seen } from "./lane-window.ts";
import { tagOf } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { number, type StoredRecord, text } from "./record-item.ts";

/** After so many claims that met with nobody, the oldest come first again. */
const CONTENTION = 20;

export interface Loan {
  readonly record: Waiting;
  /** With its content. */
  readonly stored: StoredRecord;
  readonly token: string;
}

/**
 * Takes picked records on loan, each by a condition that it is as it was seen. Those of a key only when its first was
 * got, and none behind one that was not.
 */
export async function lend(
  parts: OutboxParts,
  window: LaneWindow,
  picked: readonly Waiting[],
  loanMs: number,
  signal: AbortSignal,
): Promise<readonly Loan[]> {
  const turns = new Map<string, Waiting[]>();
  const first: Waiting[] = [];
  for (const record of picked) {
    const tag = record.order === undefined ? undefined : tagOf(record.order.line);
    const turn = tag === undefined ? undefined : turns.get(tag);
    if (turn === undefined) first.push(record);
    else turn.push(record);
    if (tag !== undefined && turn === undefined) turns.set(tag, [record]);
  }
  const loans = new Map<Waiting, Loan>();
  const take = async (records: readonly Waiting[]): Promise<void> => {
    await Promise.all(
      records.map(async (record) => {
        const loan = await lendOne(parts, window, record, loanMs, signal);
        if (loan !== undefined) loans.set(record, loan);
      }),
    );
  };
  try {
    await take(first);
    await take([...turns.values()].flatMap(([head, ...rest]) => (head !== undefined && loans.has(head) ? rest : [])));
    for (const turn of turns.values()) await giveBackGap(parts, window, turn, loans, signal);
  } finally {
    for (const record of picked) record.busy = false;
  }
  if (loans.size < picked.length) window.contention = CONTENTION;
  else if (window.contention > 0) window.contention--;
  return picked.flatMap((record) => loans.get(record) ?? []);
}

/** Whether it may be lent at the moment, as it was read; who asks for the first time of a loan that another's clock measures has to wait. */
export function isFree(parts: OutboxParts, stored: StoredRecord, evenIfNotDue: boolean): boolean {
  const { hold } = stored;
  if (hold === undefined || (evenIfNotDue && hold.kind === "waits")) return true;
  const now = parts.clock.monotonic();
  return endOf(hold, seen(parts.seenAt, stored, now), parts.timeline) <= now;
}

/** `undefined` when it has changed since it was seen. */
export async function lendOne(
  parts: OutboxParts,
  window: LaneWindow,
  record: Waiting,
  loanMs: number,
  signal: AbortSignal,
): Promise<Loan | undefined> {
  const { stored } = record;
  if (stored === undefined) return undefined;
  const { items, random, timeline } = parts;
  const nonce = random.id();
  const hasContent = "payload" in stored.item;
  const revision = stored.revision + 1;
  const hold = { kind: "lent", ms: loanMs, by: timeline.name, until: timeline.clock.monotonic() + loanMs } as const;
  const change = {
    set: {
      token: text(nonce),
      revision: number(revision),
      held_ms: number(hold.ms),
      held_by: text(hold.by),
      held_until: number(hold.until),
    },
    remove: ["due_at"],
    when: { id: text(stored.id), revision: number(stored.revision), status: text("pending") },
    answers: !hasContent,
  };
  try {
    const result = await items.change(stored.key, change, signal);
    let item = result.made && !hasContent ? result.output : stored.item;
    if (!result.made) {
      const there = result.unsure ? await items.get(stored.key, signal) : undefined;
      if (there?.["token"]?.S !== nonce) {
        window.unread(record);
        return undefined;
      }
      item = there;
    }
    const lent = { ...stored, item, revision, token: nonce, hold };
    window.moved(record, lent, true);
    parts.keys.set(stored.id, stored.key);
    return { record, stored: lent, token: tokenOf(stored.key, nonce) };
  } catch (error) {
    window.unread(record);
    throw error;
  }
}

/** A loan's token says where its record is, for whoever ends it. */
function tokenOf(key: string, nonce: string): string {
  return `${key}|${nonce}`;
}

export function partsOfToken(token: string): { readonly key: string; readonly nonce: string } | undefined {
  const at = token.indexOf("|");
  return at === -1 || !token.startsWith("R#") ? undefined : { key: token.slice(0, at), nonce: token.slice(at + 1) };
}

async function giveBackGap(
  { items }: OutboxParts,
  window: LaneWindow,
  turn: readonly Waiting[],
  loans: Map<Waiting, Loan>,
  signal: AbortSignal,
): Promise<void> {
  const gap = turn.findIndex((record) => !loans.has(record));
  if (gap === -1) return;
  for (const record of turn.slice(gap)) {
    const loan = loans.get(record);
    if (loan === undefined) continue;
    loans.delete(record);
    const change = {
      remove: ["token", "held_ms", "held_by", "held_until"],
      add: { revision: number(1) },
      when: { id: text(loan.stored.id), token: text(loan.stored.token ?? "") },
    };
    await items.change(record.key, change, signal);
    window.unread(record);
  }
}
