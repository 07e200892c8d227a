import { HTTP } from "./folder.ts";

/** A document with one route that carries messages inside of the process. */
export const INSIDE = `${HTTP}
bridge: {id: test}
receivers: [{id: in, transport: memory, options: {channel: in}}]
senders: [{id: out, transport: memory, options: {channel: out}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]
`;

/** A document with one route from a listener of its own to a web service. */
export function webToWeb(target: string, { bridge = "", addr = "127.0.0.1:0" } = {}): string {
  return `${HTTP}
bridge: {id: test${bridge}}
receivers: [{id: in, transport: http, options: {addr: "${addr}"}}]
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]
`;
}
