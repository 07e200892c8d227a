import type { BindingConfig } from "@bridge/config";
import { drainedBy } from "@bridge/core";
import type { OutboxHead } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { LIMITS } from "./limits.ts";
import type { Redaction } from "./redaction.ts";
import { blockedKeys, moved, outboxPage, outboxSummary, partlyMoved } from "./schemas.ts";
import { filterValue, ids as idList, pageQuery } from "./values.ts";
import { blockedKeysToWire, outboxPageToWire, outboxSummaryToWire } from "./wire.ts";

const REFUSALS = { 404: "There is no outbox store.", 503: "The outbox store is not open, or cannot be used." } as const;

const listQuery = v.object({
  ...pageQuery("records"),
  route_id: filterValue("Only records of this route."),
  binding_id: filterValue("Only records of this binding."),
});

const keysQuery = v.object({
  limit: pageQuery("keys").limit,
  route_id: filterValue("Only keys of this route."),
  binding_id: filterValue("Only keys of this binding."),
});

/** Looking into the outbox, also while the bridge is stopped, and clearing a stuck head out of the way. */
export function outboxEndpoints(bridge: BridgeAccess, redaction: Redaction): readonly AdminEndpoint[] {
  const guard = (): void => void bridge.outbox;
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/admin/outbox",
      access: "admin",
      audit: "outbox.summary",
      summary: "What waits for each binding.",
      guard,
      refusals: REFUSALS,
      answers: { 200: { description: "A line for each binding that has records.", schema: outboxSummary } },
    }).handle(async () => {
      const backlog = await bridge.looking("outbox", (signal) => bridge.outbox.backlog(signal));
      const config = bridge.supervisor.config();
      return { status: 200, body: outboxSummaryToWire(backlog, drainedBy(config), bridge.clock.now()) };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/outbox/messages",
      access: "admin",
      audit: "outbox.list",
      summary: "Undelivered records without their payloads, oldest first.",
      guard,
      query: listQuery,
      refusals: REFUSALS,
      answers: { 200: { description: "A page of them.", schema: outboxPage } },
    }).handle(async ({ query, caller }) => {
      const page = { limit: Math.min(query.limit, LIMITS.listMax), offset: query.offset };
      const filter = { routeId: query.route_id, bindingId: query.binding_id };
      const found = await bridge.looking("outbox", (signal) =>
        bridge.outbox.list(filter, { ...page, limit: page.limit + 1 }, signal),
      );
      const { bindings } = bridge.supervisor.config();
      const isShown = ({ address, hidesAddress }: BindingConfig): boolean =>
        hidesAddress !== true && redaction.showsAddress(address, caller);
      const shown = new Map(bindings.filter(isShown).map(({ id, address }) => [id, address]));
      return { status: 200, body: outboxPageToWire(found, page, (head) => isMadeOf(shown.get(head.bindingId), head)) };
    }),

    endpoint({
      method: "GET",
      path: "/api/v1/admin/outbox/keys",
      access: "admin",
      audit: "outbox.keys",
      summary: "Ordering keys that are blocked: the oldest record of each waits for a retry, and the others with it.",
      guard: () => void bridge.outboxKeys,
      query: keysQuery,
      refusals: { ...REFUSALS, 404: "There is no outbox store, or it cannot tell." },
      answers: { 200: { description: "Those with the oldest records first.", schema: blockedKeys } },
    }).handle(async ({ query }) => {
      const limit = Math.min(query.limit, LIMITS.listMax);
      const filter = { routeId: query.route_id, bindingId: query.binding_id };
      const found = await bridge.looking("outbox", (signal) =>
        bridge.outboxKeys.blockedKeys(filter, limit + 1, signal),
      );
      return { status: 200, body: blockedKeysToWire(found, limit) };
    }),

    endpoint({
      method: "POST",
      path: "/api/v1/admin/outbox/dead-letter",
      access: "admin",
      needs: "outbox.move",
      audit: "outbox.dead_letter",
      begin: { action: "outbox.dead_letter.begin", detail: ({ ids }) => ({ ids: [...new Set(ids)] }) },
      summary: "Moves records to the DLQ, such as one that holds up its ordering key.",
      guard: () => {
        void bridge.outbox;
        void bridge.dlq;
      },
      body: v.strictObject({ ids: idList("outbox records", LIMITS.moveIds) }),
      refusals: { 404: "There is no outbox or no DLQ store.", 503: "A store is not open." },
      answers: {
        200: { description: "Every record is in the DLQ.", schema: moved },
        207: {
          description:
            "Some records, or all, were not moved; those stay in the outbox unless their error says otherwise.",
          schema: partlyMoved,
        },
      },
    }).handle(async ({ body }) => {
      using limit = deadline(bridge.clock, LIMITS.lookTimeoutMs, new Error("the records were not moved in time"));
      const requested = new Set(body.ids).size;
      const result = await bridge.supervisor.deadLetterRecords(body.ids, limit.signal);
      const failed = result.errors.length;
      const audit = { detail: { requested, moved: result.moved, failed } };
      if (failed === 0) return { status: 200, body: { moved: result.moved, failed: 0 }, audit };
      return {
        status: 207,
        body: { moved: result.moved, failed, errors: [...result.errors] },
        audit: { ...audit, outcome: result.moved === 0 ? "failure" : "partial_failure" },
      };
    }),
  ];
}

/** Whether it is an address of this binding as it is now: of a former one, nobody knows what is in it. */
function isMadeOf(template: string | undefined, { address }: OutboxHead): boolean {
  return template !== undefined && (template.includes("{") || template === address);
}
