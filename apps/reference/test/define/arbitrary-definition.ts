import type { BridgeDefinition, RouteDefinition, Target } from "@bridge/core";
import { fileDlq } from "@bridge/dlq-file";
import { memoryDlq } from "@bridge/dlq-memory";
import { postgresDlq, postgresLeases } from "@bridge/postgres";
import { memoryLeases, memoryOutbox } from "@bridge/memory";
import { fileOutbox } from "@bridge/file";
import type { ProcessorDefinition, ReceiverDefinition, SessionDefinition } from "@bridge/ports";
import { circuitBreaker, filter, schema, transform } from "@bridge/processors";
import { amqp, type AmqpSenderOptions, type AmqpSessionOptions } from "@bridge/transport-amqp";
import { http, type HttpReceiverOptions, type HttpSenderOptions } from "@bridge/transport-http";
import { memory, type MemoryReceiverOptions } from "@bridge/transport-memory";
import { mqtt, type MqttSenderOptions, type MqttSessionOptions } from "@bridge/transport-mqtt";
import { nats, type NatsReceiverOptions, type NatsSessionOptions } from "@bridge/transport-nats";
import fc from "fast-check";

/** In every secret that a definition holds, and in every user of a URL. */
export const SECRET = "sEcReT-value-0123456789-0123456789";

/** Any of these keys, typed as the options that they are part of. */
function some<T extends object>(keys: { readonly [Key in keyof T]?: fc.Arbitrary<T[Key]> }) {
  return fc.record(keys as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] }) as unknown as fc.Arbitrary<
    Partial<T>
  >;
}

const duration = fc.constantFrom("1500ms", "10s", "1m30s");
const rate = some({ rate_limit: fc.record({ messages_per_second: fc.constantFrom(0.5, 100) }) });
const session_mode = fc.constantFrom("persistent", "ephemeral", undefined);
const host = fc.constantFrom("127.0.0.1:1", "[::1]:2", "host.example");
const user = fc.constantFrom("", `${SECRET}:${SECRET}@`, `${SECRET}@`);

const tag = fc.constantFrom("${env:NOT_A_REFERENCE}", "$${file:x}", "plain");

const amqpBroker = fc
  .tuple(
    host,
    fc.constantFrom("", `${SECRET}:${SECRET}@`),
    some<AmqpSessionOptions>({ heartbeat: duration, max_message_bytes: fc.constant(2048) }),
    session_mode,
  )
  .map(([at, who, rest, mode]) => amqp({ ...rest, url: `amqp://${who}${at}/v`, session_mode: mode }));
const mqttBroker = fc
  .tuple(
    host,
    user,
    some<MqttSessionOptions>({
      keep_alive: duration,
      will: fc.record({ topic: fc.constant("gone"), payload: tag }),
      ack_order: fc.constantFrom("any", "connection"),
    }),
    session_mode,
  )
  .map(([at, who, rest, mode]) => mqtt({ ...rest, broker_urls: [`mqtt://${who}${at}`], session_mode: mode }));
const natsCluster = fc
  .tuple(host, user, some<NatsSessionOptions>({ ping_interval: duration }), session_mode)
  .map(([at, who, rest, mode]) => nats({ ...rest, servers: [`nats://${who}${at}`], session_mode: mode }));

const httpSender = fc
  .tuple(
    some<HttpSenderOptions>({
      method: fc.constantFrom("PUT", "PATCH"),
      bearer: fc.constant(SECRET),
      headers: fc.constant({ "x-token": SECRET, "x-other": SECRET }),
      allowed_origins: fc.constant(["https://other.example"]),
    }),
    rate,
  )
  .map(([rest, limit]) => http({ ...rest, ...limit, url: "https://erp.example/api" }));
const listening = some<HttpReceiverOptions>({
  api_key: fc.constant(SECRET),
  max_body: fc.integer({ min: 1, max: 1_000 }),
  response_timeout: duration,
});

const processor: fc.Arbitrary<ProcessorDefinition> = fc.oneof(
  tag.map((value) => filter({ drop: { field: "subject", op: "eq", value } })),
  fc.constant(transform({ subject: "$uppercase(subject)" })),
  fc.constant(schema({ schema: { type: "object" } })),
  fc.constant(circuitBreaker({})),
);

const policy: fc.Arbitrary<RouteDefinition["policy"]> = some({
  max_in_flight: fc.integer({ min: 1, max: 500 }),
  send_timeout: duration,
  on_expired: fc.constantFrom("dlq", "drop"),
  backoff: some({ jitter: fc.constantFrom(0, 0.5, 1), initial_interval: fc.constant("1s") }),
});

const stores: fc.Arbitrary<NonNullable<BridgeDefinition["stores"]>> = fc.record({
  dlq: fc.constantFrom(
    memoryDlq({ acknowledge_volatile: true }),
    fileDlq({ path: "data/dlq.db", retention: "30d", abandon_backlog: true }),
    postgresDlq({ host: "db.example", database: "bridge", user: "bridge", password: SECRET }),
  ),
  outbox: fc.constantFrom(memoryOutbox({ acknowledge_volatile: true }), fileOutbox({ path: "data/outbox.db" })),
  lease: fc.constantFrom(
    undefined,
    memoryLeases({ acknowledge_volatile: true }),
    postgresLeases({ host: "db.example", database: "bridge", user: "bridge", password: SECRET }),
  ),
});

/** Definitions of bridges, whatever stands in them. */
export const definition: fc.Arbitrary<BridgeDefinition> = fc
  .record({
    amqp: amqpBroker,
    mqtt: mqttBroker,
    nats: natsCluster,
    http: fc.array(httpSender, { minLength: 1, maxLength: 2 }),
    stores,
    processors: fc.array(processor, { maxLength: 3 }),
    routes: fc.integer({ min: 1, max: 4 }),
    named: fc.boolean(),
  })
  .chain(({ routes, named, ...parts }) => {
    const inside = memory();
    const { mqtt: broker, amqp: rabbit, nats: cluster } = parts;
    const from = (id: string): fc.Arbitrary<ReceiverDefinition> =>
      fc.oneof(
        some<MemoryReceiverOptions>({ redelivery_delay: duration }).map((rest) => inside.channel(id, rest)),
        fc.constantFrom(0, 1, 2, undefined).map((qos) => broker.topic(`${id}/#`, { qos })),
        fc.constant(broker.topics([`${id}/+`, { topic: "other" }])),
        fc.integer({ min: 1, max: 9 }).map((prefetch) => rabbit.queue(id, { prefetch })),
        some<NatsReceiverOptions>({ deliver: fc.constant("new") }).map((rest) => cluster.stream(id, rest)),
        listening.map((rest) => http.listen(rest)),
      );
    const target: fc.Arbitrary<Target> = fc.oneof(
      fc.constantFrom(...parts.http).chain((sender) => fc.constantFrom(sender, sender.at("/a/{id}"), sender.at("/b"))),
      some<AmqpSenderOptions>({ mandatory: fc.boolean() }).map((rest) => rabbit.exchange("e", rest).at("k.{id}")),
      fc.constant(rabbit.at("queue")),
      fc.tuple(some<MqttSenderOptions>({ retain: fc.boolean() }), rate).map(([a, b]) => broker.at("t", { ...a, ...b })),
      fc.constantFrom(cluster.at("s.{id}"), inside.at("x"), inside.at("y", { discard: true })),
    );
    const to = fc.oneof(
      target,
      fc.array(target, { minLength: 1, maxLength: 3 }) as unknown as fc.Arbitrary<[Target, ...Target[]]>,
      fc.record({ eu: target, us: target }),
    );
    const route = (id: string): fc.Arbitrary<RouteDefinition> =>
      fc.record(
        {
          from: from(id),
          to,
          policy,
          processors: fc.subarray(parts.processors),
          delivery_mode: fc.constantFrom("direct_hold", "shared_outbox"),
          rate_limit: fc.record({ messages_per_second: fc.integer({ min: 1, max: 9 }) }),
        },
        { requiredKeys: ["from", "to"] },
      );
    const ids = Array.from({ length: routes }, (_, index) => `route-${index}`);
    const sessions: Record<string, SessionDefinition> = named ? { plant: broker, rabbit } : {};
    return fc.record({
      id: fc.constant("random"),
      bridge: some<NonNullable<BridgeDefinition["bridge"]>>({
        log_level: fc.constant("warn"),
        drain_timeout: duration,
      }),
      audit: fc.constant({ file: { path: "audit.log", hmac_key: SECRET } }),
      http: fc.constantFrom(undefined, { admin_api_key: SECRET, admin_addr: "127.0.0.1:0" }),
      sessions: fc.constant(sessions),
      stores: fc.constant(parts.stores),
      routes: fc.record(Object.fromEntries(ids.map((id) => [id, route(id)]))),
    });
  });
