import { type ReferenceSources, resolveReferences } from "./references.ts";
import type { Registry } from "./registry.ts";
import { validateConfig, type Validation } from "./validate.ts";

export type CheckedDocument = Validation & {
  /** The document with values in place of its references: it holds secrets. */
  readonly resolved: unknown;
};

/**
 * Resolves a document as people wrote it and validates it, with all problems of both.
 *
 * Rejects only with the signal's reason.
 */
export async function checkDocument(
  written: unknown,
  registry: Registry,
  sources: ReferenceSources,
  signal: AbortSignal,
): Promise<CheckedDocument> {
  const { document: resolved, fromReference, problems: unresolved } = await resolveReferences(written, sources, signal);
  const { place, servers } = sources;
  const validation = validateConfig(resolved, registry, { fromReference, place, servers });
  if (unresolved.length === 0) return { ...validation, resolved };
  // What validation says of a reference that failed is about the text of the reference.
  const failed = new Set(unresolved.map(({ path }) => JSON.stringify(path)));
  const others = validation.ok ? [] : validation.problems.filter(({ path }) => !failed.has(JSON.stringify(path)));
  return { ok: false, problems: [...unresolved, ...others], warnings: validation.warnings, resolved };
}
