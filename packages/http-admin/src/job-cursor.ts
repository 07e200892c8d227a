import { idInCursor } from "./cursor-id.ts";

/** A place in the list of jobs. */
export interface JobPlace {
  readonly createdAt: number;
  readonly id: string;
}

export function jobCursor({ createdAt, id }: JobPlace): string {
  return Buffer.from(`${createdAt}:${idInCursor(id, "newest")}`).toString("base64url");
}

/** `undefined` for what is none. */
export function readJobCursor(cursor: string): JobPlace | undefined {
  const match = /^(-?\d{1,20}(?:\.\d{1,20})?):(.*)$/s.exec(Buffer.from(cursor, "base64url").toString());
  const [, createdAt = "", id = ""] = match ?? [];
  const place = { createdAt: Number(createdAt), id };
  // Base64 takes what it does not know for nothing.
  return match !== null && jobCursor(place) === cursor ? place : undefined;
}
