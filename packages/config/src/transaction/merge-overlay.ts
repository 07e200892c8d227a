import { isDeepStrictEqual } from "node:util";
import type { Steps } from "@bridge/ports/internal";
import type { GenericSchema } from "valibot";
import { isBlock, shapeOf } from "../check/schema-shape.ts";
import type { Path } from "../problem.ts";
import { REDACTED } from "../redacted.ts";
import { documentSchema } from "../schema/document.ts";
import { effective, effectiveDocument, own } from "./effective.ts";
import { OverlayError } from "./overlay-error.ts";
import { fieldsOf, isKnownById, overlayFaults, variantsOf } from "./overlay-faults.ts";
import { redacted } from "./redacted-view.ts";

type Document = Readonly<Record<string, unknown>>;

/**
 * Merges an overlay into a document as people wrote it (spec 4.9; contract §2). Nothing is ever removed:
 *
 * - objects are merged field by field, lists whose elements have an `id` element by element, new elements at the end;
 * - other lists are replaced as a whole, unless the new one is empty;
 * - an empty string, an empty list and `[REDACTED]` keep what is there, and so does a value that is in force already,
 *   written or by default, so that a view that is sent back changes nothing;
 * - `config_version` is ignored, references are stored as sent.
 *
 * Returns `document` itself when nothing changes.
 * @throws OverlayError for an unknown field, plugin options, a wrong type, null, or a `[REDACTED]` that stands for
 * nothing
 */
export function* mergeOverlay(document: Document, overlay: Document): Steps<Document> {
  const faults = yield* overlayFaults(documentSchema, overlay);
  if (faults.length > 0) throw new OverlayError(faults);
  const { config_version: _, ...rest } = overlay;
  const inForce = yield* effectiveDocument(document);
  return (yield* merge({ schema: documentSchema, current: document, inForce, path: [] }, rest)) as Document;
}

/** A value that an overlay may change. */
interface Place {
  readonly schema: GenericSchema;
  /** As written; `undefined` when it is not. */
  readonly current: unknown;
  /** With its defaults; `undefined` when it has none and is not written. */
  readonly inForce: unknown;
  readonly path: Path;
}

function* merge(place: Place, sent: unknown): Steps<unknown> {
  if (sent === "" || sent === REDACTED) return place.current;
  if (Array.isArray(sent))
    return sent.length === 0 ? place.current : yield* mergeList(place, sent as readonly unknown[]);
  if (isBlock(sent)) return yield* mergeBlock(place, sent);
  return isInForce(place, sent) ? place.current : restored(sent, undefined, undefined, place.path);
}

function isInForce({ schema, inForce }: Place, sent: unknown): boolean {
  return isDeepStrictEqual(sent, inForce) || isDeepStrictEqual(sent, redacted(schema, inForce));
}

function* mergeBlock({ schema, current, inForce, path }: Place, sent: Document): Steps<unknown> {
  const merged = new Map(Object.entries(isBlock(current) ? current : {}));
  let changed = false;
  for (const [key, part] of Object.entries(sent)) {
    const [field] = fieldsOf(variantsOf(schema), key);
    if (field === undefined) continue;
    const before = own(current, key);
    const place = { schema: field, current: before, inForce: own(inForce, key), path: [...path, key] };
    const after = yield* merge(place, part);
    if (after === before) continue;
    merged.set(key, after);
    changed = true;
  }
  return changed ? Object.fromEntries(merged) : current;
}

function* mergeList(place: Place, sent: readonly unknown[]): Steps<unknown> {
  const { schema, current, inForce, path } = place;
  const item = variantsOf(schema)
    .map((variant) => shapeOf(variant).item)
    .find((found) => found !== undefined);
  if (item === undefined) return current;
  if (isKnownById(item)) return yield* mergeById({ ...place, schema: item }, sent);
  if (isInForce(place, sent)) return current;
  const shown = redacted(schema, inForce);
  const list = sent.map((element, index) =>
    restored(element, elementOf(current, index), elementOf(shown, index), [...path, index]),
  );
  return isDeepStrictEqual(effective(schema, list), inForce) ? current : list;
}

/** `schema` is that of an element. */
function* mergeById(list: Place, sent: readonly unknown[]): Steps<unknown> {
  const { schema, current, inForce, path } = list;
  if (yield* areInForce(list, sent)) return current;
  const merged: unknown[] = Array.isArray(current) ? [...(current as readonly unknown[])] : [];
  const places = new Map(merged.map((element, index) => [own(element, "id"), index] as const).toReversed());
  for (const [index, element] of sent.entries()) {
    yield;
    const place = [...path, index];
    if (!isBlock(element)) {
      if (index >= merged.length) throw standsForNothing(place);
      continue; // [REDACTED]: keeps what is there
    }
    const at = element["id"] === REDACTED ? index : (places.get(element["id"]) ?? -1);
    if (element["id"] === REDACTED && own(redacted(schema, effective(schema, merged[index])), "id") !== REDACTED)
      throw standsForNothing([...place, "id"]);
    const known = at === -1 ? undefined : merged[at];
    // Of a new element nothing is there yet.
    if (at === -1) restored(element, undefined, undefined, place);
    const after = yield* merge({ schema, current: known, inForce: elementOf(inForce, at), path: place }, element);
    if (at === -1) places.set(element["id"], merged.push(after) - 1);
    else merged[at] = after;
  }
  const changed = !Array.isArray(current) || merged.some((element, index) => element !== (current as unknown[])[index]);
  return changed ? merged : current;
}

/** Whether a list is sent as it is in force. `schema` is that of an element. */
function* areInForce({ schema, inForce, path }: Place, sent: readonly unknown[]): Steps<boolean> {
  if (!Array.isArray(inForce) || inForce.length !== sent.length) return false;
  for (const [index, element] of sent.entries()) {
    if (!isInForce({ schema, current: undefined, inForce: elementOf(inForce, index), path }, element)) return false;
    yield;
  }
  return true;
}

/** What is stored for a value that is sent: in place of each `[REDACTED]`, what was shown as that in the same place. */
function restored(sent: unknown, current: unknown, shown: unknown, path: Path): unknown {
  if (typeof sent === "string") {
    if (!sent.includes(REDACTED)) return sent;
    if (sent === shown && current !== undefined) return current;
    throw standsForNothing(path);
  }
  if (Array.isArray(sent)) {
    return (sent as readonly unknown[]).map((part, index) =>
      restored(part, elementOf(current, index), elementOf(shown, index), [...path, index]),
    );
  }
  if (!isBlock(sent)) return sent;
  const parts = Object.entries(sent).map(
    ([key, part]) => [key, restored(part, own(current, key), own(shown, key), [...path, key])] as const,
  );
  return Object.fromEntries(parts);
}

function elementOf(list: unknown, index: number): unknown {
  return Array.isArray(list) ? (list as readonly unknown[])[index] : undefined;
}

function standsForNothing(path: Path): OverlayError {
  return new OverlayError([
    { path, message: `holds ${REDACTED}, which stands for no value here: send the value itself` },
  ]);
}
