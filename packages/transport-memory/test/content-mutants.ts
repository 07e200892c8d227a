import { type Mutant, onReceived } from "./mutant.ts";

/** Sources that do not carry messages as they are. */
export const CONTENT_MUTANTS: readonly Mutant[] = [
  {
    fault: "forgets the last byte of a payload",
    caughtBy: "source: carries every byte, 0x00 and 0xff first and last",
    ...onReceived(({ payload }) => ({ payload: payload.subarray(0, -1) })),
  },
  {
    fault: "takes payloads for text",
    caughtBy: "source: carries bytes that are no UTF-8",
    ...onReceived(({ payload }) => ({ payload: new TextEncoder().encode(new TextDecoder().decode(payload)) })),
  },
  {
    fault: "cuts large payloads off",
    caughtBy: "source: carries a large payload",
    ...onReceived(({ payload }) => ({ payload: payload.subarray(0, 65_535) })),
  },
  {
    fault: "puts a byte into an empty payload",
    caughtBy: "source: carries an empty payload",
    ...onReceived(({ payload }) => ({ payload: payload.length === 0 ? Uint8Array.of(0) : payload })),
  },
  {
    fault: "writes dots in header names as underscores",
    caughtBy: "source: carries header names with dots",
    ...onHeaders((name, value) => [name.replaceAll(".", "_"), value]),
  },
  {
    fault: "reads header values as Latin-1",
    caughtBy: "source: carries header values in Unicode",
    ...onHeaders((name, value) => [name, Buffer.from(value).toString("latin1")]),
  },
  {
    fault: "writes empty header values as null",
    caughtBy: "source: carries an empty header value",
    ...onHeaders((name, value) => [name, value === "" ? "null" : value]),
  },
  {
    fault: "keeps 32 headers",
    caughtBy: "source: carries many headers",
    ...onReceived(({ headers = {} }) => ({ headers: Object.fromEntries(Object.entries(headers).slice(0, 32)) })),
  },
  { fault: "forgets the id", caughtBy: "source: carries the id", ...onReceived(() => ({ id: undefined })) },
  {
    fault: "changes the subject",
    caughtBy: "source: carries the subject",
    ...onReceived(({ subject }) => ({ subject: `${subject}/` })),
  },
  {
    fault: "forgets the content type",
    caughtBy: "source: carries the content type",
    ...onReceived(() => ({ contentType: undefined })),
  },
  {
    fault: "takes the id for the correlation id",
    caughtBy: "source: carries the correlation id",
    ...onReceived(({ id }) => ({ correlationId: id })),
  },
  {
    fault: "forgets the deduplication id",
    caughtBy: "source: carries the deduplication id",
    ...onReceived(() => ({ dedupId: undefined })),
  },
  {
    fault: "forgets the ordering key",
    caughtBy: "source: carries the ordering key",
    ...onReceived(() => ({ orderingKey: undefined })),
  },
  {
    fault: "counts the expiry in seconds",
    caughtBy: "source: carries the expiry",
    ...onReceived(({ expiresAt = 0 }) => ({ expiresAt: expiresAt / 1000 })),
  },
];

function onHeaders(change: (name: string, value: string) => readonly [string, string]): Pick<Mutant, "receiver"> {
  return onReceived(({ headers = {} }) => ({
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => change(name, value))),
  }));
}
