import type { Plan } from "../../plan/plan.ts";
import type { Owner } from "../../time/virtual-time.ts";
import { millisecondsOf } from "./duration.ts";
import type { Ledger } from "./ledger.ts";

/** Invariant 5: only the holder of a lease acts under it. */
export class LeaseRule {
  readonly #ledger: Ledger;
  readonly #sendTimeoutMs: number;
  readonly #open = new Map<Owner, number>();
  /** Who has the lease. */
  holder: () => string | undefined = () => undefined;
  /** When the lease ends unless it is renewed. */
  until: () => number = () => Infinity;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#sendTimeoutMs = sendTimeoutOf(ledger.plan);
  }

  /** Whether all that is sent is sent under it, and nothing that comes comes under it. */
  get isOfTargets(): boolean {
    return this.#ledger.plan.leases?.of === "targets";
  }

  acts(by: Owner, what: "sends" | "still sends" | "settles", number: number): void {
    if (this.#ledger.plan.leases === undefined || !this.#isLeased(what, number)) return;
    const holder = this.holder();
    if (holder !== by.name) this.#ledger.violated(`${by.name} ${what} ${number} while ${named(holder)} has the lease`);
    else if (what !== "still sends") this.#lasts(by, what, number);
  }

  /** It has a connection of the session that is held, until what is returned is called: it is closed, or known to be lost. */
  opens(by: Owner): () => void {
    this.#open.set(by, (this.#open.get(by) ?? 0) + 1);
    let open = true;
    return () => {
      if (open) this.#open.set(by, (this.#open.get(by) ?? 0) - 1);
      open = false;
    };
  }

  /** It lets others have the lease: nothing of its own is open under it by then. */
  releases(by: Owner): void {
    if ((this.#open.get(by) ?? 0) > 0) this.#ledger.violated(`${by.name} releases the lease while its session is open`);
  }

  /** It has a connection to the targets now, of which there is one at a time. */
  connects(by: Owner): void {
    const holder = this.holder();
    if (holder !== by.name)
      this.#ledger.violated(`${by.name} connects to the targets while ${named(holder)} has the lease`);
  }

  #isLeased(what: "sends" | "still sends" | "settles", number: number): boolean {
    if (this.isOfTargets) return what !== "settles";
    // What operators redrive or inject is under no lease of a source.
    const { redrives, injected } = this.#ledger.of(number);
    const isDirect = this.#ledger.plan.outbox === undefined && redrives === 0 && injected === undefined;
    return what === "settles" || isDirect;
  }

  /** The holder's own end of a lease comes before the store's, and a send that begins is over by then. */
  #lasts(by: Owner, what: "sends" | "settles", number: number): void {
    const leftMs = this.until() - this.#ledger.now();
    const wantedMs = what === "sends" ? this.#sendTimeoutMs : 0;
    if (leftMs < wantedMs)
      this.#ledger.violated(
        `${by.name} ${what} ${number} ${leftMs < 0 ? "after its lease has lapsed" : "under a lease that ends before the send may"}`,
      );
  }
}

function sendTimeoutOf({ document }: Plan): number {
  return millisecondsOf(document.routes?.[0]?.policy?.send_timeout) ?? 0;
}

function named(holder: string | undefined): string {
  return holder === undefined || holder === "" ? "nobody" : holder;
}
