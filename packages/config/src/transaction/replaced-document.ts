import type { Steps } from "@bridge/ports/internal";
import { isBlock } from "../check/schema-shape.ts";
import type { Path, Problem } from "../problem.ts";
import { REDACTED } from "../redacted.ts";
import { own } from "./effective.ts";
import { OverlayError } from "./overlay-error.ts";

type Document = Readonly<Record<string, unknown>>;

/**
 * A whole document as it was sent, with what stands in `base` in place of each `[REDACTED]` that `shown`, which is
 * `base` as it was shown, has in the same place. The place of an element with an id is where its id stands.
 * @throws OverlayError naming each `[REDACTED]` that stands for nothing
 */
export function* replacedDocument(sent: Document, base: Document, shown: Document): Steps<Document> {
  const faults: Problem[] = [];
  const parts: [string, unknown][] = [];
  for (const [key, part] of Object.entries(sent)) {
    const place = { value: own(base, key), shown: own(shown, key), path: [key], faults };
    parts.push([key, Array.isArray(part) ? yield* restoredElements(part, place) : restored(part, place)]);
    yield;
  }
  if (faults.length > 0) throw new OverlayError(faults);
  return Object.fromEntries(parts);
}

interface Place {
  readonly value: unknown;
  readonly shown: unknown;
  readonly path: Path;
  readonly faults: Problem[];
}

function* restoredElements(sent: readonly unknown[], place: Place): Steps<unknown[]> {
  const elements = elementsOf(place);
  const list: unknown[] = [];
  for (const [index, element] of sent.entries()) {
    list.push(restored(element, elements(element, index)));
    yield;
  }
  return list;
}

function restored(sent: unknown, place: Place): unknown {
  const { value, shown, path, faults } = place;
  if (typeof sent === "string") {
    if (!sent.includes(REDACTED)) return sent;
    if (sent === shown && sent !== value) return value;
    faults.push({ path, message: `holds ${REDACTED}, which stands for no value here: send the value itself` });
    return sent;
  }
  if (Array.isArray(sent)) {
    const elements = elementsOf(place);
    return (sent as readonly unknown[]).map((part, index) => restored(part, elements(part, index)));
  }
  if (!isBlock(sent)) return sent;
  const parts = Object.entries(sent).map(([key, part]) => {
    return [
      key,
      restored(part, { value: own(value, key), shown: own(shown, key), path: [...path, key], faults }),
    ] as const;
  });
  return Object.fromEntries(parts);
}

/** Where an element of a list that was sent stood: by its id, if it has one, else by its index. */
function elementsOf({ value, shown, path, faults }: Place): (element: unknown, index: number) => Place {
  const former: readonly unknown[] = Array.isArray(shown) ? shown : [];
  const values: readonly unknown[] = Array.isArray(value) ? value : [];
  const places = new Map<unknown, number | undefined>();
  for (const [index, element] of former.entries()) {
    const id = own(element, "id");
    if (id !== undefined) places.set(id, places.has(id) ? undefined : index);
  }
  return (element, index) => {
    const id = own(element, "id");
    const at = id === undefined ? index : places.get(id);
    const place = { path: [...path, index], faults };
    return at === undefined
      ? { ...place, value: undefined, shown: undefined }
      : { ...place, value: values[at], shown: former[at] };
  };
}
