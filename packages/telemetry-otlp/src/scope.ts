/** The instrumentation scope of everything that is exported. */
export const SCOPE = { name: "@bridge/telemetry-otlp" } as const;
