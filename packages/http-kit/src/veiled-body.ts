import type { Steps } from "@bridge/ports/internal";

type Veil = (text: string) => string;

/**
 * Fields in which others have their say: clients of brokers, servers, files. All else is data, as headers are, ids and words of
 * the bridge's own.
 */
const TELLING: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ...[
    "acknowledged",
    "error",
    "fault",
    "files",
    "last_error",
    "set_aside",
    "validation_errors",
    "warning",
    "warnings",
    "what",
  ].map((key) => [key, () => true] as const),
  // A single word is one of a list, such as `dead_lettered`.
  ["reason", (text) => text.includes(" ")],
]);

/**
 * A body, or the detail of an audit record, whose telling fields have gone through `veil`; the same one when that changes
 * nothing. An element of a list a step.
 */
export function veiledBody<Body>(body: Body, veil: Veil): Steps<Body> {
  return through(body, veil, () => false) as Steps<Body>;
}

/** The same of each of several, which are asked for one a step. */
export function* veiledEach(bodies: Iterable<object>, veil: Veil): Steps<object[]> {
  const shown: object[] = [];
  for (const body of bodies) {
    yield;
    shown.push(yield* veiledBody(body, veil));
  }
  return shown;
}

function* through(value: unknown, veil: Veil, tells: (text: string) => boolean): Steps<unknown> {
  if (typeof value === "string") return tells(value) ? veil(value) : value;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) {
    const elements: unknown[] = [];
    for (const element of value as readonly unknown[]) {
      yield;
      elements.push(yield* through(element, veil, tells));
    }
    return elements.every((element, index) => element === value[index]) ? value : elements;
  }
  let changed: Record<string, unknown> | undefined;
  for (const [key, part] of Object.entries(value)) {
    if (key === "headers") continue;
    const shown = yield* through(part, veil, TELLING.get(key) ?? tells);
    if (shown !== part) (changed ??= { ...value })[key] = shown;
  }
  return changed ?? value;
}
