import type { Context } from "hono";
import type { IncomingMessage } from "node:http";
import { HttpError } from "./http-error.ts";

/** Spec 8: 1 MB, as 2^20 bytes. */
export const MAX_BODY_BYTES = 1_048_576;

/** Whoever reads the body first has it. @throws HttpError 500 naming the remedy */
export class BodyTakenError extends HttpError {
  constructor() {
    super(500, "the request body was read before it came here: mount this server in front of what parses bodies");
  }
}

/**
 * Reads a body that nobody wants to its end: the limit holds for every body, and this one takes no memory.
 * @throws HttpError as {@link readBody}
 */
export async function discardBody({ req: { raw } }: Pick<Context, "req">): Promise<void> {
  if (!isTaken(raw)) await eachChunk(raw, () => {});
}

/**
 * The body, counted while it comes in, so that neither a false length nor none at all makes us keep more than the limit.
 * @throws HttpError 413 above {@link MAX_BODY_BYTES}, 400 when it breaks off, {@link BodyTakenError}
 */
export async function readBody({ req: { raw }, env }: Pick<Context, "req" | "env">): Promise<Uint8Array> {
  if (isTaken(raw)) throw new BodyTakenError();
  const { incoming } = (env ?? {}) as { readonly incoming?: IncomingMessage };
  // Of a body that a parser has read before, `@hono/node-server` gives nothing.
  const wasRead = incoming?.readableEnded === true;
  const chunks: Uint8Array[] = [];
  await eachChunk(raw, (chunk) => void chunks.push(chunk));
  const isAnnounced = Number(raw.headers.get("content-length") ?? 0) > 0 || raw.headers.has("transfer-encoding");
  if (chunks.length === 0 && wasRead && isAnnounced) throw new BodyTakenError();
  return Buffer.concat(chunks);
}

function isTaken({ body, bodyUsed }: Request): boolean {
  return bodyUsed || body?.locked === true;
}

async function eachChunk(request: Request, take: (chunk: Uint8Array) => void): Promise<void> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  if (request.body === null) return;
  let size = 0;
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new HttpError(400, "invalid request body: it ended before it was complete");
    });
    if (done) return;
    size += value.byteLength;
    if (size > MAX_BODY_BYTES) {
      // Not awaited: whoever carries the request decides what becomes of the rest.
      reader.cancel().catch(() => {});
      throw tooLarge();
    }
    take(value);
  }
}

function tooLarge(): HttpError {
  return new HttpError(413, `request body too large: at most ${MAX_BODY_BYTES} bytes are accepted`);
}
