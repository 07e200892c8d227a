import type { Steps } from "@bridge/ports/internal";
import { isPath, type PemFile } from "@bridge/ports/options";
import { type GenericSchema, getMetadata } from "valibot";
import { isBlock, partsOf, shapeOf } from "../check/schema-shape.ts";
import { optionBlocks } from "../plugin-options.ts";
import type { Path } from "../problem.ts";
import { documentSchema } from "../schema/document.ts";
import type { FileUse, NamedPemFile, UnusableFile } from "../surroundings.ts";
import type { RuleContext } from "./rule-context.ts";

/**
 * Tells of the files that a document names, in options of plugins, too, what keeps a start on this machine from using
 * them.
 */
export function* namedFiles(context: RuleContext, whyUnusable: UnusableFile): Steps<void> {
  for (const file of filesNamed(context)) {
    if (file !== undefined) {
      const { value, path, ...about } = file;
      const fault = whyUnusable({ path: value, place: path, ...about });
      if (fault !== undefined) context.report[fault.kind](path, `${context.hidden.show(path, value)} ${fault.words}`);
    }
    yield;
  }
}

/**
 * The files that a document names, in options of plugins, too, as far as a schema takes them; `undefined` after what
 * names none.
 */
export function* filesNamed(context: RuleContext): Generator<(NamedFile & { readonly value: string }) | undefined> {
  const blocks = [{ schema: documentSchema, value: context.draft, path: [] }, ...optionBlocks(context)];
  for (const block of blocks) {
    for (const file of filesIn(block.schema, block.value, block.path, undefined)) {
      const value = file?.value;
      const isNamed = typeof value === "string" && value !== "" && isPath(value);
      yield file && isNamed ? { ...file, value } : undefined;
    }
  }
}

interface NamedFile {
  readonly use: FileUse;
  readonly pem?: NamedPemFile | undefined;
  readonly value: unknown;
  readonly path: Path;
}

/** `block`: what the value is a field of. */
function* filesIn(schema: GenericSchema, value: unknown, path: Path, block: unknown): Generator<NamedFile | undefined> {
  const { file: use, pem } = aboutFile(schema);
  if (use !== undefined) yield { use, value, path, pem: pem && { role: pem.role, certificate: beside(block, pem) } };
  else {
    if (isBlock(value)) yield undefined;
    for (const part of partsOf(schema, value)) {
      const within = part.path.length === 0 ? block : value;
      yield* filesIn(part.schema, part.value, [...path, ...part.path], within);
    }
  }
}

function beside(block: unknown, { certificate }: PemFile): string | undefined {
  const named = isBlock(block) && certificate !== undefined ? block[certificate] : undefined;
  return typeof named === "string" && named !== "" ? named : undefined;
}

interface AboutFile {
  readonly file?: FileUse;
  readonly pem?: PemFile;
}

function aboutFile(schema: GenericSchema): AboutFile {
  const { wrapped } = shapeOf(schema);
  return { ...(wrapped && aboutFile(wrapped)), ...(getMetadata(schema) as AboutFile) };
}
