import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PROGRAM = "mosquitto";
const START_TIMEOUT_MS = 5_000;

/** A broker of the benchmark's own. */
export interface Mosquitto extends AsyncDisposable {
  readonly port: number;
}

/**
 * Starts Mosquitto on a free port of loopback. Its queues and windows are unlimited, so that it drops nothing and only the
 * clients' windows count; without `set_tcp_nodelay` its answers would wait for each other.
 *
 * @throws Error when `mosquitto` is not on the path
 */
export async function startMosquitto(): Promise<Mosquitto> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "bench-mosquitto-"));
  const file = join(folder, "mosquitto.conf");
  const lines = [
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    "persistence false",
    "set_tcp_nodelay true",
    "max_queued_messages 0",
    "max_inflight_messages 0",
    "log_type error",
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
  const broker = spawn(PROGRAM, ["-c", file], { stdio: ["ignore", "inherit", "inherit"] });
  const ended = new Promise<void>((resolve) => broker.once("close", () => resolve()));
  const failed = new Promise<never>((_, reject) => {
    broker.once("error", (error) => reject(new Error(`${PROGRAM} cannot be started: ${error.message}`)));
    broker.once("exit", (code) => reject(new Error(`mosquitto has ended, with code ${code}`)));
  });
  const stop = async (): Promise<void> => {
    if (broker.pid !== undefined) {
      broker.kill("SIGKILL");
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.race([failed, listening(port)]);
  } catch (error) {
    await stop();
    throw error;
  }
  failed.catch(() => {});
  return { port, [Symbol.asyncDispose]: stop };
}

/** A port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function listening(port: number): Promise<void> {
  for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end; await sleep(20)) {
    const socket = connect(port, "127.0.0.1");
    const open = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "error").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
  }
  throw new Error(`mosquitto did not listen within ${START_TIMEOUT_MS} ms`);
}
