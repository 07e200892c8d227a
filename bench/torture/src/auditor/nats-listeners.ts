import { readPayload } from "../message.ts";
import type { Ledger } from "./ledger.ts";
import { NatsReader } from "./nats-reader.ts";
import type { Sends } from "./sends.ts";
import type { Listener } from "./tap.ts";

/** Every message of JetStream is settled on a subject of its own. */
const SETTLED_ON = "$JS.ACK.";
/** Words that tell the server to forget a message; others only move it. */
const FORGET = /^(\+ACK|\+TERM|\+NXT|$)/;

/** Listens between the bridge and its source's server: what was handed over, and what was acknowledged. */
export function natsSourceListener(ledger: Ledger): Listener {
  const held = new Map<string, string>();
  const fromServer = new NatsReader(({ reply, payload }) => {
    if (!reply.startsWith(SETTLED_ON)) return;
    const { id } = readPayload(payload);
    held.set(reply, id);
    ledger.handed(id);
  });
  const fromClient = new NatsReader(({ subject, payload }) => {
    const id = held.get(subject);
    if (id === undefined || !FORGET.test(payload.toString("latin1"))) return;
    held.delete(subject);
    ledger.settled(id);
  });
  return {
    fromServer: (bytes) => fromServer.read(bytes),
    fromClient: (bytes) => fromClient.read(bytes),
    ended: () => held.clear(),
  };
}

/** Listens between the bridge and its target's server: what was sent, and what a stream has taken. */
export function natsTargetListener(sends: Sends, onEnd: () => void): Listener {
  const open = new Set<string>();
  const fromClient = new NatsReader(({ reply, payload }) => {
    const { id } = readPayload(payload);
    if (reply === "" || id === "") return;
    open.add(reply);
    sends.begin(reply, id);
  });
  const fromServer = new NatsReader(({ subject, payload }) => {
    if (open.delete(subject)) sends.end(subject, isTaken(payload));
  });
  return {
    fromClient: (bytes) => fromClient.read(bytes),
    fromServer: (bytes) => fromServer.read(bytes),
    ended: onEnd,
  };
}

/** A stream answers with its name and a place in it; whoever is no stream with something else, or nothing. */
function isTaken(answer: Buffer): boolean {
  if (answer.length === 0) return false;
  const { stream, error } = JSON.parse(answer.toString()) as { readonly stream?: string; readonly error?: unknown };
  return stream !== undefined && error === undefined;
}
