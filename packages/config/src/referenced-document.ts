import type { BridgeDocument } from "./bridge-document.ts";
import { secretPaths } from "./check/hidden-values.ts";
import { piecesOf } from "./check/pieces.ts";
import { valueAt } from "./check/value-at.ts";
import type { Path } from "./problem.ts";
import type { Referred } from "./references.ts";
import type { Registry } from "./registry.ts";
import { writtenOptions } from "./written-options.ts";

export interface ReferencedDocument {
  /** To be read where references are resolved, as from a file. */
  readonly document: BridgeDocument;
  /** What each environment variable in it has to hold. */
  readonly secrets: ReadonlyMap<string, string>;
  /** The same by their places. */
  readonly referred: readonly Referred[];
}

/**
 * A document that holds secrets, as one that holds none: `${env:NAME}` stands for each of them, and for what stands at
 * the places that are `hidden` besides. What would be taken for a reference is escaped. For documents that validation
 * accepts.
 */
export function referencedDocument(
  document: BridgeDocument,
  registry: Registry,
  hidden: Iterable<Path> = [],
): ReferencedDocument {
  const names = new Map<string, string>();
  const secrets = new Map<string, string>();
  const referred: Referred[] = [];
  for (const path of [...secretPlaces(document, registry), ...hidden]) {
    const value = valueAt(document, path);
    if (typeof value !== "string" || value === "") continue;
    const name = freeName(nameOf(document, path), value, secrets);
    names.set(JSON.stringify(path), name);
    secrets.set(name, value);
    referred.push({ path, value });
  }
  return { document: copyOf(document, names, []) as BridgeDocument, secrets, referred };
}

function* secretPlaces(document: BridgeDocument, registry: Registry): Generator<Path> {
  for (const { path, schema, value } of piecesOf(document)) yield* secretPaths(schema, value, path);
  for (const { path, schema, value } of writtenOptions(document, registry)) yield* secretPaths(schema, value, path);
}

/** `RABBIT_PASSWORD` for the option `password` of the session `rabbit`. */
function nameOf(document: BridgeDocument, path: Path): string {
  const words = path.flatMap((key, index) => {
    if (typeof key !== "number") return key === "options" || index === 0 ? [] : [key];
    const id = valueAt(document, [...path.slice(0, index + 1), "id"]);
    return [typeof id === "string" ? id : `${key}`];
  });
  const [first] = path;
  const own = first === "http" || first === "audit" || first === "telemetry" ? [first, ...words] : words;
  const name = own
    .join("_")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `BRIDGE_${name}`;
}

/** Two places that hold the same may have one name. */
function freeName(wanted: string, value: string, taken: ReadonlyMap<string, string>): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}_${count}`;
    if ((taken.get(name) ?? value) === value) return name;
  }
}

const REFERENCE = /\$\{(?=(?:env|file):)/g;

function copyOf(value: unknown, names: ReadonlyMap<string, string>, path: Path): unknown {
  if (typeof value === "string") {
    const name = names.get(JSON.stringify(path));
    return name === undefined ? value.replaceAll(REFERENCE, () => "$${") : `\${env:${name}}`;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((part: unknown, index) => copyOf(part, names, [...path, index]));
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [key, copyOf(part, names, [...path, key])]));
}
