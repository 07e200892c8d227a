import type { ServerResponse } from "node:http";
import { connectionOf } from "@bridge/net-kit";
import type { Clock } from "@bridge/ports";
import type { StreamCarrier } from "./open-stream.ts";

/** How long a client has for taking the last event. */
const BYE_MS = 500;

/** What carries a stream as the answer `outgoing`; `undefined` when the carrier is not ours. */
export function streamCarrier(outgoing: ServerResponse | undefined, clock: Clock): StreamCarrier | undefined {
  const connection = connectionOf(outgoing);
  if (connection === undefined || outgoing === undefined) return undefined;
  return {
    expect: (bytes) => connection.expect(bytes),
    cut: () => connection.cut(),
    hurry: () => {
      if (outgoing.closed) return;
      const late = clock.after(BYE_MS, () => connection.cut());
      outgoing.once("close", () => late[Symbol.dispose]());
    },
  };
}
