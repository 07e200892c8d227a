import type { Steps } from "@bridge/ports/internal";
import type { GenericSchema } from "valibot";
import { checkValue } from "./check/check-value.ts";
import { secretPaths } from "./check/hidden-values.ts";
import { isBlock } from "./check/schema-shape.ts";
import type { Path } from "./problem.ts";
import type { RuleContext } from "./rules/rule-context.ts";
import { STORE_ROLES } from "./rules/stores.ts";

/** The outputs of the plugins' option schemas, by the place of their options in the document. */
export class PluginOptions {
  readonly #outputs = new Map<string, unknown>();

  set(path: Path, output: unknown): void {
    this.#outputs.set(JSON.stringify(path), output);
  }

  at(path: Path): unknown {
    return this.#outputs.get(JSON.stringify(path));
  }
}

export interface OptionsBlock {
  readonly path: Path;
  readonly schema: GenericSchema;
  readonly value: unknown;
}

/** Hides what the plugins' schemas call secret. */
export function* hideSecretOptions(context: RuleContext): Steps<void> {
  for (const { schema, value, path } of optionBlocks(context)) {
    try {
      context.hidden.hide(secretPaths(schema, value, path));
    } catch {
      context.hidden.hide([path]);
    }
    yield;
  }
}

/** Holds every part's options against the schema of its plugin. */
export function* checkOptions(context: RuleContext): Steps<PluginOptions> {
  const outputs = new PluginOptions();
  for (const { schema, value, path } of optionBlocks(context)) {
    try {
      const checked = checkValue(schema, value, path, context.hidden);
      // Where a rule has said something already, it has said it better.
      const untold = checked.problems.filter((problem) => !context.report.has(problem.path));
      for (const problem of untold) context.report.problem(problem.path, problem.message);
      outputs.set(path, checked.output);
    } catch {
      context.report.problem(
        path,
        "the plugin failed to check these options: they are of a form that it did not expect",
      );
    }
    yield;
  }
  return outputs;
}

/** The blocks of options whose plugin is known. */
export function* optionBlocks(context: RuleContext): Generator<OptionsBlock> {
  const { registry, draft } = context;
  for (const role of STORE_ROLES) {
    const store = draft.stores?.[role];
    if (store?.type !== undefined) yield* blockOf(store, registry.stores[role].get(store.type), ["stores", role]);
  }
  for (const { part, path } of context.parts("sessions")) {
    if (part.transport !== undefined) yield* blockOf(part, registry.transports.get(part.transport)?.session, path);
  }
  for (const { part, path } of context.parts("receivers")) {
    yield* blockOf(part, registry.transports.get(context.transportOf(part) ?? "")?.receiver, path);
  }
  for (const { part, path } of context.parts("senders")) {
    yield* blockOf(part, registry.transports.get(context.transportOf(part) ?? "")?.sender, path);
  }
  for (const { part, path } of context.parts("processors")) {
    if (part.type !== undefined) yield* blockOf(part, registry.processors.get(part.type), path);
  }
}

function* blockOf(
  part: { readonly options?: unknown },
  plugin: { readonly options: GenericSchema } | undefined,
  path: Path,
): Generator<OptionsBlock> {
  if (plugin === undefined || !isBlock(part.options)) return;
  yield { path: [...path, "options"], schema: plugin.options, value: part.options };
}
