import { dirname, resolve } from "node:path";
import { filePlace } from "@bridge/ports";
import type { ReferenceReaders, ReferenceSources, UsualServers } from "@bridge/config";
import { readText } from "./read-text.ts";

const MAX_REFERENCED_BYTES = 64 * 1024;

/** Where the references in a configuration file get their values; a relative path starts at the folder of the file. */
export function referenceSources(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  others?: ReferenceReaders,
  servers?: UsualServers,
): ReferenceSources {
  return {
    env: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    file: (name, signal) => readText(resolve(dirname(file), name), MAX_REFERENCED_BYTES, signal),
    others,
    place: filePlace(file),
    servers,
  };
}
