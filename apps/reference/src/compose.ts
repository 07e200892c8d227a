import type { Plugins } from "@bridge/config";
import type { OpenTelemetry } from "@bridge/host";
import { fileDlq } from "@bridge/dlq-file";
import { memoryDlq } from "@bridge/dlq-memory";
import { postgresDlq, postgresLeases, postgresOutbox } from "@bridge/postgres";
import { memoryLeases, memoryOutbox } from "@bridge/memory";
import { fileOutbox } from "@bridge/file";
import { circuitBreaker, filter, schema, transform } from "@bridge/processors";
import { amqp } from "@bridge/transport-amqp";
import { http } from "@bridge/transport-http";
import { memory, memoryHub } from "@bridge/transport-memory";
import { mqtt } from "@bridge/transport-mqtt";
import { nats } from "@bridge/transport-nats";

/** What this binary is made of; the only place that knows an adapter by name. */
export function plugins(): Plugins {
  return {
    transports: [mqtt, amqp, nats, http, memory(memoryHub({ history: 0 }))],
    dlqStores: [fileDlq, memoryDlq, postgresDlq],
    outboxStores: [fileOutbox, memoryOutbox, postgresOutbox],
    leaseStores: [memoryLeases, postgresLeases],
    processors: [filter, transform, schema, circuitBreaker],
    elsewhere: { sqs: "bridge-aws", dynamodb: "bridge-aws" },
  };
}

/** Loaded when a configuration asks for it: the SDK would be most of what a start has to read. */
export const telemetry: OpenTelemetry = async (request) => {
  const { openOtlp } = await import("@bridge/telemetry-otlp");
  return openOtlp(request);
};
