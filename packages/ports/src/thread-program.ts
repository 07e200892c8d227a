import { statSync } from "node:fs";
import { extname } from "node:path";
import { kindOf } from "./kind-of.ts";

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

/** As much of a URL as is shown. */
const SHOWN = 200;

/**
 * Where the program of a thread is: where the user says, else beside the module that starts it, under that module's ending.
 * There it is in the sources and in a build, and in a bundle if the bundler has put it there.
 *
 * @throws Error with the remedy when there is no such file
 */
export function threadProgram({ entry, file, from, threadUrl }: ThreadProgram): URL {
  const url = threadUrl ?? (from === undefined ? undefined : new URL(`${file}${endingOf(from)}`, from));
  const why = whyMissing(url, threadUrl === undefined ? "it" : "threadUrl");
  if (url !== undefined && why === undefined) return url;
  throw new Error(
    `the program of its thread is missing: ${why}. When you bundle, have your bundler make a file of ${entry}, and give its URL as threadUrl`,
  );
}

/** A thread cannot start from anything but a file, and says so only once a message waits for it. */
function whyMissing(url: unknown, name: string): string | undefined {
  if (url === undefined) return "it cannot be found from CommonJS";
  if (!(url instanceof URL)) return `${name} is no URL, but ${kindOf(url)}`;
  if (url.protocol !== "file:") return `${name} is no file: URL, but ${shown(url)}`;
  return isFile(url) ? undefined : `${name === "it" ? "it is not" : `${name} names no file`} at ${url.href}`;
}

function isFile(url: URL): boolean {
  try {
    return statSync(url).isFile();
  } catch {
    return false; // not there, or no path of this machine
  }
}

/** Without what may be secret: user, password and query. */
function shown({ protocol, host, pathname }: URL): string {
  const text = `${protocol}${host && `//${host}`}${pathname}`;
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

function endingOf(module: string): string {
  return extname(new URL(module).pathname);
}
