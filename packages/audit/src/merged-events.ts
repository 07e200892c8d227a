import type { AuditAction } from "./actions.ts";
import type { AuditEvent } from "./event.ts";

/** Counts the events that a sink has no room for. */
export class MergedEvents {
  readonly #counts = new Map<AuditAction, number>();
  #first = "";
  #last = "";

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** One that stands for several counts as so many. */
  add(event: AuditEvent): void {
    const { action, timestamp } = event;
    if (this.isEmpty) this.#first = timestamp;
    this.#last = timestamp;
    this.#counts.set(action, (this.#counts.get(action) ?? 0) + callsIn(event));
  }

  /** The event that stands for all of them; they are forgotten. */
  take(): AuditEvent {
    const actions = Object.fromEntries(this.#counts);
    const merged = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    this.#counts.clear();
    return {
      timestamp: this.#last,
      action: "audit.merged",
      actor: "bridge",
      resource_type: "audit",
      resource_id: "",
      outcome: "success",
      detail: { merged, actions, since: this.#first, client_addr: "" },
    };
  }
}

/** How many calls an event stands for. */
export function callsIn({ detail }: AuditEvent): number {
  const { count } = detail;
  return typeof count === "number" ? count : 1;
}
