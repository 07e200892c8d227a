import type { BridgeConfig, ReceiverConfig } from "@bridge/config";
import type { SessionRole } from "@bridge/ports";

/** A receiver that a route is fed by, with the window of that route. */
interface Fed {
  readonly receiver: ReceiverConfig;
  readonly maxInFlight: number;
}

/** The parts of a configuration by their ids, and what sessions are for: a configuration has thousands of them. */
export class PartsById {
  readonly receivers: ReadonlyMap<string, ReceiverConfig>;
  readonly senders: ReadonlyMap<string, BridgeConfig["senders"][number]>;
  readonly bindings: ReadonlyMap<string, BridgeConfig["bindings"][number]>;
  readonly sessions: ReadonlyMap<string, BridgeConfig["sessions"][number]>;
  readonly processors: ReadonlyMap<string, BridgeConfig["processors"][number]>;
  readonly named: Readonly<Record<SessionRole, ReadonlySet<string | undefined>>>;
  /** By session, in the order of their ids. */
  readonly fed: ReadonlyMap<string | undefined, readonly Fed[]>;

  constructor({ sessions, receivers, senders, bindings, processors, routes }: BridgeConfig) {
    this.sessions = byId(sessions);
    this.receivers = byId(receivers);
    this.senders = byId(senders);
    this.bindings = byId(bindings);
    this.processors = byId(processors);
    this.named = {
      source: new Set(receivers.map(({ sessionId }) => sessionId)),
      target: new Set([...senders, ...bindings].map(({ sessionId }) => sessionId)),
    };
    const windows = new Map(routes.map(({ receiverId, policy }) => [receiverId, policy.maxInFlight]));
    const fed = receivers
      .flatMap((receiver) => {
        const maxInFlight = windows.get(receiver.id);
        return maxInFlight === undefined ? [] : [{ receiver, maxInFlight }];
      })
      .toSorted((a, b) => (a.receiver.id < b.receiver.id ? -1 : 1));
    this.fed = Map.groupBy(fed, ({ receiver }) => receiver.sessionId);
  }
}

function byId<Part extends { readonly id: string }>(parts: readonly Part[]): ReadonlyMap<string, Part> {
  return new Map(parts.map((part) => [part.id, part]));
}
