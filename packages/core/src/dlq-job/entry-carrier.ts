import type { DeadLetter, DeadLetterHead } from "@bridge/ports";
import { isSpoiled, type SpoiledDeadLetter } from "@bridge/ports/internal";
import { orderingKey } from "../route/identity.ts";
import { KeyedOrder, type Turn } from "../route/keyed-order.ts";
import type { JobRun } from "./job-run.ts";
import type { Lane } from "./lane.ts";
import type { PendingEntries } from "./pending-entries.ts";
import { replayContextOf } from "./replay-context.ts";
import { askedFor } from "./asked-for.ts";
import { failSpoiled, fetchEntry, replayEntry, type ReplayOutcome } from "./replay-outcome.ts";

/** While the job is being stored, it is looked so often whether it is. */
const LOOK_MS = 50;

/** Carries entries to their routes: those of one ordering key one after another, as they were taken. */
export class EntryCarrier {
  readonly #run: JobRun;
  readonly #pending: PendingEntries;
  readonly #order = new KeyedOrder();
  #entering: Promise<unknown> = Promise.resolve();

  constructor(run: JobRun, pending: PendingEntries) {
    this.#run = run;
    this.#pending = pending;
  }

  /** Never rejects. */
  async carry(lane: Lane, head: DeadLetterHead): Promise<ReplayOutcome> {
    const { busy, logger } = this.#run.parts;
    if (this.#pending.knows(head.id)) return { kind: "pending", late: false };
    if (busy.has(head.id)) return back("an entry is being redriven already");
    busy.add(head.id);
    let turn: Turn | undefined;
    try {
      const context = replayContextOf(this.#run);
      const fetching = fetchEntry(context, head);
      // They queue up in their order, whichever of them is fetched first.
      const entering = this.#entering.then(async () => this.#queueUp(lane, await fetching));
      this.#entering = entering;
      turn = await entering;
      const entry = await fetching;
      if ("kind" in entry) return entry;
      const asked = isSpoiled(entry) ? entry : askedFor(entry, this.#run.job);
      if (isSpoiled(asked)) return await failSpoiled(context, head.id, asked);
      if (turn !== undefined) await turn.ready;
      await this.#untilStored();
      if (lane.rests || !this.#run.goesOn || !this.#run.hold.isSure) return back("one before it is tried again");
      return await replayEntry(context, asked);
    } catch (thrown) {
      logger.error("an entry of a job could not be handled: it is tried again", {
        job_id: this.#run.job.id,
        entry_id: head.id,
        error: thrown instanceof Error ? thrown.message : String(thrown),
      });
      return { ...back("it could not be handled"), inDoubt: true };
    } finally {
      turn?.leave();
      busy.delete(head.id);
    }
  }

  /** A store that is slow takes how far the job is in a moment: what was given back would have to be fetched again, and its lane to rest. */
  async #untilStored(): Promise<void> {
    const { hold, parts, cut } = this.#run;
    while (hold.isBeingStored && this.#run.goesOn && !cut.aborted)
      await parts.clock.delay(LOOK_MS, cut).catch(() => {});
  }

  #queueUp({ routeId }: Lane, entry: DeadLetter | SpoiledDeadLetter | ReplayOutcome): Turn | undefined {
    const key = "kind" in entry || isSpoiled(entry) ? undefined : orderingKey(entry.envelope);
    return key === undefined ? undefined : this.#order.enter(JSON.stringify([routeId, key]));
  }
}

function back(why: string): ReplayOutcome & { readonly kind: "back" } {
  return { kind: "back", why, inDoubt: false };
}
