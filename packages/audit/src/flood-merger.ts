import type { AuditEntry } from "./event.ts";

export interface FloodBounds {
  /** Entries of one key that pass in a window; the rest is merged. */
  readonly passing: number;
  /** Keys told apart in a window; what comes from further ones is merged as coming from many clients. */
  readonly mostKeys: number;
}

interface Client {
  passed: number;
  /** By action, resource type and outcome. */
  readonly merged: Map<string, { last: AuditEntry; count: number }>;
}

/** Bounds what a flood of alike entries can write in a window: whoever sends wrong keys, or asks all the time, must not fill a disk. */
export class FloodMerger {
  readonly #bounds: FloodBounds;
  readonly #clients = new Map<string, Client>();
  readonly #others: Client;

  constructor(bounds: FloodBounds) {
    this.#bounds = bounds;
    this.#others = { passed: bounds.passing, merged: new Map() };
  }

  /** Whether the entry is to be written now; otherwise it is kept for {@link FloodMerger.drain}. */
  admit(key: string, entry: AuditEntry): boolean {
    const client = this.#client(key);
    if (client.passed < this.#bounds.passing) {
      client.passed++;
      return true;
    }
    const kind = `${entry.action} ${entry.resourceType ?? ""} ${entry.outcome}`;
    const before = client.merged.get(kind);
    const isAlike = before === undefined || before.last.resourceId === entry.resourceId;
    // The record of many names no resource that only one of them was about.
    const last = isAlike ? entry : { ...entry, resourceId: undefined };
    client.merged.set(kind, { last, count: (before?.count ?? 0) + 1 });
    return false;
  }

  /** Ends the window: what was merged in it, one entry for each client, action and outcome, with `detail.count`. */
  drain(): readonly AuditEntry[] {
    const entries: AuditEntry[] = [];
    for (const client of [...this.#clients.values(), this.#others])
      for (const { last, count } of client.merged.values())
        entries.push({
          ...last,
          detail: { ...last.detail, count, ...(client === this.#others ? { several_clients: true } : {}) },
        });
    this.#clients.clear();
    this.#others.merged.clear();
    return entries;
  }

  #client(key: string): Client {
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    if (this.#clients.size >= this.#bounds.mostKeys) return this.#others;
    const client: Client = { passed: 0, merged: new Map() };
    this.#clients.set(key, client);
    return client;
  }
}
