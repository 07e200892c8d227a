import {
  type BridgeConfig,
  checkDocument,
  type Problem,
  type ReferenceReaders,
  type Registry,
  type UsualServers,
} from "@bridge/config";
import { MAX_FILE_BYTES } from "./content.ts";
import { inFileOrder, type LocatedProblem } from "./located-problem.ts";
import { parseDocument, type ParsedDocument } from "./parse-document.ts";
import { MissingFileError, readText } from "./read-text.ts";
import { referenceSources } from "./reference-sources.ts";

export interface LoadOptions {
  /** For `${env:NAME}`: mostly `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For references of other kinds. Default: there are none. */
  readonly references?: ReferenceReaders | undefined;
  /** Where the application's servers listen when the file has no `http` block. Default: nobody looks. */
  readonly servers?: UsualServers | undefined;
  readonly signal: AbortSignal;
}

export type LoadedConfig =
  | { readonly ok: true; readonly config: BridgeConfig; readonly warnings: readonly LocatedProblem[] }
  | { readonly ok: false; readonly problems: readonly LocatedProblem[]; readonly warnings: readonly LocatedProblem[] };

/**
 * Reads a configuration from a YAML or JSON file: parses it, resolves its references, validates it, and gives each
 * problem its line and column. `missing` when there is no such file; a file that is there and cannot be used is a
 * problem. A relative path in `${file:…}` starts at the folder of the file.
 *
 * Rejects only with the signal's reason.
 */
export async function loadConfigFile(
  path: string,
  registry: Registry,
  options: LoadOptions,
): Promise<LoadedConfig | "missing"> {
  let text: string;
  try {
    text = await readText(path, MAX_FILE_BYTES, options.signal);
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof MissingFileError) return "missing";
    const message = `the configuration is not usable: ${error instanceof Error ? error.message : "it cannot be read"}`;
    return refused([{ file: path, path: [], message }]);
  }
  return checkText(path, text, registry, options);
}

/** The same for a text that was read already from `file`. */
export async function checkText(
  file: string,
  text: string,
  registry: Registry,
  options: LoadOptions,
): Promise<LoadedConfig> {
  const parsed = parseDocument(text);
  if ("problems" in parsed) return refused(parsed.problems.map((problem) => ({ file, path: [], ...problem })));
  return check(file, parsed, registry, options);
}

async function check(
  file: string,
  parsed: ParsedDocument,
  registry: Registry,
  { env, references, servers, signal }: LoadOptions,
): Promise<LoadedConfig> {
  const located = (problems: readonly Problem[]): readonly LocatedProblem[] =>
    inFileOrder(problems.map((problem) => ({ ...problem, file, position: parsed.positionOf(problem.path) })));
  const sources = referenceSources(file, env, references, servers);
  const checked = await checkDocument(parsed.value, registry, sources, signal);
  const warnings = located(checked.warnings);
  if (checked.ok) return { ok: true, config: checked.config, warnings };
  return { ok: false, problems: located(checked.problems), warnings };
}

function refused(problems: readonly LocatedProblem[]): LoadedConfig {
  return { ok: false, problems: inFileOrder(problems), warnings: [] };
}
