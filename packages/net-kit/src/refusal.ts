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
  message: "of the transfer codings only chunked is understood: send the body as it is",
};

const SEVERAL_HOSTS: Refusal = { status: 400, message: "the request names more than one Host: send one" };

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

/** `take`, for what says once at most for whom it is: somebody in front of us may go by the other one (RFC 9112 §3.2). */
export function forOneHost(take: RequestListener, ownHeaders: () => Readonly<Record<string, string>>): RequestListener {
  const refuse = refusing(SEVERAL_HOSTS, ownHeaders);
  return (incoming, outgoing) => (hasSeveralHosts(incoming) ? refuse : take)(incoming, outgoing);
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

function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}
