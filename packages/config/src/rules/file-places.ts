import { filePlace } from "@bridge/ports";
import { isBesideFile } from "@bridge/ports/internal";
import type { BridgeConfig } from "../model.ts";
import type { Path } from "../problem.ts";
import type { FileUse, Surroundings } from "../surroundings.ts";
import type { Findings } from "./collisions.ts";
import { filesNamed } from "./named-files.ts";
import { partAt } from "./part-at.ts";
import type { RuleContext } from "./rule-context.ts";

interface Kept {
  readonly place: string;
  readonly path: Path;
}

const REMEDY = "give each a place of its own";

/**
 * Whatever is kept in a file has it for itself, with all that the bridge makes beside it, and so has the document: no
 * other file is kept there, and none is read from there.
 */
export function* filePlaces(
  config: BridgeConfig,
  context: RuleContext,
  isOwn: Surroundings["isOwnPlace"] = () => false,
): Findings {
  const kept: Kept[] = [];
  const quarrel = (place: string, use: FileUse): string | undefined =>
    isOwn(place)
      ? `this is the place of this document already, or of a file that is kept beside it: ${REMEDY}`
      : taken(place, use, kept);
  for (const { place, path } of storesAndAudit(config)) {
    const message = quarrel(place, "kept");
    kept.push({ place, path });
    yield message === undefined ? undefined : { path, message };
  }
  const known = new Map<string, string>();
  for (const file of filesNamed(context)) {
    yield;
    if (file === undefined) continue;
    const { use, value, path } = file;
    if (use === "kept" && kept.some((one) => isWithin(path, one.path))) continue;
    const place = known.get(value) ?? filePlace(value);
    known.set(value, place);
    const message = quarrel(place, use);
    if (use === "kept") kept.push({ place, path });
    if (message !== undefined) yield { path, message };
  }
}

function isWithin(path: Path, block: Path): boolean {
  return block.every((key, index) => key === path[index]);
}

function storesAndAudit({ stores, audit }: BridgeConfig): readonly Kept[] {
  const places: readonly (readonly [string | undefined, Path])[] = [
    [stores.dlq?.place, ["stores", "dlq", "options"]],
    [stores.outbox?.place, ["stores", "outbox", "options"]],
    [audit.file && filePlace(audit.file.path), ["audit", "file", "path"]],
  ];
  return places.flatMap(([place, path]) => (place === undefined ? [] : [{ place, path }]));
}

function taken(place: string, use: FileUse, kept: readonly Kept[]): string | undefined {
  for (const other of kept) {
    const named = partAt(other.path);
    if (place === other.place || isBesideFile(place, other.place))
      return `this is the place of ${named} already, or of a file that is made beside it: ${REMEDY}`;
    if (use === "kept" && isBesideFile(other.place, place))
      return `the place of ${named} is that of a file that is made beside this one: ${REMEDY}`;
  }
  return undefined;
}
