import type { Method } from "../codec/methods.ts";

const PREFIX = /^[A-Z_]+ - /;

/** A broker has closed a channel or a connection, and says why. */
export class Refusal extends Error {
  /** Its reply code. */
  readonly code: number;
  /** Its words, without the name of the code. */
  readonly said: string;

  constructor(code: number, text: string) {
    super(`${code} ${text}`);
    this.code = code;
    this.said = text.replace(PREFIX, "");
  }

  /** Of a method that closes something. */
  static of(method: Method): Refusal {
    return new Refusal(method.number(0), method.text(1));
  }
}
