/** A place in the list of jobs. */
export interface JobPlace {
  readonly createdAt: number;
  readonly id: string;
}

export function jobCursor({ createdAt, id }: JobPlace): string {
  return Buffer.from(`${createdAt}:${id}`).toString("base64url");
}

/** `undefined` for what is none. */
export function readJobCursor(cursor: string): JobPlace | undefined {
  const match = /^(\d{1,16}):([\w-]{1,64})$/.exec(Buffer.from(cursor, "base64url").toString());
  const [, createdAt = "", id = ""] = match ?? [];
  const place = { createdAt: Number(createdAt), id };
  // Base64 takes what it does not know for nothing.
  return match !== null && jobCursor(place) === cursor ? place : undefined;
}
