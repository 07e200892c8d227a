import { systemClock } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import { type ReferenceSources, resolveReferences } from "./references.ts";
import type { Registry } from "./registry.ts";
import { type Validation, validation } from "./validate.ts";

export type CheckedDocument = Validation & {
  /** The document with values in place of its references: it holds secrets. */
  readonly resolved: unknown;
  /** Whether something that it refers to could not be read, which may be there in a moment. */
  readonly unread: boolean;
};

/**
 * Resolves a document as people wrote it and validates it, with all problems of both, in slices: a
 * thousand routes take 100 ms.
 *
 * Rejects only with the signal's reason.
 */
export async function checkDocument(
  written: unknown,
  registry: Registry,
  sources: ReferenceSources,
  signal: AbortSignal,
  slices: Slices = new Slices(systemClock),
): Promise<CheckedDocument> {
  const {
    document: resolved,
    fromReference,
    referred,
    problems: unresolved,
    unread,
  } = await resolveReferences(written, sources, signal, slices);
  const { isOwnPlace, servers, whyUnusable } = sources;
  const steps = validation(resolved, registry, { fromReference, referred, isOwnPlace, servers, whyUnusable });
  const validated = await slices.run(steps, signal);
  if (unresolved.length === 0) return { ...validated, resolved, unread };
  // What validation says of a reference that failed is about the text of the reference.
  const failed = new Set(unresolved.map(({ path }) => JSON.stringify(path)));
  const others = validated.ok ? [] : validated.problems.filter(({ path }) => !failed.has(JSON.stringify(path)));
  return { ok: false, problems: [...unresolved, ...others], warnings: validated.warnings, resolved, unread };
}
