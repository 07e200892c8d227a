import { hash } from "node:crypto";
import type { StoredJob } from "../dlq-jobs.ts";

/** What a store keeps beside the document of a job. */
type Beside = Omit<StoredJob, "document">;

const LENGTH = sealJob({ id: "", revision: 0, state: "", createdAt: 0 }, "{").length;

/** A JSON object that begins with a SHA-256 of the rest of it and of what stands beside it. */
export function sealJob({ id, revision, state, createdAt }: Beside, json: string): string {
  const seal = hash("sha256", JSON.stringify([id, revision, state, createdAt, json]), "hex");
  return `{"seal":"${seal}",${json.slice(1)}`;
}

/** The JSON as it was sealed; `undefined` when it, or what stands beside it, is not as it was written. */
export function unsealJob(stored: StoredJob): string | undefined {
  const json = `{${stored.document.slice(LENGTH)}`;
  return stored.document === sealJob(stored, json) ? json : undefined;
}
