/**
 * What the two sides of the thread for the text of a file say to each other: bytes and plain data. @module
 */
import type { Path } from "@bridge/config";
import type { Position } from "./located-problem.ts";
import type { PackedValue } from "./packed-value.ts";
import type { SyntaxProblem } from "./parse-document.ts";

/** A text in bytes, and what is to be done with it; one at a time. The bytes are gone on the side that asks. */
export type Task = { readonly bytes: Uint8Array<ArrayBuffer> } & (
  | { readonly kind: "read" }
  /** It is to say `document`, which is JSON, and its comments are to hold none of `hidden`. */
  | { readonly kind: "edit"; readonly document: Uint8Array; readonly hidden: readonly string[] }
  | { readonly kind: "locate"; readonly paths: readonly Path[] }
);

/** Where each path is written, or the nearest thing around it that is. */
export type Positions = readonly (Position | undefined)[];

export type Answer =
  | { readonly kind: "value"; readonly value: PackedValue }
  | { readonly kind: "problems"; readonly problems: readonly SyntaxProblem[] }
  | { readonly kind: "edited"; readonly bytes: Uint8Array<ArrayBuffer>; readonly value: PackedValue }
  | { readonly kind: "located"; readonly positions: Positions }
  /** Words for an operator. */
  | { readonly kind: "error"; readonly message: string };
