import { BridgeError, type Clock } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";

/** Without a reason of one's own the platform makes one, with a stack, each time. */
const ANSWERED = new Error("answered");

/**
 * The answer to a request about what is held. The client's own bound is that of a long poll: by then a message whose
 * extension hangs would have been handed to somebody else.
 *
 * @throws BridgeError `TIMEOUT` when there is none within `boundMs`; whether SQS has done it is then unknown
 */
export async function answerInTime<Answer>(
  what: string,
  boundMs: number,
  clock: Clock,
  request: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const over = new AbortController();
  const answered = new AbortController();
  void clock.delay(boundMs, answered.signal).then(
    () => over.abort(new BridgeError("TIMEOUT", `${what}: no answer in time`)),
    () => {},
  );
  try {
    return await orAborted(request(over.signal), over.signal);
  } finally {
    answered.abort(ANSWERED);
  }
}
