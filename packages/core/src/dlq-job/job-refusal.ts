import { knownAcrossCopies, type Said, toldText } from "@bridge/ports/internal";

/**
 * Why a call of a job was refused, for programs.
 *
 * - `state`: not possible from where the job stands. `ended`: nothing of it can be changed any more.
 * - `plan_changed`: what was looked at is not what would be done.
 * - `route_busy`: a route of it is in another job.
 * - `too_many`: so many jobs are not over.
 * - `too_late`: what was purged is erased.
 * - `key_reused`: the same key came with another request. `binding`: the route has no such binding.
 */
export type JobRefusalReason =
  | "state"
  | "ended"
  | "plan_changed"
  | "route_busy"
  | "too_many"
  | "too_late"
  | "key_reused"
  | "binding";

/** A call of a job that was not carried out; the message is for the operator who made it. */
export class JobRefusal extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "JobRefusal" });
    knownAcrossCopies(this, "job-refusal");
  }

  readonly reason: JobRefusalReason;
  /** The message in its parts: a record has only those that show nothing of what was sent. */
  readonly said: Said;

  constructor(reason: JobRefusalReason, said: Said) {
    super(toldText(said));
    this.reason = reason;
    this.said = said;
  }
}
