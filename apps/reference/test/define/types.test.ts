import { type BridgeDocument, parseConfig } from "@bridge/config";
import { type BridgeDefinition, defineBridge, type RouteDefinition } from "@bridge/core";
import { fileDlq } from "@bridge/dlq-file";
import { fileOutbox } from "@bridge/file";
import type { ReceiverDefinition, SessionDefinition, TargetDefinition } from "@bridge/ports";
import { filter } from "@bridge/processors";
import { amqp } from "@bridge/transport-amqp";
import { http } from "@bridge/transport-http";
import { memory } from "@bridge/transport-memory";
import { mqtt } from "@bridge/transport-mqtt";
import { nats } from "@bridge/transport-nats";
import { expect, expectTypeOf, test } from "vitest";

/** Looked at by the compiler, and never called: what is wrong here would throw. */
function compiled(): void {
  const rabbit = amqp({ url: "amqp://127.0.0.1" });
  const plant = mqtt({ broker_urls: ["mqtt://127.0.0.1"], session_mode: "exclusive" });
  const erp = http({ url: "https://erp.example", rate_limit: { messages_per_second: 5 } });
  const route: RouteDefinition = { from: rabbit.queue("orders", { prefetch: 200 }), to: erp.at("/orders") };
  expectTypeOf(rabbit).toExtend<SessionDefinition>();
  expectTypeOf(rabbit.queue("q")).toEqualTypeOf<ReceiverDefinition>();
  expectTypeOf(erp.at("/a")).toEqualTypeOf<TargetDefinition>();

  // @ts-expect-error -- a word that no policy has
  defineBridge({ id: "b", routes: { r: { ...route, policy: { on_permanent_failure: "dropp" } } } });
  // @ts-expect-error -- AMQP has queues
  rabbit.topic("a/b");
  // @ts-expect-error -- MQTT has topics
  plant.queue("orders");
  // @ts-expect-error -- an option of a session
  rabbit.queue("orders", { heartbeat: "10s" });
  // @ts-expect-error -- there is no such quality
  plant.topic("a/#", { qos: 3 });
  // @ts-expect-error -- a route to nothing
  defineBridge({ id: "b", routes: { r: { from: route.from } } });
  // @ts-expect-error -- a route to nothing
  defineBridge({ id: "b", routes: { r: { from: route.from, to: [] } } });
  // @ts-expect-error -- a target is no source
  defineBridge({ id: "b", routes: { r: { from: erp.at("/orders"), to: erp } } });
  // @ts-expect-error -- a source is no target
  defineBridge({ id: "b", routes: { r: { from: route.from, to: rabbit.queue("orders") } } });
  // @ts-expect-error -- a session is no target
  defineBridge({ id: "b", routes: { r: { from: route.from, to: rabbit } } });
  // @ts-expect-error -- an outbox keeps no dead letters
  defineBridge({ id: "b", stores: { dlq: fileOutbox({ path: "x" }) }, routes: { r: route } });
  // @ts-expect-error -- the path is missing
  fileDlq({});
  // @ts-expect-error -- an operator that no condition has
  filter({ drop: { field: "subject", op: "equals", value: "test" } });
  // @ts-expect-error -- a key that no bridge has
  defineBridge({ id: "b", routes: { r: route }, bridge: { loglevel: "warn" } });
  // @ts-expect-error -- a session is named with its URL
  amqp({ broker_urls: ["amqp://127.0.0.1"] });
  // @ts-expect-error -- the stream is missing
  nats({ servers: ["nats://127.0.0.1"] }).stream();
  // @ts-expect-error -- a delay is a text with a unit
  memory().channel("in", { redelivery_delay: 5 });

  const document: BridgeDocument = { bridge: { id: "b" } };
  // @ts-expect-error -- a key that no document has
  parseConfig({ ...document, brigde: {} }, defineBridge({ id: "b", routes: {} }).registry);
  expectTypeOf<BridgeDefinition["telemetry"]>().toEqualTypeOf<BridgeDocument["telemetry"]>();
}

test("types are looked at by the compiler, before any test runs", () => {
  expect(compiled).toBeTypeOf("function");
});
