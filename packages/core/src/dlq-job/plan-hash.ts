import { hash } from "node:crypto";
import type { Job } from "./job.ts";

/** What a job is about: from its plan on, nothing of it changes. */
type Planned = Pick<Job, "kind" | "query" | "createdAt" | "until" | "bindingId" | "undoWithinMs"> & {
  readonly plan: Pick<Job["plan"], "configVersion">;
};

/** Of the plan of a job. Other releases compare it with what they read: what goes into it stays as long as the version of the document. */
export function planHash({ kind, query, createdAt, until, bindingId, undoWithinMs, plan }: Planned): string {
  const { configVersion } = plan;
  const identity = [kind, query, createdAt, until ?? null, bindingId ?? null, undoWithinMs ?? null, configVersion];
  return hash("sha256", JSON.stringify(identity), "hex");
}
