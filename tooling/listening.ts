import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const HOST = "127.0.0.1";
/** Below the ports that systems hand out by themselves, so that nobody takes one while its owner is away. */
const PORTS = { from: 12_000, to: 31_999 } as const;
const LOOK_EVERY_MS = 20;

/** A port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Where this process looks next: what it has handed out is not handed out again while its taker is about to listen. */
let next = Math.floor(Math.random() * (PORTS.to - PORTS.from));

/** So many ports that nobody listens on at the moment, and that no other call of this process has got lately. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let looks = 0; ports.length < count; looks++) {
    if (looks > PORTS.to - PORTS.from) throw new Error(`there are no ${count} free ports below ${PORTS.to}`);
    const port = PORTS.from + (next++ % (PORTS.to - PORTS.from));
    const server = createServer().listen(port, HOST);
    const free = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!free) continue;
    server.close();
    await once(server, "close");
    ports.push(port);
  }
  return ports;
}

/** Resolves when somebody listens there. @throws Error when nobody does within the bound */
export async function listening(port: number, withinMs: number): Promise<void> {
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(LOOK_EVERY_MS)) {
    const socket = connect(port, HOST);
    const open = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
  }
  throw new Error(`nobody listens on port ${port} after ${withinMs} ms`);
}
