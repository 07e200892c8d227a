import { existsSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/** The program that a package brings for a thread of its own. */
export interface ThreadProgram {
  /** What others import it by, and give to their bundlers: `@bridge/processors/thread`. */
  readonly entry: string;
  /** Its file beside the module that starts it, without the ending: `processor-thread`. */
  readonly file: string;
  /** The `import.meta.url` of that module; bundlers that make CommonJS leave it out. */
  readonly from: string | undefined;
  /** Where the user says that it is. */
  readonly threadUrl: URL | undefined;
}

/**
 * Where the program of a thread is: where the user says, else beside the module that starts it, under that module's ending.
 * There it is in the sources and in a build, and in a bundle if the bundler has put it there.
 *
 * @throws Error with the remedy when there is no such file
 */
export function threadProgram({ entry, file, from, threadUrl }: ThreadProgram): URL {
  const url = threadUrl ?? (from === undefined ? undefined : new URL(`${file}${endingOf(from)}`, from));
  if (url !== undefined && (url.protocol !== "file:" || existsSync(fileURLToPath(url)))) return url;
  const why = url === undefined ? "it cannot be found from CommonJS" : `it is not at ${url.href}`;
  throw new Error(
    `the program of its thread is missing: ${why}. When you bundle, have your bundler make a file of ${entry}, and give its URL as threadUrl`,
  );
}

function endingOf(module: string): string {
  return extname(new URL(module).pathname);
}
