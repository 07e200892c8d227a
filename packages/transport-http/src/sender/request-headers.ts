import { type Envelope, isCarried, RESERVED } from "@bridge/ports";
import { FIELDS, isEndToEnd } from "../header-fields.ts";
import { toHeaderValue } from "../header-value.ts";
import { isHeaderName } from "./header-name.ts";

/** The last moment that RFC 3339 can name, with its years of four digits. */
const LAST_MOMENT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Writes the headers of each request, as names and values in turn. */
export class RequestHeaders {
  /** Headers of messages that HTTP could not carry because of their names. */
  dropped = 0;
  readonly #configured: readonly string[];
  readonly #configuredNames: ReadonlySet<string>;

  /** `configured` are sent with each request, as they are, and win over what the message carries. */
  constructor(configured: Readonly<Record<string, string>>) {
    this.#configured = Object.entries(configured).flat();
    this.#configuredNames = new Set(Object.keys(configured).map((name) => name.toLowerCase()));
  }

  of(envelope: Envelope): string[] {
    const { headers, contentType, subject, expiresAt } = envelope;
    const list = [...this.#configured];
    if (contentType !== "" && !this.#configuredNames.has(FIELDS.contentType))
      add(list, FIELDS.contentType, contentType);
    add(list, FIELDS.idempotencyKey, headers[RESERVED.dedupId] ?? envelope.id);
    add(list, FIELDS.correlationId, envelope.correlationId);
    if (subject !== "") add(list, FIELDS.subject, subject);
    const orderingKey = headers[RESERVED.orderingKey];
    if (orderingKey !== undefined) add(list, FIELDS.orderingKey, orderingKey);
    if (expiresAt !== undefined && expiresAt >= 0 && expiresAt <= LAST_MOMENT) {
      add(list, FIELDS.expiresAt, new Date(expiresAt).toISOString());
    }
    for (const name in headers) {
      const value = headers[name];
      if (value !== undefined && isCarried(name)) this.#carry(list, name.toLowerCase(), value);
    }
    return list;
  }

  #carry(list: string[], name: string, value: string): void {
    if (!isEndToEnd(name) || this.#configuredNames.has(name)) return;
    if (isHeaderName(name)) add(list, name, value);
    else this.dropped++;
  }
}

function add(list: string[], name: string, value: string): void {
  list.push(name, toHeaderValue(value));
}
