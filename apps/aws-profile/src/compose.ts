import type { Plugins, StoreRole } from "@bridge/config";
import { dlqTable, dynamodbDlq } from "@bridge/dlq-dynamodb";
import { fileDlq } from "@bridge/dlq-file";
import { memoryDlq } from "@bridge/dlq-memory";
import { type TableDescription, dynamodbLeases, leaseTable, dynamodbOutbox, outboxTable } from "@bridge/dynamodb";
import type { OpenTelemetry } from "@bridge/host";
import { memoryLeases, memoryOutbox } from "@bridge/memory";
import { fileOutbox } from "@bridge/file";
import { circuitBreaker, filter, schema, transform } from "@bridge/processors";
import { amqp } from "@bridge/transport-amqp";
import { http } from "@bridge/transport-http";
import { memory, memoryHub } from "@bridge/transport-memory";
import { mqtt } from "@bridge/transport-mqtt";
import { nats } from "@bridge/transport-nats";
import { sqs } from "@bridge/transport-sqs";

/** What this binary is made of; the only place that knows an adapter by name. */
export function plugins(): Plugins {
  const aws = awsPlugins();
  return {
    transports: [...aws.transports, mqtt, amqp, nats, http, memory(memoryHub({ history: 0 }))],
    dlqStores: [...aws.dlqStores, fileDlq, memoryDlq],
    outboxStores: [...aws.outboxStores, fileOutbox, memoryOutbox],
    leaseStores: [...aws.leaseStores, memoryLeases],
    processors: [filter, transform, schema, circuitBreaker],
    elsewhere: { postgres: "the reference binary" },
  };
}

/** Those that the reference binary does not have. */
export function awsPlugins() {
  return {
    transports: [sqs()],
    dlqStores: [dynamodbDlq],
    outboxStores: [dynamodbOutbox],
    leaseStores: [dynamodbLeases],
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
