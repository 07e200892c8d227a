import { suggestion } from "@bridge/ports/internal";
import type { GenericSchema } from "valibot";
import type { Path, Problem } from "../problem.ts";
import { isBlock, partsOf, shapeOf } from "./schema-shape.ts";

/** Valibot's records leave these keys out without a word. */
const DROPPED_KEYS: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

/**
 * What valibot's objects and records let pass: all unknown keys of a block but the first, lists in place of blocks, and
 * keys that it leaves out for safety.
 */
export function* strayKeys(schema: GenericSchema, value: unknown, path: Path): Generator<Problem> {
  const { type, entries } = shapeOf(schema);
  if (Array.isArray(value) && (entries !== undefined || type === "record")) {
    yield { path, message: "expected a block of keys (got a list)" };
    return;
  }
  if (isBlock(value)) {
    if (type === "strict_object" && entries !== undefined) yield* strangers(entries, value, path);
    if (type === "record") {
      for (const key of Object.keys(value)) {
        if (DROPPED_KEYS.has(key)) yield { path: [...path, key], message: "this key cannot be used: choose another" };
      }
    }
  }
  const parts = partsOf(schema, value);
  const ambiguous = (type === "union" || type === "variant") && parts.length > 1;
  if (ambiguous) return;
  for (const part of parts) yield* strayKeys(part.schema, part.value, [...path, ...part.path]);
}

function* strangers(
  entries: Readonly<Record<string, GenericSchema>>,
  value: Readonly<Record<string, unknown>>,
  path: Path,
): Generator<Problem> {
  const known = Object.keys(entries);
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(entries, key)) continue;
    const hint = suggestion(key, known);
    const remedy = hint === "" ? `; known here: ${known.join(", ")}` : hint;
    yield { path: [...path, key], message: `unknown key${known.length === 0 ? "; no keys are known here" : remedy}` };
  }
}
