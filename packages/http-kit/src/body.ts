import { HttpError } from "./http-error.ts";

/** Spec 8: 1 MB, as 2^20 bytes. */
export const MAX_BODY_BYTES = 1_048_576;

/**
 * Reads a body that nobody wants to its end: the limit holds for every body, and this one takes no memory.
 * @throws HttpError as {@link readBody}
 */
export async function discardBody(request: Request): Promise<void> {
  await eachChunk(request, () => {});
}

/**
 * The body, counted while it comes in, so that neither a false length nor none at all makes us keep more than the limit.
 * @throws HttpError 413 above {@link MAX_BODY_BYTES}, 400 when it breaks off
 */
export async function readBody(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await eachChunk(request, (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
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
