import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigText } from "@bridge/ports";
import { MAX_FILE_BYTES } from "./content.ts";
import { DRAFT, versionsOf } from "./drafts.ts";
import { keptIn, type KeptName, leftIn, putVersion, revertedNameOf } from "./kept-names.ts";
import { MissingFileError, readBytes } from "./read-text.ts";
import { ifMissing } from "./replace-file.ts";

const KEPT = 20;

/** Former documents in a folder beside the document at a path, each in a file that is named after its version. */
export class KeptVersions {
  readonly #format: ConfigText["format"];

  constructor(format: ConfigText["format"]) {
    this.#format = format;
  }

  /** To be called by one writer at a time. */
  async keep(target: string, version: number, bytes: Uint8Array, isReverted: boolean, signal: AbortSignal) {
    const folder = versionsOf(target);
    const format = this.#format;
    const name = isReverted ? revertedNameOf({ version, format }) : `${version}.${format}`;
    await putVersion(folder, name, bytes, signal);
    const names = await readdir(folder);
    const old = [
      ...keptIn(names)
        .slice(KEPT)
        .map((kept) => kept.name),
      ...names.filter((each) => each.endsWith(DRAFT)),
    ];
    await Promise.all(old.map((each) => rm(join(folder, each), { force: true })));
  }

  /** The newest first. */
  async list(target: string): Promise<readonly number[]> {
    const versions = new Set((await allIn(versionsOf(target))).map(({ version }) => version));
    return [...versions].toSorted((a, b) => b - a);
  }

  /** `undefined` when it is not kept. */
  async read(target: string, version: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const folder = versionsOf(target);
    const found = (await allIn(folder)).find((kept) => kept.version === version);
    if (found === undefined) return undefined;
    try {
      return await readBytes(join(folder, found.name), MAX_FILE_BYTES, signal);
    } catch (error) {
      if (error instanceof MissingFileError) return undefined;
      throw error;
    }
  }
}

/** First those that people are told to go back to. */
async function allIn(folder: string): Promise<readonly KeptName[]> {
  const names = await readdir(folder).catch(ifMissing<string[]>([]));
  return [...leftIn(names), ...keptIn(names)];
}
