import { failedAhead } from "@bridge/core";
import { LINES_TYPE, LineStream } from "@bridge/http-kit";
import { BridgeError, type DeadLetterHead, type DeadLetterPage, type DeadLetterPosition } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { FILTER_QUERY, filterToWire, queryFromWire } from "./dlq-filter.ts";
import { DLQ_PART_REFUSALS } from "./dlq-refusals.ts";
import { endLine, entryLine, headLine, unreadableLine } from "./entry-line.ts";
import { LIMITS } from "./limits.ts";
import type { Redaction } from "./redaction.ts";

/** Entries that are read at once, of so many bytes of payload at most, unless one alone has more. */
const [AT_ONCE, AT_ONCE_BYTES] = [16, 1024 * 1024];

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
    const entries = async (heads: readonly DeadLetterHead[]): Promise<Iterable<object>> => {
      const makers = await Promise.all(
        heads.map(async (head): Promise<() => object | undefined> => {
          try {
            const found = await bridge.looking("DLQ", (signal) => bridge.dlq.get(head.id, signal));
            return () => found && entryLine(found, redaction.show(found.envelope, caller));
          } catch (error) {
            if (BridgeError.is(error) && error.code === "INTERNAL") return () => unreadableLine(head, error.message);
            throw error;
          }
        }),
      );
      return linesOf(makers);
    };
    // What a store says that cannot be asked is an answer, as long as there is none.
    const first = await read(undefined);
    const ahead = async (signal: AbortSignal): Promise<string | undefined> =>
      failedAhead({ store: bridge.dlqPages, query: filter, clock: bridge.clock, missing: "export" }, signal);
    let warning: string | undefined;
    const body = new LineStream({
      lines: async function* (signal) {
        for (let page = first; ; page = await read(page.next)) {
          if (query.payload) for (const some of atOnce(page.entries)) yield await entries(some);
          else yield page.entries.map(headLine);
          if (page.next === undefined || signal.aborted) break;
        }
        // All entries are out by now: a store or a client that has gone meanwhile does not tear the export.
        warning = await ahead(signal).catch(() => undefined);
      },
      end: (all) => endLine(all, warning),
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

/** One at a time, for a large entry takes long to look through. */
function* linesOf(makers: readonly (() => object | undefined)[]): Generator<object> {
  for (const make of makers) {
    const line = make();
    if (line !== undefined) yield line;
  }
}

/** For audit records. */
function askedFor({ payload, ...query }: v.InferOutput<typeof exportQuery>) {
  return { filter: filterToWire(queryFromWire(query)), payload };
}

function* atOnce(heads: readonly DeadLetterHead[]): Generator<readonly DeadLetterHead[]> {
  let some: DeadLetterHead[] = [];
  let bytes = 0;
  for (const head of heads) {
    if (some.length === AT_ONCE || (some.length > 0 && bytes + head.payloadBytes > AT_ONCE_BYTES)) {
      yield some;
      [some, bytes] = [[], 0];
    }
    some.push(head);
    bytes += head.payloadBytes;
  }
  if (some.length > 0) yield some;
}
