import { BridgeError, newHeaders, type SourceMessage } from "@bridge/ports";
import { kindOf } from "./kind-of.ts";
import { bytesIn, soundPayload } from "./sound-payload.ts";

/** More would only make the error text long. */
const MAX_FAULTS = 3;
const MAX_NAME = 100;
/** Headers beyond this many are not examined. */
const MAX_HEADERS = 256;

/** What can be kept of a message that does not match its type, and what is wrong with it. */
export interface Mended {
  readonly message: SourceMessage;
  readonly error: BridgeError;
}

/** Reads a message whose parts may be anything, and may throw when read. Never throws. */
export function mendMessage(message: unknown): Mended {
  const faults = new Faults();
  const read = (name: keyof SourceMessage): unknown =>
    faults.reading(name, () => (message as Readonly<Record<string, unknown>>)[name]);
  const text = (name: keyof SourceMessage): string | undefined => {
    const value = read(name);
    if (value === undefined || typeof value === "string") return value;
    faults.add(`${name} is ${kindOf(value)}, not text`);
    return undefined;
  };
  const subject = text("subject");
  if (subject === undefined) faults.add("it has no subject");
  const payload = read("payload");
  const bytes = soundPayload(payload);
  if (bytes === undefined) faults.add(`payload is ${kindOf(payload)}, not a Uint8Array`);
  const expiresAt = read("expiresAt");
  if (!isTime(expiresAt)) faults.add("expiresAt is no time in epoch milliseconds");
  const mended: SourceMessage = {
    id: text("id"),
    subject: subject ?? "",
    payload: bytes ?? bytesIn(payload),
    headers: mendHeaders(read("headers"), faults),
    contentType: text("contentType"),
    correlationId: text("correlationId"),
    dedupId: text("dedupId"),
    orderingKey: text("orderingKey"),
    expiresAt: isTime(expiresAt) ? expiresAt : undefined,
  };
  return { message: mended, error: faults.error() };
}

/** Whether it is a time in epoch milliseconds that a Date can hold, or absent. */
export function isTime(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === "number" && Math.abs(value) <= 8.64e15);
}

function mendHeaders(headers: unknown, faults: Faults): Record<string, string> {
  const mended = newHeaders();
  if (headers === undefined) return mended;
  if (!faults.reading("headers", () => isHeaders(headers))) {
    faults.add("headers is no plain object of texts");
    return mended;
  }
  const names = faults.reading("headers", () => Object.keys(headers as object)) ?? [];
  for (const name of names.slice(0, MAX_HEADERS)) {
    const shown = `header ${JSON.stringify(name.slice(0, MAX_NAME))}`;
    const value = faults.reading(shown, () => (headers as Readonly<Record<string, unknown>>)[name]);
    if (typeof value === "string") mended[name] = value;
    else if (value !== undefined) faults.add(`${shown} is ${kindOf(value)}, not text`);
  }
  return mended;
}

/** Whether its own members are the headers: those of a Map or a Headers object are not members, and would be lost. */
export function isHeaders(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !(Symbol.iterator in value);
}

class Faults {
  readonly #faults: string[] = [];
  #cause: unknown;

  add(fault: string): void {
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
  }

  reading<T>(what: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (thrown) {
      this.#cause ??= thrown;
      this.add(`${what} cannot be read`);
      return undefined;
    }
  }

  error(): BridgeError {
    const found = this.#faults.length > 0 ? this.#faults.join("; ") : "it was not the same when it was read again";
    const options = this.#cause === undefined ? {} : { cause: this.#cause };
    return new BridgeError("INVALID_PAYLOAD", `the message is not what its source has to hand over: ${found}`, options);
  }
}
