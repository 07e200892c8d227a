import { createHash } from "node:crypto";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigText, LeftStore, StorePlaces } from "@bridge/ports";
import { replaceFile } from "./replace-file.ts";

const OWNER_ONLY = 0o700;
const KEPT = /^(?<version>\d{1,15})(?:\.reverted)?\.(?:yaml|json)$/;
const LEFT =
  /^(?<version>\d{1,15})\.left-(?<stores>(?:dlq|outbox|dlq(?:@[0-9a-f]{16})?-outbox)(?:@[0-9a-f]{16})?)-(?<mark>[0-9a-f]{8})\.(?<format>yaml|json)$/;

export interface KeptName {
  readonly version: number;
  readonly name: string;
}

/** Says what a former document has left in which stores. */
export interface LeftName extends KeptName {
  readonly stores: readonly LeftStore[];
  /** Where these were. */
  readonly places: StorePlaces;
  /** Tells documents apart that say the same version. */
  readonly mark: string;
  readonly format: ConfigText["format"];
}

/** Those that have left nothing, the newest first; of one version, what was not taken back. */
export function keptIn(names: readonly string[]): readonly KeptName[] {
  return names
    .flatMap((name) => {
      const version = KEPT.exec(name)?.groups?.["version"];
      return version === undefined ? [] : [{ version: Number(version), name }];
    })
    .toSorted((a, b) => b.version - a.version || a.name.length - b.name.length);
}

/** The newest first. */
export function leftIn(names: readonly string[]): readonly LeftName[] {
  return names
    .flatMap((name) => {
      const { version, stores = "", mark = "", format } = LEFT.exec(name)?.groups ?? {};
      if (version === undefined) return [];
      const each = stores.split("-").map((store) => store.split("@"));
      const places = Object.fromEntries(each.filter(([, place]) => place !== undefined)) as StorePlaces;
      const left = {
        stores: each.map(([store]) => store as LeftStore),
        places,
        mark,
        format: format as ConfigText["format"],
      };
      return [{ version: Number(version), name, ...left }];
    })
    .toSorted((a, b) => b.version - a.version || (a.name < b.name ? -1 : 1));
}

export function leftNameOf({ version, stores, places, mark, format }: Omit<LeftName, "name">): string {
  const each = stores.toSorted().map((store) => (places[store] === undefined ? store : `${store}@${places[store]}`));
  return `${version}.left-${each.join("-")}-${mark}.${format}`;
}

/** What it is called when nothing is left of it. */
export function revertedNameOf({ version, format }: Pick<LeftName, "version" | "format">): string {
  return `${version}.reverted.${format}`;
}

export function markOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 8);
}

/** To be called by one writer at a time. */
export async function putVersion(folder: string, name: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  // The umask of the process may keep even its owner from it.
  if ((await mkdir(folder, { recursive: true, mode: OWNER_ONLY })) !== undefined) await chmod(folder, OWNER_ONLY);
  await replaceFile(join(folder, name), bytes, signal);
}
