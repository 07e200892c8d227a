import {
  type BridgeDocument,
  documentOf,
  type DocumentOptions,
  type Part,
} from "../../../torture/src/bridge/document.ts";
import { routesOf, secondHop, type SideName, THROUGH_MEMORY } from "../sides.ts";
import { type BrokerPorts, hostileParts } from "./hostile-parts.ts";

export interface SoakDocumentOptions extends Pick<
  DocumentOptions,
  "folders" | "adminKey" | "own" | "reached" | "postgres"
> {
  readonly side: SideName;
  /** Past links and taps, for messages that the auditor does not know. */
  readonly brokers: BrokerPorts;
  /** Of the web service that takes hostile messages. */
  readonly sink: number;
}

/** Longer than a soak: a NATS server that is restarted may hand out again what was acknowledged minutes ago. */
const RETENTION = "12h";
/** Its session is held under a lease. */
const EXCLUSIVE = "mqtt-amqp";

/** The configuration of one of the two bridges. */
export function soakDocument(options: SoakDocumentOptions): BridgeDocument {
  const { side, postgres } = options;
  const stores = side === "a" ? "file" : "postgres";
  const base = documentOf({
    ...options,
    name: `soak-${side}`,
    routes: routesOf(side),
    mode: "both",
    stores,
    retention: RETENTION,
  });
  const hostile = hostileParts(options);
  const { sessions, receivers, senders, bindings, routes, ...rest } = throughMemory(base, side);
  return {
    ...rest,
    stores: { ...rest.stores, ...(side === "b" && { lease: { type: "postgres", options: { url: postgres } } }) },
    sessions: [
      ...sessions.map((session) => (session.id === EXCLUSIVE ? { ...session, session_mode: "exclusive" } : session)),
      ...hostile.sessions,
    ],
    receivers: [...receivers, ...hostile.receivers],
    senders: [...senders, ...hostile.senders],
    bindings: [...bindings, ...hostile.bindings],
    routes: [...routes, ...hostile.routes],
  };
}

/** One route becomes two, with a channel between them: the first ends in it, the second one goes to the target. */
function throughMemory(document: BridgeDocument, side: SideName): BridgeDocument {
  const [first, second] = [THROUGH_MEMORY[side], secondHop(side)];
  const whole = document.routes.find(({ id }) => id === first) as Part;
  const modes = side === "a" ? ["direct_hold", "shared_outbox"] : ["shared_outbox", "direct_hold"];
  return {
    ...document,
    receivers: [...document.receivers, { id: second, transport: "memory", options: { channel: first } }],
    senders: [...document.senders, { id: "to-memory", transport: "memory" }],
    bindings: [...document.bindings, { id: `${first}.in`, sender_id: "to-memory", address: first }],
    routes: [
      ...document.routes.filter(({ id }) => id !== first),
      { ...whole, delivery_mode: modes[0], bindings: [`${first}.in`] },
      { ...whole, id: second, receiver_id: second, delivery_mode: modes[1] },
    ],
  };
}
