import type { ConfigTransactions } from "@bridge/config";
import { HttpError } from "@bridge/http-kit";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import { partsQuery, shownParts } from "./config-page.ts";
import { configDocument, configHistory, currentConfig } from "./config-schemas.ts";
import { historyToWire, probationToWire } from "./config-wire.ts";

/** Ends when the work does; each step of it is bounded by itself. */
const NEVER = new AbortController().signal;

/** Looking at the configuration and at what became of it (spec 4.2; contract §2). */
export function configEndpoints(transactions: ConfigTransactions): readonly AdminEndpoint[] {
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/admin/config",
      access: "admin",
      audit: "config.read",
      query: partsQuery,
      summary: "The configuration as it is stored, with its defaults, redacted and without plugin options.",
      refusals: { 503: "There is no configuration, or it cannot be read." },
      answers: {
        200: { description: "It can be sent back in a PATCH, and changes nothing then.", schema: currentConfig },
      },
    }).handle(async ({ query: { offset } }) => {
      const { version, config: whole } = await transactions.current(NEVER);
      const { shown: config, more } = shownParts(whole, offset);
      const open = transactions.confirmable();
      const rest = more !== undefined && { more };
      const body = { version, config, ...rest, ...(open !== undefined && { probation: probationToWire(open) }) };
      return { status: 200, body, audit: { detail: { version } } };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/config/document",
      access: "admin",
      needs: "config.write",
      audit: "config.document.read",
      summary: "The stored document as people wrote it, with comments and options; secrets are redacted.",
      refusals: {
        404: "The configuration is kept where no texts are.",
        503: "There is no configuration, or it cannot be read.",
      },
      answers: { 200: { description: "What a transaction takes in its place.", schema: configDocument } },
    }).handle(async () => {
      const { version, ...shown } = await transactions.document(NEVER);
      return { status: 200, body: { version, ...shown }, audit: { detail: { version, redacted: shown.redacted } } };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/config/history",
      access: "admin",
      audit: "config.history",
      summary: "What was committed last, the newest first: who, when, and what changed.",
      refusals: { 404: "The configuration is kept where no history is.", 503: "The history cannot be read." },
      answers: { 200: { description: "At most 20 commits.", schema: configHistory } },
    }).handle(async () => {
      const entries = await transactions.history(NEVER);
      if (entries === undefined) throw new HttpError(404, "no configuration history is kept");
      return { status: 200, body: { versions: entries.map(historyToWire) } };
    }),
  ];
}
