import { HttpReader } from "../../../src/load/http-reader.ts";
import { readPayload } from "../message.ts";
import type { Ledger } from "./ledger.ts";
import type { Sends } from "./sends.ts";
import type { Listener } from "./tap.ts";

const ACCEPTED = /^HTTP\/1\.1 202/;
const TAKEN = /^HTTP\/1\.1 2/;

/** Listens between callers and the bridge: which requests have reached it, and which it has answered with 202. */
export function httpSourceListener(ledger: Ledger): Listener {
  const asked: string[] = [];
  const requests = new HttpReader((_head, body) => {
    const { id } = readPayload(body);
    asked.push(id);
    ledger.handed(id);
  });
  const responses = new HttpReader((head) => {
    const id = asked.shift();
    if (id !== undefined && ACCEPTED.test(head)) ledger.settled(id);
  });
  return {
    fromClient: (bytes) => requests.read(bytes),
    fromServer: (bytes) => responses.read(bytes),
    ended: () => {},
  };
}

/** Listens between the bridge and the HTTP target: what was sent, and what was confirmed, one after another. */
export function httpTargetListener(sends: Sends, onEnd: () => void): Listener {
  let [asked, answered] = [0, 0];
  const requests = new HttpReader((_head, body) => sends.begin(asked++, readPayload(body).id));
  const responses = new HttpReader((head) => sends.end(answered++, TAKEN.test(head)));
  return {
    fromClient: (bytes) => requests.read(bytes),
    fromServer: (bytes) => responses.read(bytes),
    ended: onEnd,
  };
}
