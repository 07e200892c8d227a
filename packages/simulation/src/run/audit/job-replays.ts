import { hash } from "node:crypto";
import type { Owner } from "../../time/virtual-time.ts";
import type { KnownJob } from "./known-job.ts";

/** One try of a job to deliver one dead letter, under an envelope id of its own. */
interface Replay {
  readonly job: KnownJob;
  readonly attempt: number;
  readonly entryId: string;
  /** Of the entry, when it was fetched first. */
  readonly spell: number;
  /** Instances that may attempt it, because they had the job when they fetched it. */
  readonly licensed: Set<Owner>;
  /** The entry names no binding, so that it goes to each of its route, which end one after another. */
  readonly wide: boolean;
  /** By binding. */
  readonly legs: Map<string, ReplayedLeg>;
  markedBy: Owner | undefined;
}

/** It was sent to a target. */
interface ReplayedLeg {
  /** Who heard last that the target has it. */
  heardBy: Owner | undefined;
  /** Who heard last that the target refuses it for good. */
  refusedBy: Owner | undefined;
}

export interface JobReplaysOptions {
  readonly violated: (words: string) => void;
  /** Whether replays go through an outbox, whose drains are anybody's. */
  readonly outbox: boolean;
}

/** What jobs send: each entry once in a try, by whoever has the job, but for what nobody has heard of. */
export class JobReplays {
  readonly #options: JobReplaysOptions;
  readonly #replays = new Map<string, Replay>();

  constructor(options: JobReplaysOptions) {
    this.#options = options;
  }

  /** Of this envelope id. */
  under(envelopeId: string): Readonly<Replay> | undefined {
    return this.#replays.get(envelopeId);
  }

  /** Whether a try of the job has sent the entry to a target and not marked it as failed. */
  mayHaveSucceeded(job: KnownJob, entryId: string): boolean {
    for (let attempt = 1; attempt <= job.document.attempt; attempt++) {
      const replay = this.#replays.get(envelopeIdOf({ job, attempt, entryId }));
      if (replay !== undefined && replay.legs.size > 0 && replay.markedBy === undefined) return true;
    }
    return false;
  }

  /** The instance asks for the entry; `licensed`: it has the job, or may think so. */
  fetched(by: Owner, replayed: ReplayedEntry & Pick<Replay, "spell" | "wide">, licensed: boolean): void {
    const envelopeId = envelopeIdOf(replayed);
    const replay = this.#replays.get(envelopeId) ?? {
      ...replayed,
      licensed: new Set(),
      legs: new Map(),
      markedBy: undefined,
    };
    this.#replays.set(envelopeId, replay);
    if (licensed) replay.licensed.add(by);
  }

  marked(by: Owner, replayed: ReplayedEntry): void {
    const replay = this.#replays.get(envelopeIdOf(replayed));
    if (replay !== undefined) replay.markedBy = by;
  }

  /**
   * What a send under this envelope id to a binding is: the first of a replay, another one of the same attempt, or one more attempt
   * although its target was heard to have it, which only another instance may make. `undefined`: it is no job's.
   */
  sends(by: Owner, envelopeId: string, binding: string): "first" | "retry" | "again" | undefined {
    const replay = this.#replays.get(envelopeId);
    if (replay === undefined) return undefined;
    const { job, markedBy, entryId, wide, legs } = replay;
    const { violated, outbox } = this.#options;
    const { id } = job.document;
    const sent = legs.get(binding);
    const heardBy = sent?.heardBy;
    if (!outbox) {
      if (!replay.licensed.has(by)) violated(`${by.name} sends ${entryId} for ${id}, which it has not got`);
      if (heardBy === by) violated(`${by.name} sends ${entryId} for ${id} again, which it has heard is delivered`);
      // The first leg that fails marks the entry, and the others go on.
      const isOver = !wide || sent?.refusedBy === by;
      if (markedBy === by && isOver)
        violated(`${by.name} sends ${entryId} for ${id} again in the same try, which it has marked`);
    }
    legs.set(binding, { heardBy: undefined, refusedBy: undefined });
    if (sent === undefined) return "first";
    if (heardBy === undefined) return "retry";
    job.again.set(binding, (job.again.get(binding) ?? 0) + 1);
    return "again";
  }

  /** Its sender hears that the target of a binding has it. */
  heard(by: Owner, envelopeId: string, binding: string): void {
    this.#replays.get(envelopeId)?.legs.set(binding, { heardBy: by, refusedBy: undefined });
  }

  /** Its sender hears that the target of a binding will never have it. */
  refused(by: Owner, envelopeId: string, binding: string): void {
    this.#replays.get(envelopeId)?.legs.set(binding, { heardBy: undefined, refusedBy: by });
  }
}

type ReplayedEntry = Pick<Replay, "job" | "attempt" | "entryId">;

/** As the manual has it: made from job, entry and try. */
function envelopeIdOf({ job, attempt, entryId }: ReplayedEntry): string {
  return hash("sha256", JSON.stringify(["replay", job.document.id, entryId, attempt]), "base64url").slice(0, 32);
}
