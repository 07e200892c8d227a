import { checkValue } from "./check/check-value.ts";
import { HiddenValues, secretPaths } from "./check/hidden-values.ts";
import { Report } from "./check/report.ts";
import type { BridgeConfig } from "./model.ts";
import { modelOf } from "./model-of.ts";
import { checkOptions, hideSecretOptions } from "./plugin-options.ts";
import { ConfigError, type Path, type Problem } from "./problem.ts";
import type { Registry } from "./registry.ts";
import { collisions } from "./rules/collisions.ts";
import { draftOf } from "./rules/draft.ts";
import { RuleContext } from "./rules/rule-context.ts";
import { RULES, WARNINGS } from "./rules/rules.ts";
import { type ConfigDocument, documentSchema } from "./schema/document.ts";
import type { Surroundings } from "./surroundings.ts";

export interface ValidateOptions extends Surroundings {
  /** The places whose values came in through a reference; no message shows them. */
  readonly fromReference?: Iterable<Path> | undefined;
}

export type Validation =
  | {
      readonly ok: true;
      readonly config: BridgeConfig;
      readonly warnings: readonly Problem[];
      /** What an error says that has to do with this configuration; `undefined` when it quotes what must not be seen. */
      readonly tellable: (text: string) => string | undefined;
    }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] };

/**
 * Holds a parsed document against everything that a configuration must be: the schema, the references between its
 * parts, the options of each plugin, and what the plugins can do. Tells all problems at once; never throws.
 */
export function validateConfig(input: unknown, registry: Registry, options: ValidateOptions = {}): Validation {
  const document = input ?? {}; // what an empty file holds
  const report = new Report();
  const hidden = new HiddenValues(document);
  hidden.hideReferences(options.fromReference ?? []);
  hidden.hide(secretPaths(documentSchema, document));
  const checked = checkValue(documentSchema, document, [], hidden);
  const draft = draftOf(checked.output, checked.unsound);
  const context = new RuleContext(document, draft, registry, report, hidden);
  hideSecretOptions(context);
  for (const problem of checked.problems) report.problem(problem.path, problem.message);
  for (const rule of RULES) rule(context);
  const outputs = checkOptions(context);
  const sound = checked.problems.length === 0;
  if (sound) for (const rule of WARNINGS) rule(context);
  const warnings = report.warnings();
  const problems = report.problems();
  if (problems.length > 0) return { ok: false, problems, warnings };
  const config = modelOf(checked.output as ConfigDocument, outputs, registry, (path) => context.written(path));
  const colliding = collisions(config, registry, options);
  if (colliding.length > 0) return { ok: false, problems: colliding, warnings };
  return { ok: true, config, warnings, tellable: (text) => hidden.tellable(text, []) };
}

/** @throws ConfigError with every problem, when there is one */
export function parseConfig(document: unknown, registry: Registry): BridgeConfig {
  const result = validateConfig(document, registry);
  if (!result.ok) throw new ConfigError(result.problems);
  return result.config;
}
