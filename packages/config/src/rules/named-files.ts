import type { Steps } from "@bridge/ports";
import { type GenericSchema, getMetadata } from "valibot";
import { partsOf, shapeOf } from "../check/schema-shape.ts";
import { optionBlocks } from "../plugin-options.ts";
import type { Path } from "../problem.ts";
import { documentSchema } from "../schema/document.ts";
import type { FileUse, UnusableFile } from "../surroundings.ts";
import type { RuleContext } from "./rule-context.ts";

/** Tells of the files that a document names, in options of plugins, too, what keeps a start on this machine from using them. */
export function* namedFiles(context: RuleContext, whyUnusable: UnusableFile): Steps<void> {
  const blocks = [{ schema: documentSchema, value: context.draft, path: [] }, ...optionBlocks(context)];
  for (const block of blocks) {
    for (const { use, value, path } of filesIn(block.schema, block.value, block.path)) {
      if (typeof value !== "string" || value === "") continue;
      const why = whyUnusable({ path: value, use, place: path });
      if (why !== undefined) context.report.problem(path, `${context.hidden.show(path, value)} ${why}`);
      yield;
    }
  }
}

interface NamedFile {
  readonly use: FileUse;
  readonly value: unknown;
  readonly path: Path;
}

function* filesIn(schema: GenericSchema, value: unknown, path: Path): Generator<NamedFile> {
  const use = useOf(schema);
  if (use !== undefined) yield { use, value, path };
  else for (const part of partsOf(schema, value)) yield* filesIn(part.schema, part.value, [...path, ...part.path]);
}

function useOf(schema: GenericSchema): FileUse | undefined {
  const { wrapped } = shapeOf(schema);
  return (getMetadata(schema)["file"] as FileUse | undefined) ?? (wrapped && useOf(wrapped));
}
