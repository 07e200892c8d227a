import type { Logger } from "@bridge/ports";
import type { PartStats } from "../view/stats.ts";
import { countersOf } from "./counters-of.ts";
import type { RuntimeParts } from "./runtime-parts.ts";

/** The counters that sessions, receivers and senders keep of themselves. */
export function partStats({ links, intakes, senders }: RuntimeParts, logger: Logger): readonly PartStats[] {
  return [
    ...[...links.values()].map(({ sessionId, role, session }) => ({
      part: "session" as const,
      id: `${sessionId}/${role}`,
      counters: countersOf(session, `session ${sessionId}`, logger),
    })),
    ...[...intakes.values()].map(({ id, receiver }) => ({
      part: "receiver" as const,
      id,
      counters: countersOf(receiver, `receiver ${id}`, logger),
    })),
    ...[...senders].map(([key, part]) => ({
      part: "sender" as const,
      id: key.slice("sender ".length),
      counters: countersOf(part, key, logger),
    })),
  ];
}
