import { LINES_TYPE } from "@bridge/http-kit";
import { BridgeError, type DeadLetter, type DlqStore } from "@bridge/ports";
import { deadline, orAborted, Slices } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { DLQ_REFUSALS } from "./dlq-refusals.ts";
import { LIMITS } from "./limits.ts";
import { readImport } from "./read-import.ts";
import { imported, partlyImported } from "./schemas.ts";

/** Entries that are written at once. */
const AT_ONCE = 16;

type Kept = { readonly kind: "imported" | "present" } | { readonly kind: "failed"; readonly error: string };

/** Dead letters that come in as lines, also while the bridge is stopped (operators 4). */
export function dlqImportEndpoint(bridge: BridgeAccess): AdminEndpoint {
  return endpoint({
    method: "POST",
    path: "/api/v1/admin/dlq/import",
    access: "admin",
    needs: "dlq.edit",
    audit: "dlq.import",
    begin: { action: "dlq.import.begin", detail: ({ length: bytes }) => ({ bytes }) },
    summary: "Takes in entries of an export; those that are there already stay as they are.",
    guard: () => void bridge.dlq,
    bodyType: LINES_TYPE,
    body: v.pipe(
      v.custom<Uint8Array>((value) => value instanceof Uint8Array),
      v.description("Lines of an export with payloads, at most 1 MB; its last line may be there."),
      v.metadata({ type: "string" }),
    ),
    refusals: DLQ_REFUSALS,
    answers: {
      200: { description: "The entries of all lines are in the DLQ.", schema: imported },
      207: { description: "Those of some lines, or of all, are not.", schema: partlyImported },
    },
  }).handle(async ({ body }) => {
    const { dlq } = bridge;
    const { found, errors } = await readImport(
      body,
      new Slices(bridge.clock),
      bridge.clock.now() + LIMITS.importSkewMs,
    );
    const counts = { imported: 0, present: 0 };
    const late = new Error("the import was not done in time");
    using limit = deadline(bridge.clock, bridge.operationTimeoutMs, late);
    for (let start = 0; start < found.length; start += AT_ONCE) {
      const some = found.slice(start, start + AT_ONCE);
      const kept = await Promise.all(
        some.map(async ({ entry, lines }) => ({ lines, one: await keep(dlq, entry, limit.signal) })),
      );
      for (const { lines, one } of kept) {
        if (one.kind === "failed") errors.push(...lines.map((line) => ({ line, error: one.error })));
        else {
          counts[one.kind]++;
          counts.present += lines.length - 1;
        }
      }
    }
    const failed = errors.length;
    const detail = { ...counts, failed };
    if (failed === 0) return { status: 200, body: { ...counts, failed }, audit: { detail } };
    return {
      status: 207,
      body: { ...counts, failed, errors: errors.toSorted((a, b) => a.line - b.line) },
      audit: { outcome: counts.imported + counts.present === 0 ? "failure" : "partial_failure", detail },
    };
  });
}

/** Never rejects: what the store does not take is a problem of its line. */
async function keep(dlq: DlqStore, entry: DeadLetter, signal: AbortSignal): Promise<Kept> {
  if (signal.aborted) return { kind: "failed", error: "not attempted: import it again" };
  try {
    if ((await orAborted(dlq.get(entry.id, signal), signal)) !== undefined) return { kind: "present" };
    await orAborted(dlq.put(entry, signal), signal);
    return { kind: "imported" };
  } catch (error) {
    if (signal.aborted) return { kind: "failed", error: "outcome unknown: import it again" };
    return { kind: "failed", error: `the DLQ store failed: ${BridgeError.from(error).message}` };
  }
}
