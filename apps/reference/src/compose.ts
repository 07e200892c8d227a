import type { Plugins } from "@bridge/config";
import type { OpenTelemetry } from "@bridge/host";
import { fileDlqPlugin } from "@bridge/dlq-file";
import { memoryDlqPlugin } from "@bridge/dlq-memory";
import { postgresDlqPlugin } from "@bridge/dlq-postgres";
import { memoryLeasePlugin } from "@bridge/lease-memory";
import { postgresLeasePlugin } from "@bridge/lease-postgres";
import { fileOutboxPlugin } from "@bridge/outbox-file";
import { memoryOutboxPlugin } from "@bridge/outbox-memory";
import { postgresOutboxPlugin } from "@bridge/outbox-postgres";
import { circuitBreakerPlugin, filterPlugin, schemaPlugin, transformPlugin } from "@bridge/processors";
import { amqpTransport } from "@bridge/transport-amqp";
import { httpTransport } from "@bridge/transport-http";
import { memoryTransport } from "@bridge/transport-memory";
import { mqttTransport } from "@bridge/transport-mqtt";
import { natsTransport } from "@bridge/transport-nats";

/** What this binary is made of; the only place that knows an adapter by name. */
export function plugins(): Plugins {
  return {
    transports: [mqttTransport, amqpTransport, natsTransport, httpTransport(), memoryTransport()],
    dlqStores: [fileDlqPlugin, memoryDlqPlugin, postgresDlqPlugin],
    outboxStores: [fileOutboxPlugin, memoryOutboxPlugin, postgresOutboxPlugin],
    leaseStores: [memoryLeasePlugin, postgresLeasePlugin],
    processors: [filterPlugin, transformPlugin, schemaPlugin, circuitBreakerPlugin],
    elsewhere: { sqs: "bridge-aws", dynamodb: "bridge-aws" },
  };
}

/** Loaded when a configuration asks for it: the SDK would be most of what a start has to read. */
export const telemetry: OpenTelemetry = async (request) => {
  const { openOtlp } = await import("@bridge/telemetry-otlp");
  return openOtlp(request);
};
