import { hash } from "node:crypto";
import { BridgeError, type DeadLetter, type DlqMarks, type Random } from "@bridge/ports";
import { askStore, ensureMarked } from "./ensure-marked.ts";
import { NO_JOB, type ReplayOf } from "../dlq-job/replay-id.ts";
import { OperationError } from "../operation-error.ts";
import type { InjectResult } from "../route/inject-result.ts";
import { attempt, type AttemptOptions, notDelivered, REPLAY_TIMEOUT_MS } from "./attempt.ts";
import { deleteDelivered } from "./delete-delivered.ts";
import { SentAsKept } from "./as-kept.ts";

/** What became of the redrive of a single entry, which stays as it was unless it was `redriven`. */
export type RedrivenEntry =
  /** Without `envelopeId` another redrive has sent it, and only the entry was left to be deleted. */
  | { readonly kind: "redriven"; readonly envelopeId: string | undefined; readonly warning?: string | undefined }
  /** The route has ended the message otherwise; the entry has a mark that says so. */
  | { readonly kind: "not_delivered"; readonly result: InjectResult }
  /** It is delivered, and the store did not delete the entry: another redrive of it does that, and sends nothing. */
  | { readonly kind: "not_deleted"; readonly envelopeId: string | undefined }
  | { readonly kind: "missing" | "quarantined" }
  /** The route has ended the message otherwise, and somebody has deleted the entry meanwhile: nothing is written. */
  | { readonly kind: "gone"; readonly result: InjectResult }
  /** Somebody else redrives it, or has; with `envelopeId` this redrive was delivered too. */
  | { readonly kind: "busy"; readonly envelopeId?: string | undefined };

export interface RedriveEntryOptions extends Omit<AttemptOptions, "replay" | "store"> {
  readonly id: string;
  readonly store: AttemptOptions["store"] & { readonly marks: DlqMarks };
  readonly replay: (entry: DeadLetter, signal: AbortSignal, of: ReplayOf) => Promise<InjectResult>;
  /** What is sent in its place. What it throws is thrown, and nothing is done. */
  readonly edit: (entry: DeadLetter) => DeadLetter;
  /** The entries that some redrive of this process is working on. */
  readonly busy: Set<string>;
  readonly random: Random;
}

/**
 * Delivers one dead letter again, edited or not, and deletes it when that is confirmed. One that fails is marked and never changed.
 * @throws OperationError when nothing has begun, when it is in the outbox, or when nobody knows what became of it
 */
export async function redriveEntry(options: RedriveEntryOptions): Promise<RedrivenEntry> {
  const { id, busy } = options;
  if (busy.has(id)) return { kind: "busy" };
  busy.add(id);
  try {
    return await redriveAlone(options);
  } finally {
    busy.delete(id);
  }
}

async function redriveAlone(options: RedriveEntryOptions): Promise<RedrivenEntry> {
  const { id, store, edit, replay, random, delivered, replayTimeoutMs = REPLAY_TIMEOUT_MS } = options;
  const entry = await askStore(options, (bound) => store.get(id, bound));
  if (entry === undefined) {
    if (!delivered.hasId(id)) return { kind: "missing" };
    const gone = await askStore(options, (bound) => deleteDelivered({ store, delivered, ids: [id] }, bound));
    return gone.has(id) ? { kind: "busy" } : { kind: "not_deleted", envelopeId: undefined };
  }
  // Nothing holds back what is only to be deleted.
  if (entry.marks?.quarantined === true && !delivered.has(entry)) return { kind: "quarantined" };
  const sent = edit(entry);
  const of = { jobId: NO_JOB, attempt: uniqueTry(random) };
  let result: InjectResult | undefined;
  const send = async (signal: AbortSignal): Promise<InjectResult> => (result = await replay(sent, signal, of));
  const attempted = await attempt({ ...options, replay: send }, entry);
  const isGone = async ({ code, message }: BridgeError): Promise<boolean> =>
    (await ensureMarked(options, { ...of, entryId: id }, { code, error: message })) === "gone";
  switch (attempted.kind) {
    case "delivered":
      // Of what was delivered before only the entry was left to be deleted.
      if (result === undefined) return { kind: "busy" };
      return { kind: "redriven", envelopeId: sentAs(result), warning: warningOf(options, { entry, sent, result }) };
    case "gone":
      return { kind: "busy", envelopeId: sentAs(result) };
    case "not_deleted":
      return { kind: "not_deleted", envelopeId: sentAs(result) };
    case "not_delivered": {
      const { outcome, error } = attempted.result;
      if (outcome === "duplicate") return { kind: "busy" };
      const failure = new BridgeError(error?.code ?? "REJECTED", notDelivered(attempted.result));
      return { kind: (await isGone(failure)) ? "gone" : "not_delivered", result: attempted.result };
    }
    case "unknown": {
      const error = new BridgeError("TIMEOUT", `not delivered within ${replayTimeoutMs / 1_000} s, outcome unknown`);
      // Who has given it up leaves no mark: the signal that says so ends that as well.
      const fate = (await isGone(error)) ? "the entry was deleted meanwhile" : "the entry stays";
      throw new OperationError("failed", `${error.message}: ${fate}`);
    }
    case "failed":
      await isGone(attempted.error);
      throw new OperationError("failed", `the inject failed: ${attempted.error.message}`);
    case "refused":
      throw attempted.error;
  }
}

/** Under which id this redrive has sent it; `undefined` when it has sent nothing. */
function sentAs(result: InjectResult | undefined): string | undefined {
  return result?.unsent === true ? undefined : result?.envelopeId;
}

/** 48 bits: no two redrives of one entry have the same. */
function uniqueTry(random: Random): number {
  return 1 + Number.parseInt(hash("sha256", random.id()).slice(0, 12), 16);
}

interface Sent {
  readonly entry: DeadLetter;
  readonly sent: DeadLetter;
  readonly result: InjectResult;
}

function warningOf({ logger }: RedriveEntryOptions, { entry, sent, result }: Sent): string | undefined {
  const asKept = new SentAsKept(logger);
  if (sent.envelope.payload === entry.envelope.payload) asKept.redriven(entry);
  const warnings = [result.warning, asKept.warning].filter((text) => text !== undefined);
  return warnings.length === 0 ? undefined : warnings.join("; ");
}
