import {
  type BridgeConfig,
  checkDocument,
  type Path,
  type ReferenceReaders,
  type Registry,
  type UnusableFile,
  type UsualServers,
} from "@bridge/config";
import { MAX_FILE_BYTES } from "./content.ts";
import { inFileOrder, type LocatedProblem } from "./located-problem.ts";
import { whyNoMap } from "./map-of-keys.ts";
import { parseDocument } from "./parse-document.ts";
import { MissingFileError, readText } from "./read-text.ts";
import { referenceSources } from "./reference-sources.ts";
import type { Positions } from "./thread-protocol.ts";

export interface LoadOptions {
  /** For `${env:NAME}`: mostly `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For references of other kinds. Default: there are none. */
  readonly references?: ReferenceReaders | undefined;
  /** Where the application's servers listen when the file has no `http` block. Default: nobody looks. */
  readonly servers?: UsualServers | undefined;
  /** Looks at the files that the configuration names. Default: nobody does. */
  readonly whyUnusable?: UnusableFile | undefined;
  readonly signal: AbortSignal;
}

export type LoadedConfig =
  | { readonly ok: true; readonly config: BridgeConfig; readonly warnings: readonly LocatedProblem[] }
  | {
      readonly ok: false;
      readonly problems: readonly LocatedProblem[];
      readonly warnings: readonly LocatedProblem[];
      /** Whether something that it refers to could not be read, which may be there in a moment. */
      readonly unread: boolean;
    };

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
  const parsed = parseDocument(text);
  if ("problems" in parsed) return refused(parsed.problems.map((problem) => ({ file: path, path: [], ...problem })));
  const why = whyNoMap(parsed.value);
  if (why !== undefined) return refused([{ file: path, path: [], position: { line: 1, column: 1 }, message: why }]);
  const positionsOf = async (paths: readonly Path[]): Promise<Positions> =>
    paths.map((each) => parsed.positionOf(each));
  return checkValue({ file: path, value: parsed.value, positionsOf }, registry, options);
}

/** What was read from a file. */
export interface ReadValue {
  readonly file: string;
  readonly value: unknown;
  /** Where in the file each path is written. */
  readonly positionsOf: (paths: readonly Path[]) => Promise<Positions>;
}

/** The same for what was read already. */
export async function checkValue(
  { file, value, positionsOf }: ReadValue,
  registry: Registry,
  { env, references, servers, whyUnusable, signal }: LoadOptions,
): Promise<LoadedConfig> {
  const sources = { ...referenceSources(file, env, references, servers), whyUnusable };
  const checked = await checkDocument(value, registry, sources, signal);
  const problems = checked.ok ? [] : checked.problems;
  const all = [...problems, ...checked.warnings];
  const positions = all.length === 0 ? [] : await positionsOf(all.map(({ path }) => path));
  const located = all.map((problem, index) => ({ ...problem, file, position: positions[index] }));
  const warnings = inFileOrder(located.slice(problems.length));
  if (checked.ok) return { ok: true, config: checked.config, warnings };
  return { ok: false, problems: inFileOrder(located.slice(0, problems.length)), warnings, unread: checked.unread };
}

function refused(problems: readonly LocatedProblem[]): LoadedConfig {
  return { ok: false, problems: inFileOrder(problems), warnings: [], unread: false };
}
