import { expect, test } from "vitest";
import type { BridgeDocument } from "../../torture/src/bridge/document.ts";
import { soakDocument } from "../src/bridge/document.ts";
import { revisionOf } from "../src/bridge/revision.ts";
import { ALL_ROUTES, type SideName, SIDES } from "../src/sides.ts";

function documentOf(side: SideName): BridgeDocument {
  return soakDocument({
    side,
    folders: { dlq: "/dlq", outbox: "/outbox" },
    postgres: "postgresql://postgres@127.0.0.1:1/postgres",
    adminKey: "key",
    own: { admin: 2, monitor: 3, ingest: 4 },
    reached: {},
    brokers: { sourceMqtt: 5, targetMqtt: 6, amqp: 7, sourceNats: 8, targetNats: 9 },
    sink: 10,
  });
}

test("each bridge has every transport at both ends, in both delivery modes", () => {
  for (const side of SIDES) {
    const { sessions, receivers, senders, routes } = documentOf(side);
    const transportOf = (part: Readonly<Record<string, unknown>>): unknown =>
      part["transport"] ?? sessions.find(({ id }) => id === part["session_id"])?.["transport"];
    const all = new Set(["amqp", "http", "memory", "mqtt", "nats"]);
    expect(new Set(receivers.map(transportOf))).toEqual(all);
    expect(new Set(senders.map(transportOf))).toEqual(all);
    expect(new Set(routes.map((route) => route["delivery_mode"]))).toEqual(new Set(["direct_hold", "shared_outbox"]));
  }
  expect(new Set(ALL_ROUTES).size).toBe(ALL_ROUTES.length);
});

test("each revision changes one number, of a route and of a session in turn, until each of them has been changed", () => {
  for (const side of SIDES) {
    const first = documentOf(side);
    let document = first;
    const changed = new Set<string>();
    const revisions = 2 * Math.max(first.routes.length, first.sessions.length);
    for (let version = 1; version <= revisions; version++) {
      const { document: next } = revisionOf(document, version);
      const differing = (["routes", "sessions"] as const).flatMap((part) =>
        next[part].filter((one, at) => JSON.stringify(one) !== JSON.stringify(document[part][at])),
      );
      expect(differing).toHaveLength(1);
      changed.add(
        differing[0]?.["delivery_mode"] === undefined ? `session ${differing[0]?.id}` : `route ${differing[0]?.id}`,
      );
      document = next;
    }
    expect(changed.size).toBe(first.routes.length + first.sessions.length);
  }
});
