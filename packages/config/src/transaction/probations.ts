import type { ConfigProbations, Reversal } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import { Beside } from "./beside.ts";
import { bounded } from "./commit-parts.ts";
import { EndedProbations } from "./ended-probations.ts";
import type { TakenBack } from "./left-probation.ts";
import type { TakenBackHere } from "./known-commits.ts";
import type { LeftBeside } from "./left-beside.ts";
import { revertElsewhere } from "./left-staged.ts";
import type { OnProbation, Revert, Reverted } from "./on-probation.ts";
import { type LeftElsewhere, leftElsewhere } from "./probation-elsewhere.ts";
import { ProbationEndings, type ProbationParts } from "./probation-endings.ts";
import { type EndedProbation, messageOf, orUnknown, takenBack } from "./probation-refusals.ts";
import type { TransactionError } from "./transaction-error.ts";
import { seemsAnother } from "./tried-document.ts";
import { type WatchedProbation, watched } from "./watched-probation.ts";
import { Withdrawal } from "./withdrawal.ts";

export interface ProbationsOptions extends ProbationParts {
  /** Names this instance to others that follow the same store. */
  readonly instanceId: string;
  /** Nobody else brings a configuration into force meanwhile. */
  readonly exclusively: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly onReverted: (reverted: Reverted) => void;
  /** What was on probation is stored, and there to stay. */
  readonly onConfirmed: () => void;
}

const NOT_CONFIRMED: Reversal = { why: "not_confirmed" };

/**
 * The one change that is on probation. It ends once, by whoever comes first: a confirmation, an operator who takes it
 * back, its time, its guard, or another hand that writes.
 */
export class Probations {
  readonly #options: ProbationsOptions;
  readonly #endings: ProbationEndings;
  readonly #ended: EndedProbations;
  readonly #beside: Beside;
  #open: WatchedProbation | undefined;
  /** Stored again already, while the history is not told yet. */
  #putBack: TakenBackHere | undefined;

  constructor(options: ProbationsOptions) {
    this.#options = options;
    this.#ended = new EndedProbations(options);
    this.#endings = new ProbationEndings(options, {
      closed: (version, end, reverted) => this.#closed(version, end, reverted),
      reverted: (reverted) => this.noteReverted(reverted),
    });
    this.#beside = new Beside(options, {
      isFree: () => this.#open === undefined,
      takeBack: (left, reversal) => this.#takeBackLeft(left, reversal),
    });
  }

  /** What others have left on probation for too long. */
  get leftElsewhere(): LeftElsewhere | undefined {
    if (this.#open !== undefined) return undefined;
    return leftElsewhere(this.#options.store.staging?.seen, this.#options) ?? this.#beside.left;
  }

  get open(): OnProbation | undefined {
    return this.#open;
  }

  /** Of what is taken back and not stored again yet: what runs, why, and what helps. */
  withdrawn(): string | undefined {
    return this.#open?.withdrawal?.told;
  }

  /** The change that is taken back, of which the history is not told yet, as it will say it. */
  get takenBack(): TakenBackHere | undefined {
    if (this.#open === undefined) return this.#putBack;
    const { withdrawal } = this.#open;
    return withdrawal && takenBackHere(this.#open, withdrawal.reverted);
  }

  /** Whether something else runs here than what is stored as `revision`, because of what is on probation. */
  holdsBack(revision: string): boolean {
    if (this.#open === undefined) return false;
    const { tried, base, withdrawn } = this.#open;
    return "staged" in tried
      ? base.revision === revision
      : withdrawn !== undefined && tried.stored.revision === revision;
  }

  counts(): Readonly<Record<string, number>> {
    return this.#ended.counts();
  }

  begin(onProbation: OnProbation): void {
    const { probation } = onProbation;
    this.#open = this.#opened(onProbation);
    this.#options.logger.warn("a configuration is on probation: unless it is confirmed, the former one comes back", {
      config_version: probation.version,
      former_version: probation.formerVersion,
      confirm_by: formatTimestamp(probation.confirmBy),
    });
  }

  /** What a start has taken back: the former one runs, and is stored again as soon as that works. */
  takeUp({ takenBack: onProbation, reversal, hindrance }: TakenBack): void {
    const withdrawal = new Withdrawal(onProbation, reversal, hindrance, this.#options, true);
    this.#open = { ...this.#opened(onProbation), withdrawn: reversal, withdrawal };
  }

  #opened(onProbation: OnProbation): WatchedProbation {
    return watched(onProbation, this.#options, () => void this.#look());
  }

  /** Whoever comes while it is being ended waits for that. @throws TransactionError conflict, with the reason */
  async confirm(version: number): Promise<void> {
    while (this.#open?.ending !== undefined) await this.#open.ending;
    const open = this.#open;
    if (open?.probation.version !== version) throw await this.#over(version);
    if (open.withdrawn !== undefined) throw takenBack(version);
    await this.#end(open, () => this.#endings.confirm(open));
    if (this.#ended.last?.end !== "committed") throw await this.#over(version);
  }

  /**
   * Also what another process has staged, which may be gone: nobody but that one runs it; and what one has left that
   * wrote the same file.
   * @throws TransactionError conflict, with the reason
   */
  async revert(version: number, detail: string): Promise<Revert> {
    const unknown = `whether version ${version} is taken back is not known`;
    const reversal: Reversal = { why: "operator", detail };
    const left = await orUnknown(this.#beside.takeBack(version, reversal), unknown, "take it back");
    if (left !== undefined) return left;
    while (this.#open?.ending !== undefined) await this.#open.ending;
    const open = this.#open;
    if (open?.probation.version === version) {
      const takingBack = this.#end(open, () => this.#endings.takeBack(open, reversal));
      const result = await orUnknown(takingBack, unknown, "take it back");
      if (result !== undefined) return result;
    }
    const reverted = await revertElsewhere(version, detail, this.#options.store, this.#options);
    if (reverted === undefined) throw await this.#over(version);
    this.noteReverted(reverted);
    return { status: "rolled_back", version: reverted.formerVersion };
  }

  async #takeBackLeft(left: LeftBeside, reversal: Reversal): Promise<Revert | undefined> {
    if ("reverted" in left) {
      this.noteReverted(left.reverted);
      return { status: "rolled_back", version: left.reverted.formerVersion };
    }
    const open = (this.#open = this.#opened(left.found));
    return this.#end(open, () => this.#endings.takeBack(open, left.reversal ?? reversal));
  }

  /** A former process has taken something back, or this one what another has left. */
  noteReverted(reverted: Reverted): void {
    this.#ended.reverted(reverted);
  }

  /**
   * Before the process ends in order: what only this instance runs is taken back, anything else goes on at the next
   * start.
   */
  async suspend(): Promise<void> {
    while (this.#open?.ending !== undefined) await this.#open.ending;
    this.#beside[Symbol.dispose]();
    const open = this.#open;
    if (open === undefined) return;
    const { store, clock, logger } = this.#options;
    open.timer[Symbol.dispose]();
    try {
      if ("staged" in open.tried)
        await this.#end(open, () => this.#endings.takeBackStored(open, { why: "process_ended" }));
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
      if (hurt !== undefined) await this.#end(open, () => this.#endings.takeBack(open, hurt));
      else if (seemsAnother(open.tried, store)) await this.#end(open, () => this.#endings.ifSuperseded(open));
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
  async #end<Result>(open: WatchedProbation, work: () => Promise<Result>): Promise<Result> {
    const ending = this.#options.exclusively(work);
    open.ending = ending.catch(() => {});
    try {
      return await ending;
    } finally {
      open.ending = undefined;
      this.#putBack = undefined;
    }
  }

  #over(version: number): Promise<TransactionError> {
    return this.#ended.over(version, this.#open?.probation.version);
  }

  #closed(version: number, end: EndedProbation["end"], reverted: TakenBackHere["reverted"] | undefined): void {
    this.#putBack = this.#open && reverted && takenBackHere(this.#open, reverted);
    this.#open?.timer[Symbol.dispose]();
    this.#open = undefined;
    this.#ended.closed(version, end);
    if (end === "committed") this.#options.onConfirmed();
  }
}

function takenBackHere({ probation, tried }: OnProbation, reverted: TakenBackHere["reverted"]): TakenBackHere {
  const { document } = "stored" in tried ? tried.stored : tried;
  return { version: probation.version, reverted, isKnown: Object.keys(document).length > 0 };
}

function standingAtTheEnd({ probation, withdrawn }: WatchedProbation): Parameters<ConfigProbations["note"]>[0] {
  return withdrawn === undefined ? { probation, orderly: true } : { probation, orderly: false, reversal: withdrawn };
}
