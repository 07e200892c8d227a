import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isBesideFile } from "@bridge/ports/internal";

/** How the name ends of what is written before it takes the place of something; a writer that is killed leaves it. */
export const DRAFT = "-new";

/** What is written before it takes the place of `path`. */
export function draftOf(path: string): string {
  return `${path}${DRAFT}`;
}

/** So many processes with stores of their own can be leaving them at a time. */
const LEAVING = 8;

const BESIDE_DOCUMENT = [historyOf, versionsOf, probationOf, leavingsOf]
  .flatMap((beside) => beside(""))
  .map((name) => name.replaceAll(".", String.raw`\.`))
  .join("|");

/** Where the history of the document at `target` is kept. */
export function historyOf(target: string): string {
  return `${target}.history.jsonl`;
}

/** The folder of the former documents of the one at `target`. */
export function versionsOf(target: string): string {
  return `${target}.versions`;
}

/** What is written down while a document is on probation. */
export function probationOf(target: string): string {
  return `${target}.probation`;
}

/** Where former documents are kept while their stores are being left. */
export function leavingsOf(target: string): readonly string[] {
  return Array.from({ length: LEAVING }, (_, at) => `${target}.leaving${at === 0 ? "" : `.${at + 1}`}`);
}

/** All that writers which were killed have left beside the document at `target`. */
export function draftsBeside(target: string): readonly string[] {
  const folder = versionsOf(target);
  const kept = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(DRAFT)) : [];
  const beside = [target, historyOf(target), probationOf(target), ...leavingsOf(target)].map(draftOf);
  return [...beside.filter((draft) => existsSync(draft)), ...kept.map((name) => join(folder, name))];
}

/**
 * Whether the bridge keeps the document at `document`, or something of it, at `place`: both as `filePlace` tells them.
 */
export function isOfDocument(place: string, document: string): boolean {
  return isBesideFile(place, document, BESIDE_DOCUMENT);
}
