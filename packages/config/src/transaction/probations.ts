import type { Clock, ConfigProbations, ConfigStore, Logger, Reversal, StoredConfig } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import type { ConfigApplier } from "./applier.ts";
import { bounded, load } from "./commit-parts.ts";
import type { CommitHistory } from "./commit-history.ts";
import { Guard } from "./guard.ts";
import { revertElsewhere } from "./left-staged.ts";
import type { OnProbation, Revert, Reverted } from "./on-probation.ts";
import {
  type EndedProbation,
  messageOf,
  notOnProbation,
  notThere,
  orUnknown,
  takenBack,
} from "./probation-refusals.ts";
import { isPutBack, keepTakenBack, Withdrawal } from "./taking-back.ts";
import type { TransactionError } from "./transaction-error.ts";
import { seemsAnother, type Standing, standingOf, type TriedDocument } from "./tried-document.ts";

export interface ProbationsOptions {
  readonly store: ConfigStore;
  readonly history: CommitHistory;
  readonly applier: ConfigApplier | undefined;
  /** Names this instance to others that follow the same store. */
  readonly instanceId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether a stored document could be run. */
  readonly isUsable: (stored: StoredConfig) => Promise<boolean>;
  /** Brings a stored document into force; resolves to why that cannot be done. */
  readonly applyAgain: (stored: StoredConfig) => Promise<string | undefined>;
  /** Nobody else brings a configuration into force meanwhile. */
  readonly exclusively: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly onReverted: (reverted: Reverted) => void;
  /** What is stored could not be brought into force, and no watch tells of it. */
  readonly onNotInForce: () => void;
}

const REVERSALS = ["not_confirmed", "level", "failure_ratio", "operator", "process_ended"] as const;

/** How often the guard is asked, and whether another hand has written. */
const LOOK_MS = 1_000;

const NOT_CONFIRMED: Reversal = { why: "not_confirmed" };

interface Open extends OnProbation {
  readonly guard: Guard | undefined;
  readonly timer: Disposable;
  /** On the clock that never jumps. */
  readonly endsAt: number;
  /** How it is being ended, by the one who came first. */
  ending: Promise<unknown> | undefined;
  withdrawn: Reversal | undefined;
  withdrawal: Withdrawal | undefined;
}

/**
 * The one change that is on probation. It ends once, by whoever comes first: a confirmation, an operator who takes it back, its
 * time, its guard, or another hand that writes.
 */
export class Probations {
  readonly #options: ProbationsOptions;
  readonly #counts = new Map<string, number>();
  #open: Open | undefined;
  #last: EndedProbation | undefined;

  constructor(options: ProbationsOptions) {
    this.#options = options;
  }

  get open(): OnProbation | undefined {
    return this.#open;
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(REVERSALS.map((why) => [why, this.#counts.get(why) ?? 0]));
  }

  begin(onProbation: OnProbation): void {
    const { clock, applier, logger } = this.#options;
    const { probation } = onProbation;
    const { guard } = probation;
    const trial = applier?.trial;
    this.#open = {
      ...onProbation,
      endsAt: clock.monotonic() + Math.max(0, probation.confirmBy - clock.now()),
      guard: guard === undefined || trial === undefined ? undefined : new Guard(guard, probation.routes, trial, clock),
      timer: clock.every(LOOK_MS, () => void this.#look()),
      ending: undefined,
      withdrawn: undefined,
      withdrawal: undefined,
    };
    logger.warn("a configuration is on probation: unless it is confirmed, the former one comes back", {
      config_version: probation.version,
      former_version: probation.formerVersion,
      confirm_by: formatTimestamp(probation.confirmBy),
    });
  }

  /** Whoever comes while it is being ended waits for that. @throws TransactionError conflict, with the reason */
  async confirm(version: number): Promise<void> {
    while (this.#open?.ending !== undefined) await this.#open.ending;
    const open = this.#demand(version);
    if (open.withdrawn !== undefined) throw takenBack(version);
    await this.#end(open, () => this.#confirm(open));
    if (this.#last?.end !== "committed") throw this.#over(version);
  }

  /**
   * Also what another process has staged, which may be gone: nobody but that one runs it.
   * @throws TransactionError conflict, with the reason
   */
  async revert(version: number, detail: string): Promise<Revert> {
    while (this.#open?.ending !== undefined) await this.#open.ending;
    if (this.#open?.probation.version !== version) {
      const reverted = await revertElsewhere(version, detail, this.#options.store, this.#options);
      if (reverted !== undefined) {
        this.noteReverted(reverted);
        return { status: "rolled_back", version: reverted.formerVersion };
      }
    }
    const open = this.#demand(version);
    const takingBack = this.#end(open, () => this.#takeBack(open, { why: "operator", detail }));
    const result = await orUnknown(takingBack, `whether version ${version} is taken back is not known`, "take it back");
    if (result === undefined) throw this.#over(version);
    return result;
  }

  /** A former process has taken something back, or this one did at its start. */
  noteReverted(reverted: Reverted): void {
    this.#counts.set(reverted.why, (this.#counts.get(reverted.why) ?? 0) + 1);
    this.#last = { version: reverted.version, end: "reverted" };
    this.#options.onReverted(reverted);
  }

  /** Before the process ends in order: what only this instance runs is taken back, anything else goes on at the next start. */
  async suspend(): Promise<void> {
    while (this.#open?.ending !== undefined) await this.#open.ending;
    const open = this.#open;
    if (open === undefined) return;
    const { store, clock, logger } = this.#options;
    open.timer[Symbol.dispose]();
    try {
      if ("staged" in open.tried) await this.#end(open, () => this.#revert(open, { why: "process_ended" }, false));
      else await bounded(clock, async (signal) => store.probations?.note(standingAtTheEnd(open), signal));
    } catch (error) {
      logger.warn("the probation of a configuration ends with this process: the next start takes it back", {
        config_version: open.probation.version,
        error: messageOf(error),
      });
    }
  }

  async #look(): Promise<void> {
    const open = this.#open;
    if (open === undefined || open.ending !== undefined) return;
    const { clock, logger, store } = this.#options;
    try {
      const hurt =
        open.withdrawn ?? open.guard?.look() ?? (clock.monotonic() >= open.endsAt ? NOT_CONFIRMED : undefined);
      if (hurt !== undefined) await this.#end(open, () => this.#takeBack(open, hurt));
      else if (seemsAnother(open.tried, store)) await this.#end(open, () => this.#ifSuperseded(open));
    } catch (error) {
      // It is tried again at the next look, and said once.
      if (open.withdrawn !== undefined) return;
      logger.error("a configuration on probation cannot be taken back", {
        config_version: open.probation.version,
        error: messageOf(error),
      });
    }
  }

  /** Does it unless somebody ends it already; nothing is awaited before it is claimed. */
  async #end<Result>(open: Open, work: () => Promise<Result>): Promise<Result> {
    const ending = this.#options.exclusively(work);
    open.ending = ending.catch(() => {});
    try {
      return await ending;
    } finally {
      open.ending = undefined;
    }
  }

  #demand(version: number): Open {
    const open = this.#open;
    if (open?.probation.version === version) return open;
    throw this.#over(version);
  }

  #over(version: number): TransactionError {
    const open = this.#open?.probation.version;
    return notOnProbation(
      version,
      { open, last: this.#last, staged: this.#options.store.staging?.seen },
      this.#options,
    );
  }

  async #confirm(open: Open): Promise<void> {
    const { store, history, clock } = this.#options;
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
    this.#close(open, "committed");
    await history.confirm(entry);
    this.#options.logger.info("a configuration is confirmed", { config_version: open.probation.version });
  }

  /**
   * What runs is taken back at once, what is stored as soon as it can be read. `undefined` when another hand was first.
   * @throws TransactionError unavailable, when only the first could be done
   */
  async #takeBack(open: Open, reversal: Reversal): Promise<Revert | undefined> {
    const standing = await this.#standingOf(open.tried);
    if (standing === "tried") return this.#revert(open, reversal);
    if (standing === "another") {
      await this.#superseded(open);
      return undefined;
    }
    open.withdrawn ??= reversal;
    if (open.withdrawal === undefined) {
      open.withdrawal = new Withdrawal(open, this.#options);
      await open.withdrawal.tell(open.withdrawn, standing.unreadable);
    }
    throw notThere(await open.withdrawal.apply(), standing.unreadable);
  }

  /** `undefined` when another hand was first. */
  async #revert(open: Open, reversal: Reversal, runsOn = true): Promise<Revert | undefined> {
    const { clock, logger, history } = this.#options;
    const { probation, base, entry } = open;
    const { version, formerVersion } = probation;
    if (!(await isPutBack(open, reversal, this.#options, () => this.#standingOf(open.tried)))) {
      await this.#superseded(open);
      return undefined;
    }
    const at = clock.now();
    this.#close(open, "reverted");
    logger.error("a configuration was taken back, and the former one is stored again", {
      config_version: version,
      former_version: formerVersion,
      why: reversal.why,
      ...(reversal.detail !== undefined && reversal.why !== "operator" && { detail: reversal.detail }),
    });
    const fault = runsOn ? await this.#options.applyAgain(base) : undefined;
    // Before the probation is over for the next start, which would tell the history nothing.
    await history.revert({ ...entry, reverted: { at, ...reversal } });
    await keepTakenBack(open, this.#options);
    this.noteReverted({ ...reversal, version, formerVersion, actor: probation.actor, at });
    if (fault === undefined) return { status: "rolled_back", version: formerVersion };
    logger.error("the former configuration is stored again, and cannot be applied", { error: fault });
    this.#options.onNotInForce();
    return {
      status: "committed_not_applied",
      version: formerVersion,
      error: `version ${formerVersion} is stored again, and cannot be applied: ${fault}`,
    };
  }

  #standingOf(tried: TriedDocument): Promise<Standing> {
    const { store, clock, isUsable } = this.#options;
    return standingOf(tried, store, clock, isUsable);
  }

  /** A document that is away, or broken, may be on its way: nothing is over yet. */
  async #ifSuperseded(open: Open): Promise<void> {
    if ((await this.#standingOf(open.tried)) === "another") await this.#superseded(open);
  }

  /** Another hand has written: that one counts, and nothing is put back. */
  async #superseded(open: Open): Promise<void> {
    const { store, clock, logger, history, applyAgain } = this.#options;
    const { version } = open.probation;
    const { tried, entry } = open;
    const stored = await load(store, clock);
    if ("staged" in tried && stored?.revision === tried.staged.revision) {
      // Its confirmation got no answer.
      this.#close(open, "committed");
      await history.confirm(entry);
      return;
    }
    if ("staged" in tried) {
      const isFormer = stored?.revision === open.base.revision;
      if (isFormer || (await history.isTakenBack(entry, tried.staged.at)))
        return this.#takenBackElsewhere(open, stored ?? open.base);
    }
    this.#close(open, "superseded");
    logger.warn("another hand has written the configuration: the probation is over, and nothing is put back", {
      config_version: version,
    });
    if ("stored" in tried) {
      await history.confirm(entry);
      await bounded(clock, async (signal) => store.probations?.end(signal)).catch(() => {
        // The next start finds that it names another document, and removes it.
      });
    } else if (stored !== undefined) {
      const fault = await applyAgain(stored);
      if (fault === undefined) return;
      logger.error("what is stored cannot be applied", { error: fault });
      this.#options.onNotInForce();
    }
  }

  /** Whoever did that has told the history and the audit trail; what is `stored` may be newer than the former one. */
  async #takenBackElsewhere(open: Open, stored: StoredConfig): Promise<void> {
    const { logger, applyAgain } = this.#options;
    this.#close(open, "reverted");
    logger.error("a configuration on probation was taken back at another instance: what is stored runs again", {
      config_version: open.probation.version,
      former_version: open.base.version,
      stored_version: stored.version,
    });
    const fault = await applyAgain(stored);
    if (fault === undefined) return;
    logger.error("what is stored cannot be applied", { error: fault });
    this.#options.onNotInForce();
  }

  #close(open: Open, end: EndedProbation["end"]): void {
    open.timer[Symbol.dispose]();
    this.#open = undefined;
    this.#last = { version: open.probation.version, end };
  }
}

function standingAtTheEnd({ probation, withdrawn }: Open): Parameters<ConfigProbations["note"]>[0] {
  return withdrawn === undefined ? { probation, orderly: true } : { probation, orderly: false, reversal: withdrawn };
}
