import type { Clock, ConfigStore, LeftVersion, Logger, StoredConfig } from "@bridge/ports";
import { Serial } from "@bridge/ports/internal";
import { isDeepStrictEqual } from "node:util";
import type { BridgeConfig } from "../model.ts";
import { bounded } from "./commit-parts.ts";
import { endNoted, keepLeft } from "./keep-left.ts";
import { inOrder, type LeftBehind, leftBehindBy, namesOf, stillLeft } from "./left-behind.ts";
import { locatedLeft } from "./located-left.ts";
import type { LeftStores } from "./left-stores.ts";
import { LEFT_ROLES, type StoresOf } from "./named-stores.ts";
import type { Reverted } from "./on-probation.ts";
import { messageOf } from "./probation-refusals.ts";
import { whyElsewhere } from "./store-places.ts";
import { TransactionError } from "./transaction-error.ts";

interface Parts {
  readonly store: Pick<ConfigStore, "versions" | "probations">;
  readonly storesOf: StoresOf;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What brings stores into force. */
type Running = Pick<BridgeConfig, "configVersion" | "stores">;

/**
 * What former processes have left in the stores of versions that run no more, as the store of the document has kept it.
 * Never rejects.
 */
export async function keptLeftovers(parts: Parts): Promise<readonly LeftBehind[]> {
  try {
    return await listed(parts);
  } catch (error) {
    parts.logger.error("what former versions have left in their stores is not known", { error: messageOf(error) });
    return [];
  }
}

async function listed({ store, storesOf, clock }: Omit<Parts, "logger">): Promise<readonly LeftBehind[]> {
  const kept = await bounded(clock, async (signal) => (await store.versions?.left?.list(signal)) ?? []);
  return Promise.all(kept.map((one) => leftBy(one, storesOf)));
}

async function leftBy({ version, stores, where, kept, places }: LeftVersion, storesOf: StoresOf): Promise<LeftBehind> {
  const left = { version, leftStores: LEFT_ROLES.filter((role) => stores.includes(role)), where };
  if ("unreadable" in kept) return { ...left, places, unusable: kept.unreadable };
  const now = await storesOf(kept.stored.document);
  const unusable = whyElsewhere({ ...kept.stored, places }, now);
  return { ...left, stores: now, places, unusable, changed: kept.changed };
}

/**
 * What was left in stores that nobody opens any more: it is told, over restarts, until a configuration runs that has
 * these stores, or somebody has removed the document that says it. A change that may leave messages behind leaves what
 * runs, and ends nothing of this.
 */
export class Leftovers {
  readonly #parts: Parts;
  readonly #turns = new Serial();
  #left: readonly LeftBehind[];
  /** What the process is about to run. */
  #starting: Running | undefined;
  #runs: number | undefined;
  /** What came into force last. */
  #inForce: Running | undefined;
  /** What could not be kept: its note says what it was, for the next start. */
  #unkept: { readonly stored: StoredConfig; readonly leftStores: LeftBehind["leftStores"] } | undefined;

  /**
   * @param starting what the process is about to run: what it brings back is not told as left meanwhile. Default: that
   * is not known
   */
  constructor(left: readonly LeftBehind[], parts: Parts, starting?: Running) {
    this.#left = inOrder(left);
    this.#parts = parts;
    this.#starting = starting;
    this.#runs = starting?.configVersion;
  }

  /** Which messages are where nobody delivers or sees them. */
  get told(): string | undefined {
    const left = this.#starting === undefined ? this.#left : narrowed(this.#left, this.#starting);
    return leftBehindBy(left, this.#runs);
  }

  /** Something was taken back that no store was asked about. */
  tookBack(reverted: Pick<Reverted, "version" | "formerVersion" | keyof LeftStores | "unkept">): void {
    const { version, formerVersion, leftStores = [], stores, places, unusable, unkept } = reverted;
    if (unkept !== undefined) this.#unkept = { stored: unkept, leftStores };
    if (leftStores.length === 0) return;
    this.#runs = formerVersion;
    const isOther = (left: LeftBehind): boolean => left.version !== version || !isDeepStrictEqual(left.stores, stores);
    const known = this.#left.find((left) => !isOther(left));
    const isKept = unkept === undefined ? known?.isKept : false;
    const left = { ...known, version, leftStores, stores, places, unusable, isKept };
    this.#left = inOrder([...this.#left.filter(isOther), left]);
    void this.#turns.run(() => this.#locate());
  }

  /**
   * Before something else is tried out, whose note takes the place of what says what was.
   * @throws TransactionError unavailable when nothing else would say it
   */
  async keepUnkept(): Promise<void> {
    const unkept = this.#unkept;
    if (unkept === undefined) return;
    const { version } = unkept.stored;
    if (!(await keepLeft(unkept.stored, unkept.leftStores, this.#parts)))
      throw new TransactionError(
        "unavailable",
        `what version ${version} has left in its stores is kept nowhere but in the note of its probation, which another one would replace: see that the folder of former versions can be written, as the log says, or commit without confirm_within`,
      );
    this.#unkept = undefined;
    await endNoted(version, this.#parts);
    void this.#turns.run(() => this.#locate());
  }

  /** A process runs with what it has started with. */
  starts(config: Running): void {
    this.runs(config);
    const left = namesOf(this.#left);
    if (left !== "") this.#parts.logger.warn("messages may wait in stores of former versions", { left });
  }

  /** What a store holds that runs again is delivered and seen, and nobody leaves it while something is in it. */
  runs(config: Running): void {
    this.#starting = undefined;
    this.#runs = config.configVersion;
    this.#inForce = config;
    const before = this.#left;
    this.#left = narrowed(before, config);
    // Also when nothing is known: another process may have kept meanwhile that stores were left.
    void this.#turns.run(() => this.#note(config));
    if (this.#left.length === before.length && this.#left.every((left, at) => left === before[at])) return;
    this.#parts.logger.info("stores of former versions run again: what they hold is delivered and seen", {
      config_version: config.configVersion,
      left_before: namesOf(before),
      left: namesOf(this.#left),
    });
    const unkept = this.#unkept?.stored.version;
    if (unkept === undefined || this.#left.some(({ version }) => version === unkept)) return;
    this.#unkept = undefined;
    void this.#turns.run(() => endNoted(unkept, this.#parts));
  }

  /** What is told follows what the documents that are kept refer to by now. Never rejects. */
  async look(): Promise<void> {
    await this.#turns.run(() => this.#locate());
  }

  /**
   * Never rejects: what is told without its file is told all the same.
   *
   * @param adds whether what was kept meanwhile is told from now on. Default: only what is known is looked at
   */
  async #locate(adds = false): Promise<void> {
    const { store, logger } = this.#parts;
    if (store.versions?.left === undefined || (!adds && this.#left.length === 0)) return;
    const kept = await listed(this.#parts).catch(() => undefined);
    if (kept === undefined) return;
    const { left, found, gone } = locatedLeft(this.#left, kept);
    const news = !adds || this.#inForce === undefined ? [] : narrowed(found, this.#inForce);
    this.#left = inOrder([...left, ...news]);
    if (news.length > 0) logger.warn("messages may wait in stores of former versions", { left: namesOf(news) });
    if (gone.length > 0)
      logger.warn(
        "what former versions have left in their stores is told no more: somebody has removed it, or another process has run these stores",
        {
          left: namesOf(gone),
          files: gone.map(({ where }) => where).join(", "),
        },
      );
  }

  /** What is noted is looked at anew: some of it may have been kept after it was told here. */
  async #note(config: Running): Promise<void> {
    const { store, storesOf, clock, logger } = this.#parts;
    const left = store.versions?.left;
    if (left === undefined) return;
    try {
      for (const one of await bounded(clock, (signal) => left.list(signal))) {
        const still = stillLeft(await leftBy(one, storesOf), config);
        if (still.length < one.stores.length) await bounded(clock, (signal) => left.narrow(one, still, signal));
      }
      await this.#locate(true);
    } catch (error) {
      logger.warn("that nothing is left in former stores is not noted: the next start tells of it again", {
        error: messageOf(error),
      });
    }
  }
}

/** What is left of it when `config` runs. */
function narrowed(all: readonly LeftBehind[], config: Running): readonly LeftBehind[] {
  return all.flatMap((left) => {
    const leftStores = stillLeft(left, config);
    if (leftStores.length === left.leftStores.length) return [left];
    return leftStores.length === 0 ? [] : [{ ...left, leftStores }];
  });
}
