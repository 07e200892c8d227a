import { failedAhead } from "@bridge/core";
import { LINES_TYPE, LineStream } from "@bridge/http-kit";
import type { DeadLetterPage, DeadLetterPosition } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { FILTER_QUERY, filterToWire, queryFromWire } from "./dlq-filter.ts";
import { DLQ_PART_REFUSALS } from "./dlq-refusals.ts";
import { endLine, headLine } from "./entry-line.ts";
import { ExportedEntries } from "./exported-entries.ts";
import { LIMITS } from "./limits.ts";
import type { Redaction } from "./redaction.ts";

const exportQuery = v.object({
  ...FILTER_QUERY,
  payload: v.optional(
    v.pipe(
      v.picklist(["true", "false"], "expected true or false"),
      v.description("Whether envelopes and payloads come too, without which nothing can be imported."),
      v.transform((value) => value === "true"),
    ),
    "false",
  ),
});

/** All dead letters that match, as lines, also while the bridge is stopped (operators 4). */
export function dlqExportEndpoint(bridge: BridgeAccess, redaction: Redaction): AdminEndpoint {
  return endpoint({
    method: "GET",
    path: "/api/v1/admin/dlq/export",
    access: "admin",
    needsFor: [{ permission: "payload.read", parameter: "payload", but: "false" }],
    audit: "dlq.export",
    begin: { action: "dlq.export.begin", detail: (_body, query) => askedFor(query) },
    summary: "Entries as lines of JSON, oldest first, as fast as you read; the last line says that all are there.",
    guard: () => void bridge.dlqPages,
    query: exportQuery,
    refusals: DLQ_PART_REFUSALS,
    stream: { kind: "export", most: LIMITS.exports, mostOfCaller: LIMITS.exportsOfCaller, tooMany: "too many exports" },
    answers: {
      200: {
        description:
          "A line `{v, entry, envelope, payload}` an entry, the last two with `payload=true`, and `{v, end, count, sha256}` at the end. The header `X-Bridge-As-Of` says before when the entries have failed.",
        schema: v.string(),
        contentType: LINES_TYPE,
      },
    },
  }).handle(async ({ query, caller }) => {
    const asOf = bridge.clock.now();
    const filter = queryFromWire(query);
    const set = { ...filter, before: Math.min(filter.before ?? asOf, asOf) };
    const read = (after: DeadLetterPosition | undefined): Promise<DeadLetterPage> => {
      const page = { limit: LIMITS.exportPage, order: "oldest", after, budget: LIMITS.pageScan } as const;
      return bridge.looking("DLQ", (signal) => bridge.dlqPages.page(set, page, signal));
    };
    // What a store says that cannot be asked is an answer, as long as there is none.
    const first = await read(undefined);
    const ahead = async (signal: AbortSignal): Promise<string | undefined> =>
      failedAhead({ store: bridge.dlqPages, query: filter, clock: bridge.clock, missing: "export" }, signal);
    const entries = new ExportedEntries(bridge, ({ envelope }) => redaction.show(envelope, caller));
    const warnings: (string | undefined)[] = [];
    const body = new LineStream({
      lines: async function* (signal) {
        for (let page = first; ; page = await read(page.next)) {
          if (query.payload) yield* entries.linesOf(page.entries);
          else yield page.entries.map(headLine);
          if (page.next === undefined || signal.aborted) break;
        }
        // All entries are out by now: a store or a client that has gone meanwhile does not tear the export.
        warnings.push(entries.warning, await ahead(signal).catch(() => undefined));
      },
      end: (all) => endLine(all, warnings),
      ended: ({ lines, bytes, isWhole }) => ({
        outcome: isWhole ? "success" : "failure",
        detail: { ...askedFor(query), as_of: formatTimestamp(asOf), count: lines, bytes, whole: isWhole },
      }),
    });
    return {
      status: 200,
      body,
      headers: {
        "Content-Disposition": 'attachment; filename="dead-letters.ndjson"',
        "X-Bridge-As-Of": formatTimestamp(asOf),
      },
    };
  });
}

/** For audit records. */
function askedFor({ payload, ...query }: v.InferOutput<typeof exportQuery>) {
  return { filter: filterToWire(queryFromWire(query)), payload };
}
