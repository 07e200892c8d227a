import { basename, dirname, join, resolve } from "node:path";
import { filePlace } from "@bridge/ports";
import type { ReferenceReaders, ReferenceSources, UsualServers } from "@bridge/config";
import { isOfDocument } from "./drafts.ts";
import { readText } from "./read-text.ts";

const MAX_REFERENCED_BYTES = 64 * 1024;

/** Where the references in a configuration file get their values; a relative path starts at the folder of the file. */
export function referenceSources(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  others?: ReferenceReaders,
  servers?: UsualServers,
): ReferenceSources {
  // While what a link leads to is not there, what belongs beside it lies beside the link.
  const own = [filePlace(file), join(filePlace(dirname(file)), basename(file))];
  return {
    env: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    file: (name, signal) => readText(resolve(dirname(file), name), MAX_REFERENCED_BYTES, signal),
    others,
    isOwnPlace: (place) => own.some((document) => isOfDocument(place, document)),
    servers,
  };
}
