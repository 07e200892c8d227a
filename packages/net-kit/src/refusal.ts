import type { IncomingMessage, RequestListener } from "node:http";

/** What is refused before anybody is asked about it, by every server alike. The connection ends with the answer. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const UNKNOWN_EXPECTATION: Refusal = {
  status: 417,
  message: "of the expectations only 100-continue is understood: send the request without Expect",
};
const UNKNOWN_CODING: Refusal = {
  status: 501,
  message: "of the transfer codings only chunked is understood: send the body as it is, or with Content-Encoding",
};

/** `CONNECT` asks for a tunnel, and not for a path of ours: `methods` are those of all paths. */
export function noTunnel(methods: readonly string[]): Refusal {
  return { status: 405, message: "method not allowed", headers: { Allow: methods.join(", ") } };
}

/** `take`, for what is coded for the way as we understand it: other bytes would be taken for the body (RFC 9112 §6.1). */
export function inKnownCoding(
  take: RequestListener,
  ownHeaders: () => Readonly<Record<string, string>>,
): RequestListener {
  const refuse = refusing(UNKNOWN_CODING, ownHeaders);
  return (incoming, outgoing) => (isChunkedAtMost(incoming) ? take : refuse)(incoming, outgoing);
}

/** Answers what is expected beyond `100-continue`, which nobody may pass over in silence (RFC 9110 §10.1.1). */
export function refuseExpectation(ownHeaders: () => Readonly<Record<string, string>>): RequestListener {
  return refusing(UNKNOWN_EXPECTATION, ownHeaders);
}

/** As all errors are answered: as JSON. `own`: what stands on every answer of the server. */
export function answerOf(
  { message, headers }: Refusal,
  own: Readonly<Record<string, string>>,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const body = JSON.stringify({ error: message });
  const length = String(Buffer.byteLength(body));
  const all = { "Content-Type": "application/json", "Content-Length": length, Connection: "close", ...headers, ...own };
  return { headers: all, body };
}

function refusing(refusal: Refusal, ownHeaders: () => Readonly<Record<string, string>>): RequestListener {
  return (incoming, outgoing) => {
    const { headers, body } = answerOf(refusal, ownHeaders());
    incoming.resume();
    outgoing.writeHead(refusal.status, headers).end(body);
  };
}

function isChunkedAtMost({ headers }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding === undefined || coding.toLowerCase() === "chunked";
}
