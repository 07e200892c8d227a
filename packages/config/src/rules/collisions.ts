import { isDeepStrictEqual } from "node:util";
import { type Listening, type SessionRole } from "@bridge/ports";
import { type Steps } from "@bridge/ports/internal";
import type { BridgeConfig } from "../model.ts";
import { type Path, type Problem } from "../problem.ts";
import type { Registry } from "../registry.ts";
import type { Surroundings, UsualServers } from "../surroundings.ts";
import { filePlaces } from "./file-places.ts";
import { type HostAndPort, hostAndPort, meet, sameAddress } from "./listening.ts";
import { partAt as at } from "./part-at.ts";
import type { RuleContext } from "./rule-context.ts";

/**
 * Parts that are sound each by itself and cannot be beside each other: one name at a broker, one listening address, one
 * file. Looks at options as the plugins read them, so the whole document has to be sound. No message quotes a value.
 */
export function* collisions(
  config: BridgeConfig,
  context: RuleContext,
  { isOwnPlace, servers }: Surroundings,
): Steps<readonly Problem[]> {
  const found: Problem[] = [];
  const { registry } = context;
  const all = [
    names(config, registry),
    made(config, registry),
    listeners(config, registry, servers),
    filePlaces(config, context, isOwnPlace),
  ];
  for (const problems of all) {
    for (const problem of problems) {
      if (problem !== undefined) found.push(problem);
      yield;
    }
  }
  return found;
}

/** Tells `undefined` after what has no problem. */
export type Findings = Generator<Problem | undefined>;

function* names({ bridge, sessions, receivers, senders, bindings }: BridgeConfig, registry: Registry): Findings {
  const users: Readonly<Record<SessionRole, ReadonlySet<string | undefined>>> = {
    source: new Set(receivers.map(({ sessionId }) => sessionId)),
    target: new Set([...senders, ...bindings].map(({ sessionId }) => sessionId)),
  };
  const first = new Map<string, number>();
  for (const [index, { id, transport, options }] of sessions.entries()) {
    const identities = registry.transports.get(transport)?.session?.identities;
    const roles = (["source", "target"] as const).filter((role) => users[role].has(id));
    const own = roles.flatMap((role) => identities?.(options, { id, bridgeId: bridge.id, role }) ?? []);
    const other = own.map((name) => first.get(name)).find((one) => one !== undefined && one !== index);
    for (const name of own) if (!first.has(name)) first.set(name, index);
    yield other === undefined
      ? undefined
      : {
          path: ["sessions", index, "options"],
          message: `${at(["sessions", other])} has this name at this broker already, so that each would take the other's connection over: give each a client id of its own, or use one session for both`,
        };
  }
}

/** Receivers may share what they take from, and the broker shares its messages out; what they make, they make alike. */
function* made({ sessions, receivers }: BridgeConfig, registry: Registry): Findings {
  const sessionsById = new Map(sessions.map((session) => [session.id, session]));
  const first = new Map<string, { readonly index: number; readonly as: unknown }>();
  for (const [index, { transport, sessionId, options }] of receivers.entries()) {
    yield;
    const session = sessionId === undefined ? undefined : sessionsById.get(sessionId);
    const own = registry.transports.get(transport)?.receiver?.makes?.(options, session?.options);
    if (own === undefined) continue;
    const other = first.get(own.name);
    if (other === undefined) first.set(own.name, { index, as: own.as });
    else if (!isDeepStrictEqual(other.as, own.as))
      yield {
        path: ["receivers", index, "options"],
        message: `${at(["receivers", other.index])} makes this ${own.kind} with other options: give both the same, or let one of them make it`,
      };
  }
}

interface Place extends Listening, HostAndPort {
  readonly at: Path;
  /** Of the bridge itself. */
  readonly server: boolean;
}

function* listeners({ http, receivers }: BridgeConfig, registry: Registry, usual: UsualServers | undefined): Findings {
  const seen: Place[] = [];
  const see = (listening: Listening, path: Path, server: boolean): void => {
    seen.push({ ...listening, ...hostAndPort(listening.addr), at: path, server });
  };
  const { adminAddr, monitorAddr } = http ?? usual ?? {};
  for (const [key, addr] of [
    ["admin_addr", adminAddr],
    ["monitor_addr", monitorAddr],
  ] as const)
    if (addr !== undefined) see({ addr, path: "", shared: undefined }, ["http", key], true);
  for (const [index, { id, transport, options }] of receivers.entries()) {
    const listening = registry.transports.get(transport)?.receiver?.listens?.(options, id);
    if (listening !== undefined) see(listening, ["receivers", index, "options"], false);
    yield;
  }
  for (const [index, place] of seen.entries()) {
    yield;
    for (let former = 0; former < index; former++) {
      const other = seen[former] as Place;
      // The two servers are looked at by a rule of their own.
      if (place.server && other.server) continue;
      const message = quarrel(other, place);
      if (message === undefined) continue;
      yield { path: place.at, message };
      break;
    }
  }
}

/** Why two cannot listen as they would; `undefined` when they can. */
function quarrel(a: Place, b: Place): string | undefined {
  if (a.port !== b.port) return undefined;
  const apart = a.server || b.server;
  if (apart || !sameAddress(a, b)) {
    if (!meet(a, b)) return undefined;
    return apart
      ? `${at(a.at)} listens on this address already: give each an address of its own`
      : `${at(a.at)} listens on the same port of an address that this one includes, or is included in: write both addresses alike, or use another port`;
  }
  if (!isDeepStrictEqual(a.shared, b.shared))
    return `${at(a.at)} listens on this address with other tls options: give all receivers of an address the same`;
  return a.path === b.path
    ? `${at(a.at)} has this path of this address already: give each a path of its own`
    : undefined;
}
