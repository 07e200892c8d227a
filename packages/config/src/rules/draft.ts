import { valueAt } from "../check/value-at.ts";
import type { ConfigDocument } from "../schema/document.ts";
import type { Path } from "../problem.ts";

/** A document as far as it is sound: what the schema refused is left out. */
export type Draft<T = ConfigDocument> = T extends readonly (infer Item)[]
  ? readonly (Draft<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Draft<T[Key]> | undefined }
    : T;

export type Kind = "sessions" | "receivers" | "senders" | "bindings" | "processors" | "routes";
export type DraftPart<K extends Kind> = Draft<ConfigDocument[K][number]>;

/** Takes what stands at the unsound places out of the schema's output. */
export function draftOf(output: unknown, unsound: readonly Path[]): Draft {
  if (unsound.some((path) => path.length === 0)) return {};
  for (const path of unsound) {
    const block = valueAt(output, path.slice(0, -1));
    const key = path.at(-1);
    if (typeof block === "object" && block !== null && key !== undefined) Reflect.deleteProperty(block, key);
  }
  return output as Draft;
}
