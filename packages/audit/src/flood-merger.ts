import type { AuditEntry } from "./event.ts";

/** Entries of one key that pass in a window; the rest is merged. */
const PASSING = 10;
/** Keys told apart in a window; what comes from further ones is merged as coming from many clients. */
const MAX_KEYS = 100;

interface Client {
  passed: number;
  /** By action and resource type. */
  readonly merged: Map<string, { last: AuditEntry; count: number }>;
}

/** Bounds what a flood of alike entries can write in a window: whoever sends wrong keys must not fill a disk. */
export class FloodMerger {
  readonly #clients = new Map<string, Client>();
  readonly #others: Client = { passed: PASSING, merged: new Map() };

  /** Whether the entry is to be written now; otherwise it is kept for {@link FloodMerger.drain}. */
  admit(entry: AuditEntry): boolean {
    if (entry.mergeKey === undefined) return true;
    const client = this.#client(entry.mergeKey);
    if (client.passed < PASSING) {
      client.passed++;
      return true;
    }
    const kind = `${entry.action} ${entry.resourceType ?? ""}`;
    client.merged.set(kind, { last: entry, count: (client.merged.get(kind)?.count ?? 0) + 1 });
    return false;
  }

  /** Ends the window: what was merged in it, one entry for each client and action, with `detail.count`. */
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
    if (this.#clients.size >= MAX_KEYS) return this.#others;
    const client: Client = { passed: 0, merged: new Map() };
    this.#clients.set(key, client);
    return client;
  }
}
