import type { BridgeConfig } from "@bridge/config";
import type { OutboxStore, Seams } from "@bridge/ports";
import type { LegAccount } from "../accounting/leg-account.ts";
import { followOwnRecords } from "./own-records.ts";
import { drainedBy } from "./undrained.ts";

export interface LeftRecordsOptions extends Pick<Seams, "clock" | "logger"> {
  readonly store: () => OutboxStore | undefined;
  readonly accounts: () => Iterable<LegAccount>;
  /** Aborted when the process is to end. */
  readonly root: AbortSignal;
}

/** They take no room of a route, and nothing of them is on loan here. */
const NOBODYS = { depth: { give: () => {} }, held: new Set<string>() } as const;

/**
 * The records of routes and bindings that are delivered here no more: other processes may still deliver them, and then they
 * leave the books here as well.
 */
export class LeftRecords {
  readonly #options: LeftRecordsOptions;
  readonly #following = new Map<LegAccount, AsyncDisposable>();

  constructor(options: LeftRecordsOptions) {
    this.#options = options;
  }

  /** `config` is in force: what it does not deliver is followed, until all of it has left the books. */
  follow(config: BridgeConfig): void {
    const { accounts, root, ...options } = this.#options;
    const isDrained = drainedBy(config);
    for (const account of this.#following.keys()) if (!account.mayEndUnseen) this.#following.delete(account);
    for (const account of accounts()) {
      if (isDrained(account) || !account.mayEndUnseen || this.#following.has(account)) continue;
      this.#following.set(account, followOwnRecords({ ...options, ...NOBODYS, account, isLeft: true }, root));
    }
  }

  /** What `config` delivers is about to be followed by whoever delivers it; resolves when nobody else does. */
  async release(config: BridgeConfig): Promise<void> {
    const isDrained = drainedBy(config);
    for (const [account, following] of this.#following) {
      if (!isDrained(account)) continue;
      this.#following.delete(account);
      await following[Symbol.asyncDispose]();
    }
  }
}
