import type { Path } from "@bridge/config";
import { type Alias, type Document, LineCounter, type Node, parseDocument as parseYaml, type YAMLError } from "yaml";
import { locate } from "./locate.ts";
import type { Position } from "./located-problem.ts";
import { SYNTAX_MESSAGES } from "./syntax-messages.ts";
import { toValue } from "./to-value.ts";
import { OTHER_VERSION, surpriseIn } from "./yaml-surprises.ts";

/** Something that is wrong with the text as such. */
export interface SyntaxProblem {
  readonly position: Position;
  readonly message: string;
}

export interface ParsedDocument {
  readonly value: unknown;
  /** With its comments and its layout. */
  readonly tree: Document;
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
  /** Where what `path` names is written, or the nearest thing around it that is. */
  positionOf(path: Path): Position | undefined;
}

/** Reads a YAML or JSON text; JSON is YAML. Never throws. */
export function parseDocument(text: string): ParsedDocument | { readonly problems: readonly SyntaxProblem[] } {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const document: Document = parseYaml(text, {
    lineCounter: lines,
    logLevel: "error",
    prettyErrors: false,
    resolveKnownTags: false,
    stringKeys: true,
    uniqueKeys: false, // takes a time that grows with the square of the keys; toValue checks it
  });
  const surprise = surpriseIn(text);
  if (surprise !== undefined) return { problems: [{ position: at(surprise.offset), message: surprise.message }] };
  if (document.directives?.yaml.version !== "1.2")
    return { problems: [{ position: at(text.search(/^%YAML/m)), message: OTHER_VERSION }] };
  const errors = firstOfEach([...document.errors, ...document.warnings]);
  if (errors.length > 0) {
    return {
      problems: errors.map(({ pos: [offset], code }) => ({ position: at(offset), message: SYNTAX_MESSAGES[code] })),
    };
  }
  const { value, targets, faults } = toValue(document.contents);
  if (faults.length > 0) {
    return { problems: faults.map(({ offset, message }) => ({ position: at(offset), message })) };
  }
  return {
    value,
    tree: document,
    targets,
    positionOf: (path) => {
      const offset = locate(document.contents, targets, path);
      return offset === undefined ? undefined : at(offset);
    },
  };
}

/** The first error of each kind: what follows it is mostly its echo. */
function firstOfEach(errors: readonly YAMLError[]): readonly YAMLError[] {
  const seen = new Set<string>();
  return errors
    .toSorted((a, b) => a.pos[0] - b.pos[0])
    .filter(({ code }) => !seen.has(code) && seen.add(code) !== undefined);
}
