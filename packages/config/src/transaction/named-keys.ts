import type { GenericSchema } from "valibot";
import { shapeOf } from "../check/schema-shape.ts";
import type { Path } from "../problem.ts";
import { documentSchema } from "../schema/document.ts";
import { variantsOf } from "./overlay-faults.ts";

/** How many keys of a path, from the first on, the schema of a document names; those of a map nobody names. */
export function namedKeys(path: Path): number {
  let blocks = variantsOf(documentSchema);
  for (const [place, key] of path.entries()) {
    blocks = blocks.flatMap((block) => within(block, key) ?? []).flatMap(variantsOf);
    if (blocks.length === 0) return place;
  }
  return path.length;
}

function within(block: GenericSchema, key: string | number): GenericSchema | undefined {
  const { item, entries = {} } = shapeOf(block);
  if (typeof key === "number") return item;
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}
