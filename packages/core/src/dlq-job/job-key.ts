import { hash } from "node:crypto";
import type { Clock } from "@bridge/ports";
import type { Job } from "./job.ts";
import type { JobBook } from "./job-book.ts";
import { JobRefusal } from "./job-refusal.ts";
import type { JobOrder } from "./jobs.ts";
import { asOf } from "./plan-expiry.ts";

const KEY_LASTS_MS = 24 * 3_600_000;

type Asked = NonNullable<Job["asked"]>;

/** What the document of a job remembers of its key; nothing when it was asked for without one. */
export function askedOf({ idempotencyKey, ...body }: JobOrder): Asked | undefined {
  if (idempotencyKey === undefined) return undefined;
  return {
    key: hash("sha256", JSON.stringify([body.actor, idempotencyKey]), "hex"),
    body: digest(JSON.stringify(body)),
  };
}

/** The job that this key stands for, or the id that it is to have. @throws JobRefusal `key_reused` */
export async function jobUnderKey(
  asked: Asked,
  { book, clock }: { readonly book: JobBook; readonly clock: Clock },
  signal: AbortSignal,
): Promise<Job | string> {
  for (let day = 0; ; day++) {
    const id = jobIdOf(JSON.stringify([asked.key, day]));
    const kept = await book.get(id, signal);
    if (kept === undefined) return id;
    if (clock.now() - kept.job.createdAt >= KEY_LASTS_MS) continue;
    if (kept.job.asked?.body === asked.body) return asOf(kept.job, clock.now());
    throw new JobRefusal("key_reused", "this Idempotency-Key came with another request: give a fresh one");
  }
}

export function jobIdOf(seed: string): string {
  return `job-${digest(seed)}`;
}

function digest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 16);
}
