import { type Envelope, newHeaders } from "@bridge/ports";

/** What a processor makes different about a message; what is absent stays as it is. */
export interface Changes {
  readonly payload?: Uint8Array;
  readonly contentType?: string;
  readonly subject?: string;
  /** By lower-case name; `null` takes the header away. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** A new envelope with `changes`; the same one when there are none. */
export function withChanges(envelope: Envelope, { headers, ...changes }: Changes): Envelope {
  if (headers === undefined) return Object.keys(changes).length === 0 ? envelope : { ...envelope, ...changes };
  const changed = Object.assign(newHeaders(), envelope.headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) delete changed[name];
    else changed[name] = value;
  }
  return { ...envelope, ...changes, headers: changed };
}
