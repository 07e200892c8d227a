import type { Plugins, StoreRole } from "@bridge/config";
import { dlqTable, dynamodbDlqPlugin } from "@bridge/dlq-dynamodb";
import { fileDlqPlugin } from "@bridge/dlq-file";
import { memoryDlqPlugin } from "@bridge/dlq-memory";
import type { TableDescription } from "@bridge/dynamodb-kit";
import type { OpenTelemetry } from "@bridge/host";
import { dynamodbLeasePlugin, leaseTable } from "@bridge/lease-dynamodb";
import { memoryLeasePlugin } from "@bridge/lease-memory";
import { dynamodbOutboxPlugin, outboxTable } from "@bridge/outbox-dynamodb";
import { fileOutboxPlugin } from "@bridge/outbox-file";
import { memoryOutboxPlugin } from "@bridge/outbox-memory";
import { circuitBreakerPlugin, filterPlugin, schemaPlugin, transformPlugin } from "@bridge/processors";
import { amqpTransport } from "@bridge/transport-amqp";
import { httpTransport } from "@bridge/transport-http";
import { memoryTransport } from "@bridge/transport-memory";
import { mqttTransport } from "@bridge/transport-mqtt";
import { natsTransport } from "@bridge/transport-nats";
import { sqsTransport } from "@bridge/transport-sqs";

/** What this binary is made of; the only place that knows an adapter by name. */
export function plugins(): Plugins {
  const aws = awsPlugins();
  return {
    transports: [...aws.transports, mqttTransport, amqpTransport, natsTransport, httpTransport(), memoryTransport()],
    dlqStores: [...aws.dlqStores, fileDlqPlugin, memoryDlqPlugin],
    outboxStores: [...aws.outboxStores, fileOutboxPlugin, memoryOutboxPlugin],
    leaseStores: [...aws.leaseStores, memoryLeasePlugin],
    processors: [filterPlugin, transformPlugin, schemaPlugin, circuitBreakerPlugin],
    elsewhere: { postgres: "the reference binary" },
  };
}

/** Those that the reference binary does not have. */
export function awsPlugins() {
  return {
    transports: [sqsTransport()],
    dlqStores: [dynamodbDlqPlugin],
    outboxStores: [dynamodbOutboxPlugin],
    leaseStores: [dynamodbLeasePlugin],
  } satisfies Plugins;
}

/** The tables of the stores of type `dynamodb`, by their role and name. */
export const TABLES: Readonly<Record<StoreRole, (name: string) => TableDescription>> = {
  dlq: dlqTable,
  outbox: outboxTable,
  lease: leaseTable,
};

/** Loaded when a configuration asks for it: the SDK would be most of what a start has to read. */
export const telemetry: OpenTelemetry = async (request) => {
  const { openOtlp } = await import("@bridge/telemetry-otlp");
  return openOtlp(request);
};
