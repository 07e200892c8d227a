import { extname } from "node:path";
import { BridgeError, type ConfigText, ConfigTextError, type ConfigTexts, type StoredConfig } from "@bridge/ports";
import { whyNoMap } from "./map-of-keys.ts";
import { textOf } from "./text-of.ts";
import { ThreadError } from "./text-thread.ts";
import type { TextWork } from "./text-work.ts";

/** How the document at `path` is written: that it is JSON is told by its name, for all JSON is YAML. */
export function formatOf(path: string): ConfigText["format"] {
  return extname(path).toLowerCase() === ".json" ? "json" : "yaml";
}

interface TextsOptions {
  readonly format: ConfigText["format"];
  readonly work: TextWork;
  readonly bytesOf: (stored: StoredConfig) => Uint8Array;
}

/** The texts of a file. */
export function fileTexts({ format, work, bytesOf }: TextsOptions): ConfigTexts {
  return {
    async of(stored, signal) {
      signal.throwIfAborted();
      return { format, text: textOf(bytesOf(stored)) };
    },
    async read(text, signal) {
      if (format === "json") demandJson(text);
      const read = await orUnavailable(work.read(Buffer.from(text), signal));
      if ("problems" in read) {
        const problems = read.problems.map(({ position: { line, column }, message }) => `${line}:${column} ${message}`);
        throw new ConfigTextError(problems.join("; "));
      }
      const why = whyNoMap(read.value);
      if (why !== undefined) throw new ConfigTextError(why);
      return (read.value ?? {}) as Readonly<Record<string, unknown>>;
    },
    async edit(text, document, hidden, signal) {
      return textOf((await orUnavailable(work.edit(Buffer.from(text), document, signal, hidden))).bytes);
    },
  };
}

/** That nothing can be read or edited now says nothing of the text. */
async function orUnavailable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    throw new BridgeError("UNAVAILABLE", error.message, { charged: false, cause: error });
  }
}

/** Whoever reads the file by its name would not understand YAML. */
function demandJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new ConfigTextError("it is not JSON, as the name of the file says that it is");
  }
}
