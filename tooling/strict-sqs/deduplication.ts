import { createHash } from "node:crypto";
import { invalidParameter } from "./refusal.ts";
import { LIMITS } from "./rules.ts";
import type { SendEntry } from "./wire.ts";

/** What a FIFO queue remembers of what was sent, for five minutes, in the queue or in each group. */
export class Deduplication {
  readonly #attributes: Readonly<Record<string, string>>;
  readonly #now: () => number;
  readonly #seen = new Map<string, { readonly at: number; readonly stored: unknown }>();

  constructor(attributes: Readonly<Record<string, string>>, now: () => number) {
    this.#attributes = attributes;
    this.#now = now;
  }

  /** Stores a message that is new; for one that is not, what was stored then. */
  once<Stored>(entry: SendEntry, store: () => Stored): Stored {
    const id = this.idOf(entry);
    if (id === undefined) {
      throw invalidParameter("Either ContentBasedDeduplication is on, or MessageDeduplicationId is provided.");
    }
    const perGroup = this.#attributes["DeduplicationScope"] === "messageGroup";
    const key = perGroup ? JSON.stringify([entry.MessageGroupId, id]) : id;
    const seen = this.#seen.get(key);
    if (seen !== undefined && this.#now() - seen.at < LIMITS.deduplicationSeconds) return seen.stored as Stored;
    const stored = store();
    this.#seen.set(key, { at: this.#now(), stored });
    return stored;
  }

  idOf({ MessageDeduplicationId, MessageBody }: SendEntry): string | undefined {
    if (MessageDeduplicationId !== undefined) return MessageDeduplicationId;
    if (this.#attributes["ContentBasedDeduplication"] !== "true") return undefined;
    return createHash("sha256").update(MessageBody).digest("hex");
  }
}
