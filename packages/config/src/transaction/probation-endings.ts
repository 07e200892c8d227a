import type {
  Clock,
  ConfigHistoryEntry,
  ConfigStore,
  Hindrance,
  Logger,
  Probation,
  Reversal,
  StoredConfig,
} from "@bridge/ports";
import type { ConfigApplier } from "./applier.ts";
import type { CommitHistory } from "./commit-history.ts";
import { bounded, load } from "./commit-parts.ts";
import type { StoresOf } from "./named-stores.ts";
import type { OnProbation, Revert, Reverted } from "./on-probation.ts";
import { type EndedProbation, messageOf, notThere, notYet, orUnknown } from "./probation-refusals.ts";
import { endReplaced } from "./replaced-probation.ts";
import { isPutBack, keepTakenBack } from "./taking-back.ts";
import type { TransactionError } from "./transaction-error.ts";
import { type Standing, standingOf, type TriedDocument } from "./tried-document.ts";
import { Withdrawal } from "./withdrawal.ts";

export interface ProbationParts {
  readonly store: ConfigStore;
  readonly history: CommitHistory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly storesOf: StoresOf;
  readonly applier: ConfigApplier | undefined;
  /** Whether a stored document could be run. */
  readonly isUsable: (stored: StoredConfig) => Promise<boolean>;
  /** Brings a stored document into force; resolves to why that cannot be done. */
  readonly applyAgain: (stored: StoredConfig) => Promise<string | undefined>;
  /** What is stored could not be brought into force, and no watch tells of it. */
  readonly onNotInForce: () => void;
}

/** A change on probation, as far as it is being taken back already. */
export interface OpenProbation extends OnProbation {
  probation: Probation;
  withdrawn: Reversal | undefined;
  withdrawal: Withdrawal | undefined;
}

interface Heard {
  /** It is over here from now on, whatever else there is to do. */
  /** `reverted`: what the history is told of it next. */
  readonly closed: (version: number, end: EndedProbation["end"], reverted?: ConfigHistoryEntry["reverted"]) => void;
  readonly reverted: (reverted: Reverted) => void;
}

/** What each end of a change on probation does to the document, to what runs, and to the history. */
export class ProbationEndings {
  readonly #parts: ProbationParts;
  readonly #heard: Heard;

  constructor(parts: ProbationParts, heard: Heard) {
    this.#parts = parts;
    this.#heard = heard;
  }

  async confirm(open: OpenProbation): Promise<void> {
    const { store, history, clock } = this.#parts;
    const { tried, entry } = open;
    const unknown = `whether version ${open.probation.version} is confirmed is not known`;
    if ("staged" in tried) {
      const { staging } = store;
      const confirming = bounded(clock, async (signal) => staging?.confirm(tried.staged, signal));
      if ((await orUnknown(confirming, unknown, "confirm it")) !== true) return this.#superseded(open);
    } else {
      const standing = await this.#standingOf(tried);
      if (standing === "another") return this.#superseded(open);
      if (standing !== "tried") throw notThere("nothing was confirmed", standing.unreadable);
      const ending = bounded(clock, async (signal) => store.probations?.end(signal));
      await orUnknown(ending, unknown, "confirm it");
    }
    this.#closed(open, "committed");
    await history.confirm(entry);
    this.#parts.logger.info("a configuration is confirmed", { config_version: open.probation.version });
  }

  /**
   * What runs is taken back at once, what is stored as soon as it can be read and written. `undefined` when another
   * hand was first.
   * @throws TransactionError unavailable, when only the first could be done
   */
  async takeBack(open: OpenProbation, reversal: Reversal): Promise<Revert | undefined> {
    const standing = await this.#standingOf(open.tried);
    if (standing === "another") {
      await this.#superseded(open);
      return undefined;
    }
    const first = open.withdrawn ?? reversal;
    if (standing !== "tried") throw await this.#withdraw(open, first, standing);
    let isBack: boolean;
    try {
      isBack = await this.#isPutBack(open, first);
    } catch (error) {
      throw await this.#withdraw(open, first, { unwritable: messageOf(error) });
    }
    return this.#takenBack(open, first, isBack, open.withdrawal?.runs !== true);
  }

  /** What ends with this process needs to run no more. `undefined` when another hand was first. */
  async takeBackStored(open: OpenProbation, reversal: Reversal): Promise<Revert | undefined> {
    return this.#takenBack(open, reversal, await this.#isPutBack(open, reversal), false);
  }

  /** The former version runs again before anything is written. */
  async #withdraw(open: OpenProbation, reversal: Reversal, hindrance: Hindrance): Promise<TransactionError> {
    const isFirst = open.withdrawal === undefined;
    open.withdrawn = reversal;
    open.withdrawal ??= new Withdrawal(open, reversal, hindrance, this.#parts);
    const ran = open.withdrawal.runs;
    await open.withdrawal.apply(hindrance);
    // Nothing leaves a store in which something waits while this process runs. It may only have been accepted.
    const begins = !ran && open.withdrawal.runs && this.#parts.applier?.trial?.running() === true;
    if (begins) open.probation = { ...open.probation, emptied: true };
    if (isFirst || begins) await open.withdrawal.note();
    return notYet(open.withdrawal.told);
  }

  #isPutBack(open: OpenProbation, reversal: Reversal): Promise<boolean> {
    return isPutBack(open, reversal, this.#parts, () => this.#standingOf(open.tried));
  }

  async #takenBack(
    open: OpenProbation,
    reversal: Reversal,
    isBack: boolean,
    runsOn: boolean,
  ): Promise<Revert | undefined> {
    const { clock, logger, history } = this.#parts;
    const { probation, base, entry, left } = open;
    const { version, formerVersion } = probation;
    if (!isBack) {
      await this.#superseded(open);
      return undefined;
    }
    const at = clock.now();
    this.#closed(open, "reverted", { at, ...reversal });
    logger.error("a configuration was taken back, and the former one is stored again", {
      config_version: version,
      former_version: formerVersion,
      why: reversal.why,
      ...(reversal.detail !== undefined && reversal.why !== "operator" && { detail: reversal.detail }),
    });
    const fault = runsOn ? await this.#parts.applyAgain(base) : undefined;
    // Before the probation is over for the next start, which would tell the history nothing.
    await history.revert({ ...entry, reverted: { at, ...reversal } });
    await keepTakenBack(open, this.#parts);
    this.#heard.reverted({
      ...reversal,
      version,
      formerVersion,
      actor: probation.actor,
      at,
      ...(left && left.leftStores.length > 0 && left),
    });
    if (fault === undefined) return { status: "rolled_back", version: formerVersion };
    logger.error("the former configuration is stored again, and cannot be applied", { error: fault });
    this.#parts.onNotInForce();
    return {
      status: "committed_not_applied",
      version: formerVersion,
      error: `version ${formerVersion} is stored again, and cannot be applied: ${fault}`,
    };
  }

  #standingOf(tried: TriedDocument): Promise<Standing> {
    const { store, clock, isUsable } = this.#parts;
    return standingOf(tried, store, clock, isUsable);
  }

  /** A document that is away, or broken, may be on its way: nothing is over yet. */
  async ifSuperseded(open: OpenProbation): Promise<void> {
    if ((await this.#standingOf(open.tried)) === "another") await this.#superseded(open);
  }

  /** Another hand has written: that one counts, and nothing is put back. */
  async #superseded(open: OpenProbation): Promise<void> {
    const { store, clock, logger, history, applyAgain } = this.#parts;
    const { version } = open.probation;
    const { tried, entry } = open;
    const stored = await load(store, clock);
    if ("staged" in tried && stored?.revision === tried.staged.revision) {
      // Its confirmation got no answer.
      this.#closed(open, "committed");
      await history.confirm(entry);
      return;
    }
    if ("staged" in tried) {
      const isFormer = stored?.revision === open.base.revision;
      if (isFormer || (await history.isTakenBack(entry, tried.staged.at)))
        return this.#takenBackElsewhere(open, stored ?? open.base);
    }
    this.#closed(open, "superseded");
    if ("stored" in tried) {
      const { probation, base } = open;
      const replaced = { probation, former: base, tried: tried.stored, replacedBy: stored ?? base };
      // Nothing leaves a store in which something waits while this process runs.
      const reverted = await endReplaced(
        replaced,
        open.withdrawn ?? { why: "operator" },
        store,
        this.#parts,
        open.left?.leftStores ?? [],
      );
      if (reverted === undefined) await history.confirm(entry);
      return;
    }
    logger.warn("another hand has written the configuration: the probation is over, and nothing is put back", {
      config_version: version,
    });
    if (stored !== undefined) {
      const fault = await applyAgain(stored);
      if (fault === undefined) return;
      logger.error("what is stored cannot be applied", { error: fault });
      this.#parts.onNotInForce();
    }
  }

  /** Whoever did that has told the history and the audit trail; what is `stored` may be newer than the former one. */
  async #takenBackElsewhere(open: OpenProbation, stored: StoredConfig): Promise<void> {
    const { logger, applyAgain } = this.#parts;
    this.#closed(open, "reverted");
    logger.error("a configuration on probation was taken back at another instance: what is stored runs again", {
      config_version: open.probation.version,
      former_version: open.base.version,
      stored_version: stored.version,
    });
    const fault = await applyAgain(stored);
    if (fault === undefined) return;
    logger.error("what is stored cannot be applied", { error: fault });
    this.#parts.onNotInForce();
  }

  #closed({ probation }: OpenProbation, end: EndedProbation["end"], reverted?: ConfigHistoryEntry["reverted"]): void {
    this.#heard.closed(probation.version, end, reverted);
  }
}
