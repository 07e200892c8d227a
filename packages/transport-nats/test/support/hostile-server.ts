import type { Socket } from "node:net";
import type { StandInPlace } from "@bridge/conformance";
import { localServer } from "@bridge/tooling/local-server";
import { INFO } from "./scripted-server.ts";

const [STREAM, CONSUMER] = ["S", "c"];
const CONSUMER_INFO = JSON.stringify({
  type: "io.nats.jetstream.api.v1.consumer_info_response",
  stream_name: STREAM,
  name: CONSUMER,
  config: { durable_name: CONSUMER, ack_policy: "explicit", ack_wait: 3e10, max_ack_pending: 1_000 },
  delivered: { consumer_seq: 0, stream_seq: 0 },
  ack_floor: { consumer_seq: 0, stream_seq: 0 },
});

interface Wrong {
  readonly state: string;
  readonly bytes: Uint8Array;
  readonly done: () => void;
}

/** One client: what it listens to, and how many messages it has asked for. */
interface Client {
  readonly socket: Socket;
  /** Of each subscription, by the beginning of its subject. */
  readonly sids: Map<string, string>;
  inbox: string;
  wanted: number;
}

/** A server with one consumer of JetStream that behaves, but for what the suite has it say. */
export async function hostileServer(): Promise<StandInPlace> {
  let wrong: Wrong | undefined;
  let current: Client | undefined;
  let sequence = 0;
  const handed: string[] = [];

  const goesWrong = (state: string, { socket }: Client): boolean => {
    if (wrong?.state !== state) return false;
    const { bytes, done } = wrong;
    wrong = undefined;
    socket.once("close", done);
    socket.end(bytes);
    return true;
  };
  const handOut = (): void => {
    const client = current;
    if (client === undefined || client.socket.writableEnded) return;
    const now = handed.splice(0, client.wanted);
    client.wanted -= now.length;
    for (const payload of now) {
      const sid = sidOf(client, client.inbox);
      const reply = `$JS.ACK.${STREAM}.${CONSUMER}.1.${++sequence}.${sequence}.1795286097811774777.0`;
      client.socket.write(`MSG ${STREAM}.a ${sid} ${reply} ${payload.length}\r\n${payload}\r\n`);
    }
  };
  const asked = (client: Client, subject: string, reply: string, body: string): void => {
    if (subject.startsWith("$JS.API.CONSUMER.INFO."))
      client.socket.write(`MSG ${reply} ${sidOf(client, reply)} ${CONSUMER_INFO.length}\r\n${CONSUMER_INFO}\r\n`);
    else if (subject.startsWith("$JS.API.CONSUMER.MSG.NEXT.")) {
      if (goesWrong("pulling", client)) return;
      client.inbox = reply;
      client.wanted += (JSON.parse(body) as { readonly batch: number }).batch;
      handOut();
    }
  };
  const heard = (client: Client, [word = "", ...words]: readonly string[], body: string): void => {
    if (client.socket.writableEnded) return;
    if (word === "PING") {
      if (goesWrong("greeted", client)) return;
      client.socket.write("PONG\r\n");
      goesWrong("connected", client);
    } else if (word === "SUB") client.sids.set((words[0] ?? "").replace(/\*$/, ""), words.at(-1) ?? "");
    else if (word === "PUB" && words.length === 3) asked(client, words[0] ?? "", words[1] ?? "", body);
  };
  const server = await localServer((socket) => {
    const client: Client = { socket, sids: new Map(), inbox: "", wanted: 0 };
    current = client;
    if (goesWrong("greeting", client)) {
      socket.resume();
      return;
    }
    let rest = "";
    socket.on("data", (bytes) => {
      rest += bytes.toString("latin1");
      for (let end = rest.indexOf("\r\n"); end >= 0; end = rest.indexOf("\r\n")) {
        const words = rest.slice(0, end).split(" ");
        const size = words[0] === "PUB" ? Number(words.at(-1)) + 2 : 0;
        if (rest.length < end + 2 + size) return;
        const body = rest.slice(end + 2, end + 2 + Math.max(size - 2, 0));
        rest = rest.slice(end + 2 + size);
        heard(client, words, body);
      }
    });
    socket.write(INFO);
  });
  return {
    source: {
      session: {
        options: { servers: [`nats://127.0.0.1:${server.port}`], connect_timeout: "5s", max_message_bytes: 65_536 },
      },
      receiver: { options: { stream: STREAM, consumer: CONSUMER } },
    },
    states: ["greeting", "greeted", "connected", "pulling"],
    frames: Object.fromEntries(FRAMES.map((frame) => [frame.slice(0, 12), Buffer.from(frame)])),
    outrages: OUTRAGES.map((text) => Buffer.from(text, "latin1")),
    say: (state, bytes) =>
      new Promise((done) => {
        wrong = { state, bytes, done };
        current?.socket.destroy();
      }),
    hand(payloads) {
      handed.push(...payloads);
      handOut();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function sidOf({ sids }: Client, subject: string): string {
  for (const [prefix, sid] of sids) if (subject.startsWith(prefix)) return sid;
  return "1";
}

const ACK = "$JS.ACK.S.c.1.5.5.1795286097811774777.0";
const STATUS = "NATS/1.0 408 Request Timeout\r\nNats-Pending-Messages: 3\r\n\r\n";
const HEADERS = "NATS/1.0\r\na: b\r\nmessage-id: m\r\n\r\n";

const FRAMES: readonly string[] = [
  INFO,
  "PING\r\n",
  "PONG\r\n",
  "+OK\r\n",
  "-ERR 'Permissions Violation for Publish to \"a\"'\r\n",
  `MSG S.a 1 ${ACK} 1\r\nx\r\n`,
  `HMSG S.a 2 ${ACK} ${HEADERS.length} ${HEADERS.length + 1}\r\n${HEADERS}x\r\n`,
  `HMSG _INBOX.a 2 ${STATUS.length} ${STATUS.length}\r\n${STATUS}\r\n`,
];

/** What announces gigabytes, no length or none that is true, a line without an end, headers that are none, another protocol. */
const OUTRAGES: readonly string[] = [
  "MSG a 1 4294967295\r\n",
  "HMSG a 2 12 4294967295\r\n",
  "HMSG a 2 99 12\r\nNATS/1.0\r\n\r\n\r\n",
  "MSG a 1 -1\r\n",
  "MSG a 1 1e3\r\n",
  "MSG a\r\n",
  "MSG a x 1\r\nx\r\n",
  "MSG a 1 1\r\nxyz\r\n",
  `INFO {"${"x".repeat(70_000)}`,
  "INFO {]\r\n",
  "INFO null\r\n",
  `-ERR '${"x".repeat(70_000)}'\r\n`,
  "-ERR 'Stale Connection'\r\n",
  "-ERR 'Authorization Violation'\r\n",
  "HTTP/1.1 400 Bad Request\r\n\r\n",
  "\u0000\u00ff\u0000\u00ff",
  ...[1, 2].map((sid) => `HMSG _INBOX.a ${sid} ${ACK} 18 18\r\nNATS/1.0\r\na b: c\r\n\r\n`),
  ...[1, 2].map((sid) => `HMSG _INBOX.a ${sid} 21 21\r\nNATS/1.0\r\na b: c\r\n\r\n\r\n`),
];
