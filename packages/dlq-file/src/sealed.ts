import { hash } from "node:crypto";

const DIGEST_LENGTH = 64;

/** A text as it is kept, with a SHA-256 of it and of whose it is. */
export function sealed(owner: string, text: string): string {
  return digestOf(owner, text) + text;
}

/** The text, as it was written for `owner`; `undefined` when a disk has changed it. */
export function unsealed(owner: string, kept: unknown): string | undefined {
  if (typeof kept !== "string") return undefined;
  const text = kept.slice(DIGEST_LENGTH);
  return kept.slice(0, DIGEST_LENGTH) === digestOf(owner, text) ? text : undefined;
}

function digestOf(owner: string, text: string): string {
  return hash("sha256", JSON.stringify([owner, text]));
}
