/**
 * Holds the workspace's dependencies against the arrows of the architecture: a package may depend only on what its
 * row names, so that an adapter cannot reach the engine even by mistake. Run by `pnpm check`. @module
 */
import { readdirSync, readFileSync } from "node:fs";

const ADAPTER = ["ports"];

/** What each package may depend on at run time, besides other people's libraries. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  ports: [],
  config: ["ports"],
  core: ["ports", "config"],
  audit: ["ports", "file"],
  telemetry: ["ports", "core", "net-kit"],
  "telemetry-otlp": ["ports", "config", "telemetry"],
  "net-kit": ["ports"],
  "http-kit": ["ports", "net-kit"],
  "transport-http": ["ports", "net-kit"],
  "http-monitor": ["ports", "core", "http-kit", "audit", "telemetry"],
  "http-admin": ["ports", "config", "core", "http-kit", "audit"],
  host: [
    "ports",
    "config",
    "core",
    "audit",
    "telemetry",
    "http-kit",
    "http-admin",
    "http-monitor",
    "config-file",
    "file",
  ],
  conformance: ["ports"],
  "config-file": ["ports", "config", "file"],
  simulation: ["ports", "config", "core", "dlq-memory", "memory"],
  "dlq-file": ["ports", "file"],
  "dlq-dynamodb": ["ports", "dynamodb"],
};

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

const problems: string[] = [];
for (const name of readdirSync("packages")) {
  const allowed = ARROWS[name] ?? ADAPTER;
  const manifest = JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")) as Manifest;
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    const ours = /^@bridge\/(.+)$/.exec(dependency)?.[1];
    if (ours !== undefined && !allowed.includes(ours))
      problems.push(`packages/${name} may not depend on ${dependency}`);
  }
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
