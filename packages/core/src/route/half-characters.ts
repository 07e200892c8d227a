import { BridgeError } from "@bridge/ports";

/** More would only make the error text long. */
const NAMED = 5;

/**
 * The texts of a message that are not well-formed UTF-16: they hold half a surrogate pair, as after cutting an emoji in
 * two. UTF-8 cannot encode that. Brokers and stores would substitute another character, and two such ids could become
 * one.
 */
export class HalfCharacters {
  readonly #names: string[] = [];

  /** `name`: of a text that is not well-formed. */
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
