import type { BridgeConfig } from "@bridge/config";
import type { OutboxStore, Seams } from "@bridge/ports";
import type { LegAccount } from "../accounting/leg-account.ts";
import { followOwnRecords } from "./own-records.ts";
import { drainedBy } from "./undrained.ts";

export interface LeftRecordsOptions extends Pick<Seams, "clock" | "logger"> {
  readonly store: () => OutboxStore | undefined;
  readonly accounts: () => Iterable<LegAccount>;
  /** Aborts when the process is to end. */
  readonly root: AbortSignal;
}

/** These records take no room of a route, and none is on loan here. */
const NOBODYS = { depth: { give: () => {} }, held: new Set<string>() } as const;

/**
 * Follows the records of routes and bindings that this process no longer delivers: other processes may still deliver
 * them, and then they leave the accounts here as well.
 */
export class LeftRecords {
  readonly #options: LeftRecordsOptions;
  readonly #following = new Map<LegAccount, AsyncDisposable>();

  constructor(options: LeftRecordsOptions) {
    this.#options = options;
  }

  /** Puts `config` in force: follows what it does not deliver, until all of that has left the accounts. */
  follow(config: BridgeConfig): void {
    const { accounts, root, ...options } = this.#options;
    const isDrained = drainedBy(config);
    for (const account of this.#following.keys()) if (!account.mayEndUnseen) this.#following.delete(account);
    for (const account of accounts()) {
      if (isDrained(account) || !account.mayEndUnseen || this.#following.has(account)) continue;
      this.#following.set(account, followOwnRecords({ ...options, ...NOBODYS, account, isLeft: true }, root));
    }
  }

  /** Stops following what `config` delivers, because its drains are about to; resolves once that has stopped. */
  async release(config: BridgeConfig): Promise<void> {
    const isDrained = drainedBy(config);
    for (const [account, following] of this.#following) {
      if (!isDrained(account)) continue;
      this.#following.delete(account);
      await following[Symbol.asyncDispose]();
    }
  }
}
