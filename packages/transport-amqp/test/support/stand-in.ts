import { once } from "node:events";
import type { Socket } from "node:net";
import { localServer } from "@bridge/tooling/local-server";
import { say } from "./words.ts";

/** What the stand-in answers, under the name of its answer. */
type State = "start" | "tune" | "open" | "channelOpen" | "qos" | "consume" | "confirmSelect";

/** What it answers to each method of a client. */
const ANSWERS: ReadonlyMap<string, State> = new Map([
  ["10,11", "tune"],
  ["10,40", "open"],
  ["20,10", "channelOpen"],
  ["60,10", "qos"],
  ["60,20", "consume"],
  ["85,10", "confirmSelect"],
]);
const GREETING_SIZE = 8;

/** What is said at a state, and whether beside the right answer. */
export interface Trick {
  readonly state: State;
  readonly bytes: Buffer;
  readonly instead?: boolean;
  /** Nothing follows, and the connection stays open. */
  readonly stays?: boolean;
  /** Called when the first connection has ended on which it was said. */
  readonly over?: () => void;
}

/** A broker that says what it should, and at one place what a test wants it to. */
export interface StandIn extends AsyncDisposable {
  readonly port: number;
  /** From the next connection on. `undefined`: it behaves. */
  trick: Trick | undefined;
  /** Methods of clients, as "class,method". */
  readonly heard: string[];
  /** Ends every connection. */
  drop(): void;
  /** Says something more on every connection; resolves when it is on its way. */
  send(bytes: Buffer): Promise<void>;
}

export async function standIn(): Promise<StandIn> {
  const heard: string[] = [];
  const server = await localServer((socket) => serve(socket, self.trick, heard));
  const self: StandIn = {
    port: server.port,
    trick: undefined,
    heard,
    drop() {
      for (const socket of server.sockets) socket.destroy();
    },
    async send(bytes) {
      for (const socket of server.sockets) if (!socket.write(bytes)) await once(socket, "drain");
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return self;
}

function serve(socket: Socket, trick: Trick | undefined, heard: string[]): void {
  let rest = Buffer.alloc(0);
  let isGreeted = false;
  const answer = (state: State, channel: number): void => {
    const right = say(state, channel);
    if (trick?.state !== state) socket.write(right);
    else {
      if (trick.over !== undefined) socket.once("close", trick.over);
      const bytes = trick.instead === true ? trick.bytes : Buffer.concat([right, trick.bytes]);
      if (trick.stays === true) socket.write(bytes);
      // Whatever became of it, there is an end.
      else socket.end(Buffer.concat([bytes, say("close", 0)]));
    }
  };
  socket.on("data", (data) => {
    rest = Buffer.concat([rest, data]);
    if (!isGreeted && rest.length >= GREETING_SIZE) {
      isGreeted = true;
      rest = rest.subarray(GREETING_SIZE);
      answer("start", 0);
    }
    if (!isGreeted) return;
    while (rest.length >= 8 && rest.length >= 8 + rest.readUInt32BE(3)) {
      const channel = rest.readUInt16BE(1);
      const said = `${rest.readUInt16BE(7)},${rest.readUInt16BE(9)}`;
      const isMethod = rest[0] === 1;
      rest = rest.subarray(8 + rest.readUInt32BE(3));
      if (!isMethod) continue;
      heard.push(said);
      const state = ANSWERS.get(said);
      if (state !== undefined) answer(state, channel);
      else if (said === "10,50") socket.end(say("closeOk", 0));
      else if (said === "20,40") socket.write(say("channelCloseOk", channel));
    }
  });
}
