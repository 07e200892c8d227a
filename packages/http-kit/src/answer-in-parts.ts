import type { connectionOf } from "@bridge/net-kit";
import type { Clock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { HttpError } from "./http-error.ts";

/** What is handed over at once; more only when it has been taken, so that it can be seen that it is. */
const PART_BYTES = 65_536;
/** A client is rather told to come again than left without a word. */
const WAIT_MS = 10_000;

/** The connection of a client. */
type Taker = Pick<NonNullable<ReturnType<typeof connectionOf>>, "room">;

/** Whether an answer of so many bytes goes over its connection in parts. */
export function goesInParts({ length }: Uint8Array): boolean {
  return length > PART_BYTES;
}

/**
 * An answer that is handed over in parts, as soon as there is room for all of it: once it has begun it is not cut for others, as
 * long as its client takes it.
 * @throws HttpError 503 when there was no room in time, or `client` aborted, because nobody takes the answer any more
 */
export async function answerInParts(
  bytes: Uint8Array<ArrayBuffer>,
  { taker, client, clock }: { readonly taker: Taker; readonly client: AbortSignal; readonly clock: Clock },
): Promise<ReadableStream<Uint8Array>> {
  using limit = deadline(clock, WAIT_MS, new Error("too many take large answers"));
  try {
    await taker.room(bytes.buffer.byteLength, AbortSignal.any([limit.signal, client]));
  } catch {
    throw new HttpError(503, `too many take large answers: there was no room within ${WAIT_MS / 1_000} s, try again`, {
      "Retry-After": "5",
    });
  }
  let sent = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    controller.enqueue(bytes.subarray(sent, (sent += PART_BYTES)));
    if (sent >= bytes.length) controller.close();
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}
