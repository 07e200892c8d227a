import type { IncomingMessage } from "node:http";

/**
 * Reads a request's body. `admit` is asked about each chunk, with the size of the body so far, and refuses the body by
 * returning something: that is then the result, and what still arrives is discarded. `undefined` when the caller broke
 * off. Never rejects.
 */
export function readBody<Refusal extends object>(
  incoming: IncomingMessage,
  admit: (size: number, chunkSize: number) => Refusal | undefined,
): Promise<Uint8Array | Refusal | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let refusal: Refusal | undefined;
    incoming.on("data", (chunk: Buffer) => {
      if (refusal !== undefined) return;
      size += chunk.length;
      refusal = admit(size, chunk.length);
      if (refusal === undefined) {
        chunks.push(chunk);
      } else {
        chunks.length = 0;
        resolve(refusal);
      }
    });
    incoming.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    incoming.on("close", () => resolve(undefined));
  });
}
