import { hash } from "node:crypto";
import { REDACTED } from "@bridge/config";
import { headersInAddress } from "@bridge/core";
import type { Caller } from "@bridge/http-kit";
import { type Envelope, newHeaders } from "@bridge/ports";
import { redactedJson } from "./redacted-json.ts";

/** What of a message is shown only to callers with `payload.raw`. Names compare without case. */
export interface RedactOptions {
  /** Headers whose values are hidden. Default: `authorization`, `cookie`, `set-cookie`, `x-api-key`, `proxy-authorization`. */
  readonly headers?: readonly string[] | undefined;
  /** Fields of JSON payloads whose values are hidden, at any depth; while there are any, a payload that is no JSON is hidden too. */
  readonly fields?: readonly string[] | undefined;
}

/** A message as a caller may see it. */
export interface ShownMessage {
  readonly headers: Envelope["headers"];
  /** `undefined`: only its digest is shown. */
  readonly payload: Uint8Array | undefined;
  readonly payloadSha256?: string;
  /** Something is not shown. */
  readonly redacted: boolean;
}

const HEADERS = ["authorization", "cookie", "set-cookie", "x-api-key", "proxy-authorization"];
/** A larger payload is not looked through, so that no answer holds the others up. */
const MAX_BYTES = 1024 * 1024;

/** The one place where a message becomes an answer. */
export class Redaction {
  readonly #headers: ReadonlySet<string>;
  readonly #fields: ReadonlySet<string>;

  constructor({ headers = HEADERS, fields = [] }: RedactOptions = {}) {
    this.#headers = inLowerCase(headers);
    this.#fields = inLowerCase(fields);
  }

  show({ headers, payload }: Pick<Envelope, "headers" | "payload">, { permissions }: Caller): ShownMessage {
    if (permissions.includes("payload.raw")) return { headers, payload, redacted: false };
    const [shownHeaders, shownPayload] = [this.#shownHeaders(headers), this.#shownPayload(payload)];
    return {
      headers: shownHeaders,
      payload: shownPayload,
      ...(shownPayload === undefined && { payloadSha256: hash("sha256", payload) }),
      redacted: shownHeaders !== headers || shownPayload !== payload,
    };
  }

  /** Whether a caller may see an address that was made of such a template: it holds values of headers. */
  showsAddress(template: string, { permissions }: Pick<Caller, "permissions">): boolean {
    const headers = headersInAddress(template);
    if (headers.length === 0 || permissions.includes("payload.raw")) return true;
    return permissions.includes("payload.read") && !headers.some((name) => this.#headers.has(name));
  }

  /** The same object when there is nothing to hide. */
  #shownHeaders(headers: Envelope["headers"]): Envelope["headers"] {
    const hidden = Object.keys(headers).filter((name) => this.#headers.has(name.toLowerCase()));
    if (hidden.length === 0) return headers;
    return Object.assign(newHeaders(), headers, Object.fromEntries(hidden.map((name) => [name, REDACTED])));
  }

  /** The same object when there is nothing to hide. */
  #shownPayload(payload: Uint8Array): Uint8Array | undefined {
    if (this.#fields.size === 0 || payload.length === 0) return payload;
    if (payload.length > MAX_BYTES) return undefined;
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
    } catch {
      return undefined;
    }
    const shown = redactedJson(text, this.#fields);
    if (shown === undefined) return undefined;
    return shown === text ? payload : Buffer.from(shown, "utf8");
  }
}

function inLowerCase(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()));
}
