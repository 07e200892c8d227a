import type { BridgeDocument, Part } from "../../../torture/src/bridge/document.ts";

/** What a revision changes, in words. */
export interface Revision {
  readonly document: BridgeDocument;
  readonly what: string;
}

/** Settings of sessions that are changed, and what they are changed between. */
const NUMBERS = {
  mqtt: ["keep_alive", "2s", "3s"],
  amqp: ["heartbeat", "1s", "2s"],
  nats: ["ping_interval", "1s", "2s"],
} as const;
const WINDOWS = [50, 40] as const;

/** The same configuration with one number changed: of a route if `number` is odd, of a session if it is even, each in its turn. */
export function revisionOf(document: BridgeDocument, number: number): Revision {
  const turn = Math.floor(number / 2);
  return number % 2 === 1 ? routeRevision(document, turn) : sessionRevision(document, turn);
}

function routeRevision(document: BridgeDocument, turn: number): Revision {
  const at = turn % document.routes.length;
  const route = document.routes[at] as Part & { readonly policy: { readonly max_in_flight: number } };
  const max_in_flight = route.policy.max_in_flight === WINDOWS[0] ? WINDOWS[1] : WINDOWS[0];
  return {
    document: {
      ...document,
      routes: document.routes.with(at, { ...route, policy: { ...route.policy, max_in_flight } }),
    },
    what: `route ${route.id}: max_in_flight ${max_in_flight}`,
  };
}

function sessionRevision(document: BridgeDocument, turn: number): Revision {
  const at = turn % document.sessions.length;
  const session = document.sessions[at] as Part & {
    readonly transport: keyof typeof NUMBERS;
    readonly options: Readonly<Record<string, unknown>>;
  };
  const [key, one, other] = NUMBERS[session.transport];
  const value = session.options[key] === one ? other : one;
  const options = { ...session.options, [key]: value };
  return {
    document: { ...document, sessions: document.sessions.with(at, { ...session, options }) },
    what: `session ${session.id}: ${key} ${value}`,
  };
}
