import { type BridgeConfig, formatProblem, type OtlpSection } from "@bridge/config";
import type { Seams, Tracer } from "@bridge/ports";
import type { Family } from "@bridge/telemetry";
import type { Companion } from "./companion.ts";
import { NO_EXPORT } from "./start-checks.ts";

/** Exports what a process measures. */
export interface TelemetryExport {
  /** Makes spans of deliveries; absent: nothing is traced. */
  readonly tracer: Tracer | undefined;
  readonly exports: readonly Companion[];
  /** What is counted of the export itself. */
  families(): readonly Family[];
}

/** What an export is made of. */
export interface TelemetryRequest extends Seams {
  readonly section: OtlpSection;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly bridgeId: string;
  readonly instanceId: string;
  /** Of the program. */
  readonly version: string | undefined;
  /** Everything that is counted in this process; never rejects. */
  readonly readMetrics: () => Promise<readonly Family[]>;
}

/**
 * Opens an export, asked for once and only when the configuration wants one: whoever has the libraries for it need not
 * load them before. A rejection is a failed start.
 */
export type OpenTelemetry = (request: TelemetryRequest) => TelemetryExport | Promise<TelemetryExport>;

/**
 * The export that a configuration asks for; `undefined` when it asks for none.
 * @throws Error when the program has no export, or it cannot be opened
 */
export async function openTelemetry(
  open: OpenTelemetry | undefined,
  { bridge, telemetry }: BridgeConfig,
  request: Omit<TelemetryRequest, "section" | "bridgeId">,
): Promise<TelemetryExport | undefined> {
  const section = telemetry.otlp;
  if (section === undefined) return undefined;
  if (open === undefined) throw new Error(formatProblem(NO_EXPORT));
  return open({ ...request, section, bridgeId: bridge.id });
}
