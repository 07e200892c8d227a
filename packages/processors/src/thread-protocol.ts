/**
 * What the two sides of a processor's thread say to each other. @module
 */
import type { Envelope, ErrorCode } from "@bridge/ports";
import type { Changes } from "./changes.ts";
import type { Schema } from "./schema-validator.ts";
import type { TransformationConfig } from "./transformation.ts";

/** What a thread is for. */
export type ThreadTask =
  | { readonly kind: "transform"; readonly config: TransformationConfig }
  | { readonly kind: "schema"; readonly schema: Schema };

export interface ThreadData {
  readonly task: ThreadTask;
  /** One cell, in memory that both sides see: what the thread is doing right now, an id or one of {@link AT}. */
  readonly progress: Int32Array;
}

/** What the thread is doing while it works on no message; ids of messages are 0 and above. */
export const AT = { start: -2, rest: -1 } as const;

/** A message for the thread. Messages and answers travel in batches: each crossing costs more than most work. */
export interface Job {
  readonly id: number;
  readonly envelope: Envelope;
}

export type Answer =
  | { readonly id: number; readonly changes: Changes }
  | { readonly id: number; readonly refusal: { readonly code: ErrorCode; readonly message: string } };
