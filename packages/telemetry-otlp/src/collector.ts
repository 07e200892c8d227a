import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { OtlpSection } from "@bridge/config";
import { readSmallFileSync } from "@bridge/ports/internal";
import { type PemRole, whyNoPair, whyNoPem } from "@bridge/ports/tls";
import type { OTLPExporterNodeConfigBase } from "@opentelemetry/otlp-exporter-base/node-http";
import { CompressionAlgorithm } from "@opentelemetry/otlp-exporter-base";
import type { Environment } from "./settings.ts";

/** Of one file in PEM form. */
const MAX_FILE_BYTES = 1_048_576;
/** Requests of one exporter at once; more would be a collector that has not answered for a long time. */
const CONCURRENCY = 8;
/** What names the certificate of the bridge: the block has no options for it. */
const CLIENT = { certificate: "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", key: "OTEL_EXPORTER_OTLP_CLIENT_KEY" };

/**
 * The connections to a collector. What the block does not say the exporters of the SDK take from the environment
 * themselves: endpoints, headers, compression.
 */
export class Collector implements Disposable {
  readonly #section: OtlpSection;
  readonly #timeoutMs: number;
  readonly #env: Environment;
  readonly #agents: readonly [http: HttpAgent, https: HttpsAgent];

  /** @throws Error when a file of certificates cannot be used, with its name and the remedy */
  constructor(section: OtlpSection, timeoutMs: number, env: Environment) {
    this.#section = section;
    this.#timeoutMs = timeoutMs;
    this.#env = env;
    const file = (name: string, role: PemRole) => read(name, env[name], role);
    const { certificate, key } = CLIENT;
    const tls = {
      ca:
        section.caFile === undefined
          ? file("OTEL_EXPORTER_OTLP_CERTIFICATE", "authorities")
          : read("telemetry.otlp.ca_file", section.caFile, "authorities"),
      cert: file(certificate, "certificate"),
      key: file(key, "key"),
    };
    const why = tls.cert && tls.key && whyNoPair(tls.cert, tls.key, env[certificate] ?? "");
    if (why !== undefined) throw new Error(`${key}: ${JSON.stringify(env[key])} ${why}`);
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

  /** Where the exports of this signal go, without what the path or a user part may hold. */
  place(signal: "traces" | "metrics"): string {
    const ofSignal = this.#env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`];
    const usual = ofSignal ?? this.#env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? "http://localhost:4318";
    return URL.parse(this.#section.endpoint ?? usual)?.origin ?? "";
  }

  /** Cuts what is still being sent. */
  [Symbol.dispose](): void {
    for (const agent of this.#agents) agent.destroy();
  }
}

function read(name: string, path: string | undefined, role: PemRole): Buffer | undefined {
  if (path === undefined || path === "") return undefined;
  let pem: Buffer;
  try {
    pem = readSmallFileSync(path, MAX_FILE_BYTES);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  const why = whyNoPem(role, pem);
  if (why !== undefined) throw new Error(`${name}: ${JSON.stringify(path)} ${why}`);
  return pem;
}
