import { secretPaths } from "../check/hidden-values.ts";
import { piecesOf } from "../check/pieces.ts";
import type { Said, Sent, Steps } from "@bridge/ports/internal";
import { isBlock } from "../check/schema-shape.ts";
import { valueAt } from "../check/value-at.ts";
import type { Path } from "../problem.ts";
import { quote } from "../quote.ts";
import { referencesIn } from "../references.ts";
import { plainPaths } from "../veiled-values.ts";
import type { Fault } from "./overlay-error.ts";

interface Reference {
  /** As `env:NAME`. */
  readonly name: string;
  readonly path: Path;
  /** The path with the ids of parts in place of their indices. */
  readonly place: string;
  /** Of what stands in plugin options: the place of these. */
  readonly options: string | undefined;
}

/**
 * The references that a change brings and may not: whoever may change a document must not read what the process can
 * read, for the value goes wherever the change says. A reference may stay where it is. Elsewhere it has to be one that
 * the document allows, or one that it has: then not one for a secret, unless it stays in the same plugin options, and
 * not where its value is shown, unless it is shown already. A secret may become another key of the servers or of the
 * audit, and theirs go nowhere else, whatever is allowed: who has one may do everything. To be asked before anything is
 * resolved: whether a file is there is told by its error.
 *
 * @param former a document that was stored once, in whose places its references may be, too
 */
export function* newReferences(before: unknown, after: unknown, former?: unknown): Steps<readonly Fault[]> {
  const has = yield* references(after);
  if (has.length === 0) return [];
  const had = yield* references(before);
  const once = former === undefined ? [] : yield* references(former);
  const inPlace = new Set([...had, ...once].map(({ name, place }) => `${place} ${name}`));
  const known = new Set(had.map(({ name }) => name));
  // Whoever changes the options of a part says already where it sends its secrets.
  const inOptions = new Set(had.map(({ name, options }) => `${options} ${name}`));
  const hidden = yield* hiding(before);
  const secrets = had.filter(({ path }) => hidden(path));
  const secret = new Set(secrets.map(({ name }) => name));
  const own = new Set(secrets.filter(({ path }) => staysHere(path)).map(({ name }) => name));
  const [hides, shows, allowed] = [yield* hiding(after), yield* showing(after), allowedBy(before)];
  const shown = new Set<string>();
  for (const [document, there] of [
    [before, had],
    [former, once],
  ] as const) {
    const isShown = yield* showing(document);
    for (const { name, path } of there) if (isShown(path)) shown.add(name);
  }
  const gets = ({ name, path }: Reference): boolean => shows(path) && !shown.has(name);
  const may = (reference: Reference): boolean => {
    const { name, path, place, options } = reference;
    if (inPlace.has(`${place} ${name}`)) return true;
    const isKey = staysHere(path) && hides(path);
    if (own.has(name)) return isKey;
    if (options !== undefined && inOptions.has(`${options} ${name}`)) return true;
    return allowed(name) || (known.has(name) && !gets(reference) && (!secret.has(name) || isKey));
  };
  return has
    .filter((reference) => !may(reference))
    .map((reference) => {
      const { name, path } = reference;
      const why = own.has(name) ? stays : known.has(name) && gets(reference) ? isHidden : comesFromNowhere;
      return { path, message: why(name) };
    });
}

function stays(name: string): Said {
  return [
    "the reference ",
    quoted(name),
    "stands for a key of the servers or of the audit, and cannot be brought here: it stays where it stands, or becomes another of these keys",
  ];
}

function isHidden(name: string): Said {
  return [
    "the value of the reference ",
    quoted(name),
    "is shown nowhere, and would be seen here: write it into the document itself, or allow it there under config.references.allow",
  ];
}

function comesFromNowhere(name: string): Said {
  return [
    "the reference ",
    quoted(name),
    "is not one that a change may bring here: write it into the document itself, or allow it there under config.references.allow",
  ];
}

/** Whoever sends one may have taken a secret for its name. */
function quoted(name: string): Sent {
  return { sent: `${quote(name)} ` };
}

/**
 * What is a secret in these blocks is only compared with what comes in, or signed with; elsewhere it is sent to
 * somebody.
 */
function staysHere([block]: Path): boolean {
  return block === "http" || block === "audit";
}

/**
 * Whether the value at a path is shown though it comes in through a reference: what names a part, and words and
 * numbers.
 */
function* showing(document: unknown): Steps<(path: Path) => boolean> {
  const plain = new Set<string>();
  for (const { schema, value, path } of piecesOf(document)) {
    for (const place of plainPaths(schema, value, path)) plain.add(JSON.stringify(place));
    yield;
  }
  return (path) => plain.has(JSON.stringify(path));
}

/** Whether the value at a path is a secret. Options are the plugins' to judge, and count as secret. */
function* hiding(document: unknown): Steps<(path: Path) => boolean> {
  const secret = new Set<string>();
  for (const piece of piecesOf(document)) {
    for (const path of secretPaths(piece.schema, piece.value, piece.path)) secret.add(JSON.stringify(path));
    yield;
  }
  return (path) =>
    path.includes("options") || path.some((_, index) => secret.has(JSON.stringify(path.slice(0, index + 1))));
}

function allowedBy(document: unknown): (name: string) => boolean {
  const globs = valueAt(document, ["config", "references", "allow"]);
  const patterns = (Array.isArray(globs) ? (globs as readonly unknown[]) : [])
    .filter((glob) => typeof glob === "string")
    .map(
      (glob) =>
        new RegExp(
          `^${glob
            .split(/(\*\*|\*)/)
            .map(part)
            .join("")}$`,
        ),
    );
  // A glob names a folder; a name that leads out of it again is not meant.
  return (name) => !name.split(/[/\\]/).includes("..") && patterns.some((pattern) => pattern.test(name));
}

function part(text: string): string {
  if (text === "**") return ".*";
  return text === "*" ? "[^/]*" : text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function* references(document: unknown): Steps<readonly Reference[]> {
  const found: Reference[] = [];
  for (const reference of walk(document, [], "", undefined)) {
    if (reference !== undefined) found.push(reference);
    yield;
  }
  return found;
}

/** Tells `undefined` after each element of a list. */
function* walk(
  value: unknown,
  path: Path,
  place: string,
  options: string | undefined,
): Generator<Reference | undefined> {
  if (typeof value === "string") {
    for (const name of referencesIn(value)) yield { name, path, place, options };
  } else if (Array.isArray(value)) {
    for (const [index, element] of (value as readonly unknown[]).entries()) {
      const id = isBlock(element) && typeof element["id"] === "string" ? `#${element["id"]}` : index;
      yield* walk(element, [...path, index], JSON.stringify([place, id]), options);
      yield;
    }
  } else if (isBlock(value)) {
    for (const [key, inner] of Object.entries(value)) {
      const at = JSON.stringify([place, key]);
      yield* walk(inner, [...path, key], at, options ?? (key === "options" ? at : undefined));
    }
  }
}
