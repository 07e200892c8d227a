import { atOnce, type Steps } from "@bridge/ports/internal";
import type { BridgeDocument } from "./bridge-document.ts";
import { HiddenValues } from "./check/hidden-values.ts";
import { checkPieces, hideSecrets, piecesOf } from "./check/pieces.ts";
import { Report } from "./check/report.ts";
import type { BridgeConfig } from "./model.ts";
import { modelOf } from "./model-of.ts";
import { checkOptions, hideSecretOptions, optionBlocks } from "./plugin-options.ts";
import { ConfigError, type Path, type Problem } from "./problem.ts";
import type { Referred } from "./references.ts";
import type { Registry } from "./registry.ts";
import { collisions } from "./rules/collisions.ts";
import { draftOf } from "./rules/draft.ts";
import { namedFiles } from "./rules/named-files.ts";
import { type Rule, RuleContext } from "./rules/rule-context.ts";
import { RULES, WARNINGS } from "./rules/rules.ts";
import type { ConfigDocument } from "./schema/document.ts";
import type { Surroundings } from "./surroundings.ts";
import { veiledValues } from "./veiled-values.ts";

export interface ValidateOptions extends Surroundings {
  /** The places whose values came in through a reference; no message shows them. */
  readonly fromReference?: Iterable<Path> | undefined;
  /** What stood there: what of it must not be seen the configuration tells. Default: nothing. */
  readonly referred?: readonly Referred[] | undefined;
}

export type Validation =
  | {
      readonly ok: true;
      readonly config: BridgeConfig;
      readonly warnings: readonly Problem[];
      /**
       * What an error says that has to do with this configuration; `undefined` when it quotes what must not be seen.
       */
      readonly tellable: (text: string) => string | undefined;
    }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] };

/**
 * Holds a parsed document against everything that a configuration must be: the schema, the references between its
 * parts, the options of each plugin, and what the plugins can do. Tells all problems at once; never throws.
 */
export function validateConfig(input: unknown, registry: Registry, options: ValidateOptions = {}): Validation {
  return atOnce(validation(input, registry, options));
}

/** The same in steps, each of which looks at some part of the document. */
export function* validation(input: unknown, registry: Registry, options: ValidateOptions): Steps<Validation> {
  const document = input ?? {}; // what an empty file holds
  const report = new Report();
  const hidden = new HiddenValues(document);
  hidden.hideReferences(options.fromReference ?? []);
  yield* hideSecrets(document, hidden);
  const checked = yield* checkPieces(document, hidden);
  const draft = draftOf(checked.output, checked.unsound);
  const context = new RuleContext(document, draft, registry, report, hidden);
  yield* hideSecretOptions(context);
  for (const problem of checked.problems) report.problem(problem.path, problem.message);
  for (const rule of RULES) yield* stepsOf(rule, context);
  const outputs = yield* checkOptions(context);
  if (options.whyUnusable !== undefined) yield* namedFiles(context, options.whyUnusable);
  const sound = checked.problems.length === 0;
  if (sound) for (const rule of WARNINGS) yield* stepsOf(rule, context);
  const warnings = report.warnings();
  const problems = report.problems();
  if (problems.length > 0) return { ok: false, problems, warnings };
  const config = yield* modelOf(checked.output as ConfigDocument, outputs, registry, {
    written: (path) => context.written(path),
    cameIn: (path) => hidden.cameIn(path),
  });
  const veils = veiledValues(
    options.referred ?? [],
    [...piecesOf(document), ...optionBlocks(context)],
    namesOf(config),
  );
  const colliding = yield* collisions(config, context, options);
  if (colliding.length > 0) return { ok: false, problems: colliding, warnings };
  return {
    ok: true,
    config: veils.length === 0 ? config : { ...config, veils },
    warnings,
    tellable: (text) => hidden.tellable(text, []),
  };
}

function namesOf({
  bridge,
  sessions,
  receivers,
  senders,
  bindings,
  processors,
  routes,
}: BridgeConfig): readonly string[] {
  const parts = [sessions, receivers, senders, bindings, processors, routes].flat();
  return [bridge.id, bridge.instanceId ?? "", ...parts.map(({ id }) => id)];
}

function* stepsOf(rule: Rule, context: RuleContext): Steps<void> {
  const steps = rule(context);
  if (steps !== undefined) yield* steps;
  yield;
}

/**
 * A configuration of a document that the program has written; for one that came from elsewhere there is
 * {@link validateConfig}.
 * @throws ConfigError with every problem, when there is one
 */
export function parseConfig(document: BridgeDocument, registry: Registry): BridgeConfig {
  const result = validateConfig(document, registry);
  if (!result.ok) throw new ConfigError(result.problems);
  return result.config;
}
