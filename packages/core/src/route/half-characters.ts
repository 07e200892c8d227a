import { BridgeError } from "@bridge/ports";

/** More would only make the sentence long. */
const NAMED = 5;

/**
 * The texts of a message in which half of a character stands, as a text has that was cut between the two units of an emoji. UTF-8
 * cannot say it: brokers and stores would put another character there, and take two such ids for one.
 */
export class HalfCharacters {
  readonly #names: string[] = [];

  /** `name` of a text that is not well-formed. */
  add(name: string): void {
    if (this.#names.length < NAMED) this.#names.push(name);
  }

  error(): BridgeError {
    const message = `half a character (a lone surrogate) stands in ${this.#names.join(", ")} of the message, which UTF-8 cannot say`;
    return new BridgeError("INVALID_PAYLOAD", message);
  }
}

/** What a header is called in an error. */
export function headerName(name: string): string {
  return `header ${JSON.stringify(name.slice(0, 100))}`;
}
