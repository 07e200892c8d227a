import { isDeepStrictEqual } from "node:util";
import { filePlace, type Listening, type SessionRole } from "@bridge/ports";
import type { BridgeConfig } from "../model.ts";
import { formatPath, type Path, type Problem } from "../problem.ts";
import type { Registry } from "../registry.ts";
import type { Surroundings, UsualServers } from "../surroundings.ts";

/**
 * Parts that are sound each by itself and cannot be beside each other: one name at a broker, one listening address, one
 * file. Looks at options as the plugins read them, so the whole document has to be sound. No message quotes a value.
 */
export function collisions(
  config: BridgeConfig,
  registry: Registry,
  { place, servers }: Surroundings,
): readonly Problem[] {
  return [
    ...names(config, registry),
    ...made(config, registry),
    ...listeners(config, registry, servers),
    ...places(config, place),
  ];
}

function* names(
  { bridge, sessions, receivers, senders, bindings }: BridgeConfig,
  registry: Registry,
): Generator<Problem> {
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
    if (other === undefined) continue;
    yield {
      path: ["sessions", index, "options"],
      message: `${at(["sessions", other])} has this name at this broker already, so that each would take the other's connection over: give each a client id of its own, or use one session for both`,
    };
  }
}

/** Receivers may share what they take from, and the broker shares its messages out; what they make, they make alike. */
function* made({ sessions, receivers }: BridgeConfig, registry: Registry): Generator<Problem> {
  const first = new Map<string, { readonly index: number; readonly as: unknown }>();
  for (const [index, { transport, sessionId, options }] of receivers.entries()) {
    const session = sessions.find(({ id }) => id === sessionId);
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

interface Place extends Listening {
  readonly path: string;
  readonly at: Path;
}

function* listeners(
  { http, receivers }: BridgeConfig,
  registry: Registry,
  usual: UsualServers | undefined,
): Generator<Problem> {
  const seen: (Place & { readonly server: boolean })[] = [];
  const { adminAddr, monitorAddr } = http ?? usual ?? {};
  for (const [key, addr] of [
    ["admin_addr", adminAddr],
    ["monitor_addr", monitorAddr],
  ] as const)
    if (addr !== undefined) seen.push({ addr, path: "", shared: undefined, at: ["http", key], server: true });
  for (const [index, { id, transport, options }] of receivers.entries()) {
    const listening = registry.transports.get(transport)?.receiver?.listens?.(options, id);
    if (listening !== undefined) seen.push({ ...listening, at: ["receivers", index, "options"], server: false });
  }
  for (const [index, place] of seen.entries()) {
    for (const other of seen.slice(0, index)) {
      const message = quarrel(other, place, place.server || other.server);
      if (message === undefined) continue;
      yield { path: place.at, message };
      break;
    }
  }
}

/** Why two cannot listen as they would; `undefined` when they can. */
function quarrel(first: Place, second: Place, apart: boolean): string | undefined {
  const [a, b] = [hostAndPort(first.addr), hostAndPort(second.addr)];
  const where = at(first.at);
  const same = a.host === b.host && a.port === b.port;
  if (apart || !same) {
    const meet = a.port === b.port && a.port !== 0 && overlap(a.host, b.host);
    if (!meet) return undefined;
    return apart
      ? `${where} listens on this address already: give each an address of its own`
      : `${where} listens on the same port of an address that this one includes, or is included in: write both addresses alike, or use another port`;
  }
  if (!isDeepStrictEqual(first.shared, second.shared))
    return `${where} listens on this address with other tls options: give all receivers of an address the same`;
  return first.path === second.path
    ? `${where} has this path of this address already: give each a path of its own`
    : undefined;
}

/** The host in small letters, without brackets; empty: every interface. */
function hostAndPort(addr: string): { readonly host: string; readonly port: number } {
  const colon = addr.lastIndexOf(":");
  return {
    host: addr
      .slice(0, colon)
      .replace(/^\[|\]$/g, "")
      .toLowerCase(),
    port: Number(addr.slice(colon + 1)),
  };
}

function overlap(a: string, b: string): boolean {
  if (EVERY.has(a) || EVERY.has(b)) return true;
  if (a === EVERY_V4 || b === EVERY_V4) return !a.includes(":") && !b.includes(":");
  return (NAMED.get(a) ?? [a]).some((host) => (NAMED.get(b) ?? [b]).includes(host));
}

const EVERY: ReadonlySet<string> = new Set(["", "::"]);
const EVERY_V4 = "0.0.0.0";
const NAMED: ReadonlyMap<string, readonly string[]> = new Map([["localhost", ["127.0.0.1", "::1"]]]);

function* places({ stores, audit }: BridgeConfig, own: string | undefined): Generator<Problem> {
  const first = new Map<string, string>();
  if (own !== undefined) first.set(own, "this document");
  const kept: (readonly [string | undefined, Path])[] = [
    [stores.dlq?.place, ["stores", "dlq", "options"]],
    [stores.outbox?.place, ["stores", "outbox", "options"]],
    [audit.file && filePlace(audit.file.path), ["audit", "file", "path"]],
  ];
  for (const [place, path] of kept) {
    if (place === undefined) continue;
    const other = first.get(place) ?? beside(place, first);
    first.set(place, other ?? at(path));
    if (other !== undefined)
      yield { path, message: `this is the place of ${other} already: give each a place of its own` };
  }
}

/** Whose place it is beside which this lies, or which lies beside this: stores in a file keep others under longer names. */
function beside(place: string, taken: ReadonlyMap<string, string>): string | undefined {
  const [, own = place] = BESIDE.exec(place) ?? [];
  for (const [each, other] of taken) if (each === own || BESIDE.exec(each)?.[1] === place) return other;
  return undefined;
}

const BESIDE = /^(.+)-(?:wal|shm|lock|mark)$/;

function at(path: Path): string {
  return formatPath(path[0] === "receivers" || path[0] === "stores" ? path.slice(0, 2) : path);
}
