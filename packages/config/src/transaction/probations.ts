import type { ConfigProbations, Reversal } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import type { ConfigApplier } from "./applier.ts";
import { bounded } from "./commit-parts.ts";
import { Guard } from "./guard.ts";
import type { TakenBack } from "./left-probation.ts";
import { leftBeside } from "./left-beside.ts";
import { revertElsewhere } from "./left-staged.ts";
import type { OnProbation, Revert, Reverted } from "./on-probation.ts";
import { type OpenProbation, ProbationEndings, type ProbationParts } from "./probation-endings.ts";
import { type EndedProbation, messageOf, notOnProbation, orUnknown, takenBack } from "./probation-refusals.ts";
import type { TransactionError } from "./transaction-error.ts";
import { seemsAnother } from "./tried-document.ts";
import { whyNotBeside } from "./why-not-now.ts";
import { Withdrawal } from "./withdrawal.ts";

export interface ProbationsOptions extends ProbationParts {
  readonly applier: ConfigApplier | undefined;
  /** Names this instance to others that follow the same store. */
  readonly instanceId: string;
  /** Nobody else brings a configuration into force meanwhile. */
  readonly exclusively: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly onReverted: (reverted: Reverted) => void;
}

const REVERSALS = ["not_confirmed", "level", "failure_ratio", "operator", "process_ended"] as const;

/** How often the guard is asked, and whether another hand has written. */
const LOOK_MS = 1_000;

const NOT_CONFIRMED: Reversal = { why: "not_confirmed" };

interface Open extends OpenProbation {
  readonly guard: Guard | undefined;
  readonly timer: Disposable;
  /** On the clock that never jumps. */
  readonly endsAt: number;
  /** How it is being ended, by the one who came first. */
  ending: Promise<unknown> | undefined;
}

/**
 * The one change that is on probation. It ends once, by whoever comes first: a confirmation, an operator who takes it back, its
 * time, its guard, or another hand that writes.
 */
export class Probations {
  readonly #options: ProbationsOptions;
  readonly #endings: ProbationEndings;
  readonly #counts = new Map<string, number>();
  #open: Open | undefined;
  #last: EndedProbation | undefined;

  constructor(options: ProbationsOptions) {
    this.#options = options;
    this.#endings = new ProbationEndings(options, {
      closed: (version, end) => this.#closed(version, end),
      reverted: (reverted) => this.noteReverted(reverted),
    });
  }

  get open(): OnProbation | undefined {
    return this.#open;
  }

  /** Of what is taken back and not stored again yet: what runs, why, and what helps. */
  withdrawn(): string | undefined {
    return this.#open?.withdrawal?.told;
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
    return Object.fromEntries(REVERSALS.map((why) => [why, this.#counts.get(why) ?? 0]));
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
  takeUp({ takenBack: onProbation, reversal, unwritable }: TakenBack): void {
    const withdrawal = new Withdrawal(onProbation, reversal, { unwritable }, this.#options, true);
    this.#open = { ...this.#opened(onProbation), withdrawn: reversal, withdrawal };
  }

  #opened(onProbation: OnProbation): Open {
    const { clock, applier } = this.#options;
    const { probation } = onProbation;
    const { guard } = probation;
    const trial = applier?.trial;
    return {
      ...onProbation,
      endsAt: clock.monotonic() + Math.max(0, probation.confirmBy - clock.now()),
      guard: guard === undefined || trial === undefined ? undefined : new Guard(guard, probation.routes, trial, clock),
      timer: clock.every(LOOK_MS, () => void this.#look()),
      ending: undefined,
      withdrawn: undefined,
      withdrawal: undefined,
    };
  }

  /** Whoever comes while it is being ended waits for that. @throws TransactionError conflict, with the reason */
  async confirm(version: number): Promise<void> {
    while (this.#open?.ending !== undefined) await this.#open.ending;
    const open = this.#open;
    if (open?.probation.version !== version) throw await this.#over(version);
    if (open.withdrawn !== undefined) throw takenBack(version);
    await this.#end(open, () => this.#endings.confirm(open));
    if (this.#last?.end !== "committed") throw await this.#over(version);
  }

  /**
   * Also what another process has staged, which may be gone: nobody but that one runs it; and what one has left that wrote the same file.
   * @throws TransactionError conflict, with the reason
   */
  async revert(version: number, detail: string): Promise<Revert> {
    while (this.#open?.ending !== undefined) await this.#open.ending;
    const before = this.#open === undefined ? await this.#takeOver(version) : undefined;
    if (before !== undefined) return { status: "rolled_back", version: before.formerVersion };
    const open = this.#open;
    if (open?.probation.version === version) {
      const takingBack = this.#end(open, () => this.#endings.takeBack(open, { why: "operator", detail }));
      const result = await orUnknown(
        takingBack,
        `whether version ${version} is taken back is not known`,
        "take it back",
      );
      if (result !== undefined) return result;
    }
    // What was left behind is replaced under the same version.
    const reverted = await revertElsewhere(version, detail, this.#options.store, this.#options);
    if (reverted === undefined) throw await this.#over(version);
    this.noteReverted(reverted);
    return { status: "rolled_back", version: reverted.formerVersion };
  }

  /** What was left on probation beside is on probation here from then on; resolves to what was taken back already. */
  async #takeOver(version: number): Promise<Reverted | undefined> {
    const { store, exclusively } = this.#options;
    const left = await exclusively(() => leftBeside(version, store, this.#options));
    if (left === undefined) return undefined;
    if ("reverted" in left) {
      this.noteReverted(left.reverted);
      return left.reverted;
    }
    this.#open = this.#opened(left.found);
    return undefined;
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
  async #end<Result>(open: Open, work: () => Promise<Result>): Promise<Result> {
    const ending = this.#options.exclusively(work);
    open.ending = ending.catch(() => {});
    try {
      return await ending;
    } finally {
      open.ending = undefined;
    }
  }

  async #over(version: number): Promise<TransactionError> {
    const { store, clock } = this.#options;
    const beside = (await whyNotBeside(store, clock))?.error;
    const open = this.#open?.probation.version;
    return notOnProbation(version, { open, last: this.#last, staged: store.staging?.seen, beside }, this.#options);
  }

  #closed(version: number, end: EndedProbation["end"]): void {
    this.#open?.timer[Symbol.dispose]();
    this.#open = undefined;
    this.#last = { version, end };
  }
}

function standingAtTheEnd({ probation, withdrawn }: Open): Parameters<ConfigProbations["note"]>[0] {
  return withdrawn === undefined ? { probation, orderly: true } : { probation, orderly: false, reversal: withdrawn };
}
