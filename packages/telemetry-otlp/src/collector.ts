import { readFileSync } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { OtlpSection } from "@bridge/config";
import type { OTLPExporterNodeConfigBase } from "@opentelemetry/otlp-exporter-base/node-http";
import { CompressionAlgorithm } from "@opentelemetry/otlp-exporter-base";
import type { Environment } from "./settings.ts";

/** Requests of one exporter at once; more would be a collector that has not answered for a long time. */
const CONCURRENCY = 8;

/**
 * The connections to a collector. What the block does not say the exporters of the SDK take from the environment
 * themselves: endpoints, headers, compression.
 */
export class Collector implements Disposable {
  readonly #section: OtlpSection;
  readonly #timeoutMs: number;
  readonly #agents: readonly [http: HttpAgent, https: HttpsAgent];

  /** @throws Error when a file of certificates cannot be read */
  constructor(section: OtlpSection, timeoutMs: number, env: Environment) {
    this.#section = section;
    this.#timeoutMs = timeoutMs;
    const file = (name: string) => read(name, env[name]);
    const tls = {
      ca:
        section.caFile === undefined
          ? file("OTEL_EXPORTER_OTLP_CERTIFICATE")
          : read("telemetry.otlp.ca_file", section.caFile),
      cert: file("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"),
      key: file("OTEL_EXPORTER_OTLP_CLIENT_KEY"),
    };
    this.#agents = [new HttpAgent({ keepAlive: true }), new HttpsAgent({ keepAlive: true, ...tls })];
  }

  /** What an exporter of this signal is made with. */
  exporter(signal: "traces" | "metrics"): OTLPExporterNodeConfigBase {
    const { endpoint, headers, compression } = this.#section;
    const [http, https] = this.#agents;
    return {
      ...(endpoint !== undefined && { url: `${endpoint.replace(/\/+$/, "")}/v1/${signal}` }),
      headers: { ...headers },
      ...(compression !== undefined && { compression: CompressionAlgorithm[compression === "gzip" ? "GZIP" : "NONE"] }),
      timeoutMillis: this.#timeoutMs,
      concurrencyLimit: CONCURRENCY,
      httpAgentOptions: (protocol) => (protocol === "http:" ? http : https),
    };
  }

  /** Cuts what is still being sent. */
  [Symbol.dispose](): void {
    for (const agent of this.#agents) agent.destroy();
  }
}

function read(name: string, path: string | undefined): Buffer | undefined {
  if (path === undefined || path === "") return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
