import { timingSafeEqual } from "node:crypto";

/** What a session is, as its cookie says it. Times are wall-clock milliseconds. */
export interface SessionToken {
  /** The name of the key that it was begun with. */
  readonly keyName: string;
  /** When the key was shown. */
  readonly began: number;
  /** When this token of the session was made. */
  readonly issued: number;
  /** Tells sessions apart. */
  readonly id: string;
}

/** A token whose signature nobody has looked at yet. */
export interface PresentedToken extends SessionToken {
  /** All of it but the signature. */
  readonly signed: string;
  readonly signature: string;
}

/** Makes the signature of a text: 32 bytes as base64url. */
export type Sign = (text: string) => string;

const VERSION = "1";
const FORM = /^(1~([a-z0-9._-]{1,64})~(\d{1,15})~(\d{1,15})~([\w-]{43}))~([\w-]{43})$/;

export function writeToken({ keyName, began, issued, id }: SessionToken, sign: Sign): string {
  const signed = [VERSION, keyName, Math.trunc(began), Math.trunc(issued), id].join("~");
  return `${signed}~${sign(signed)}`;
}

/** `undefined` when it is not written as tokens are. */
export function readToken(text: string): PresentedToken | undefined {
  const [, signed, keyName, began, issued, id, signature] = FORM.exec(text) ?? [];
  if (signed === undefined || keyName === undefined || id === undefined || signature === undefined) return undefined;
  return { keyName, began: Number(began), issued: Number(issued), id, signed, signature };
}

/**
 * Takes the same time wherever the signature is wrong. Compared as text: the last character of base64url has bits that stand for
 * nothing, and a token with another character is another token.
 */
export function isSignedBy({ signed, signature }: PresentedToken, sign: Sign): boolean {
  const [own, presented] = [Buffer.from(sign(signed)), Buffer.from(signature)];
  return own.length === presented.length && timingSafeEqual(own, presented);
}
