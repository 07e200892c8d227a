import { type FunctionMessage, PermanentError } from "@bridge/transport-function";
import { LANE_HEADER } from "../message.ts";

/** The web service wants none of it. */
const REFUSED = 422;

/** What a handler calls: returns when the web service has said that it keeps the message, and throws in every other case. */
export function saver(url: string): (message: FunctionMessage, signal: AbortSignal) => Promise<void> {
  return async ({ id, headers, payload }, signal) => {
    const place = new URL(`/keep/${headers[LANE_HEADER]}`, url);
    const answer = await fetch(place, { method: "POST", body: Buffer.from(payload), signal });
    await answer.arrayBuffer();
    if (answer.status === REFUSED) throw new PermanentError("REJECTED", `the web service refuses ${id}`);
    if (!answer.ok) throw new Error(`the web service answers ${answer.status}`);
  };
}
