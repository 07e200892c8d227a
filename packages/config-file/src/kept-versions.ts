import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigText } from "@bridge/ports";
import { MAX_FILE_BYTES } from "./content.ts";
import { DRAFT, versionsOf } from "./drafts.ts";
import { MissingFileError, readBytes } from "./read-text.ts";
import { ifMissing, replaceFile } from "./replace-file.ts";

const KEPT = 20;
const OWNER_ONLY = 0o700;
const NAME = /^(?<version>\d{1,15})(?:\.reverted)?\.(?:yaml|json)$/;

interface Kept {
  readonly version: number;
  readonly name: string;
}

/** Former documents in a folder beside the document at a path, each in a file that is named after its version. */
export class KeptVersions {
  readonly #format: ConfigText["format"];

  constructor(format: ConfigText["format"]) {
    this.#format = format;
  }

  /** To be called by one writer at a time. */
  async keep(target: string, version: number, bytes: Uint8Array, suffix: "" | ".reverted", signal: AbortSignal) {
    const folder = versionsOf(target);
    // The umask of the process may keep even its owner from it.
    if ((await mkdir(folder, { recursive: true, mode: OWNER_ONLY })) !== undefined) await chmod(folder, OWNER_ONLY);
    await replaceFile(join(folder, `${version}${suffix}.${this.#format}`), bytes, signal);
    const names = await readdir(folder);
    const old = [
      ...keptIn(names)
        .slice(KEPT)
        .map(({ name }) => name),
      ...names.filter((name) => name.endsWith(DRAFT)),
    ];
    await Promise.all(old.map((name) => rm(join(folder, name), { force: true })));
  }

  /** The newest first. */
  async list(target: string): Promise<readonly number[]> {
    const kept = keptIn(await readdir(versionsOf(target)).catch(ifMissing<string[]>([])));
    return [...new Set(kept.map(({ version }) => version))];
  }

  /** `undefined` when it is not kept. */
  async read(target: string, version: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const folder = versionsOf(target);
    const names = keptIn(await readdir(folder).catch(ifMissing<string[]>([])));
    const found = names.find((kept) => kept.version === version);
    if (found === undefined) return undefined;
    try {
      return await readBytes(join(folder, found.name), MAX_FILE_BYTES, signal);
    } catch (error) {
      if (error instanceof MissingFileError) return undefined;
      throw error;
    }
  }
}

/** The newest first; of one version, what was not taken back. */
function keptIn(names: readonly string[]): readonly Kept[] {
  return names
    .flatMap((name) => {
      const version = NAME.exec(name)?.groups?.["version"];
      return version === undefined ? [] : [{ version: Number(version), name }];
    })
    .toSorted((a, b) => b.version - a.version || a.name.length - b.name.length);
}
