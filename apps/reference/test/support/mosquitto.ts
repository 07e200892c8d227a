import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { env } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@bridge/tooling/listening";
import type { Folder } from "./folder.ts";

/** For `describe.skipIf`; where brokers are required, their absence is a failure instead. */
export const noMosquitto: boolean =
  env["BRIDGE_REQUIRE_BROKERS"] !== "1" && spawnSync("mosquitto", ["-h"]).error !== undefined;

const START_TIMEOUT_MS = 15_000;

/**
 * A Mosquitto of a test's own, which drops nothing: as it comes it keeps at most 1,000 messages for a client that is
 * slow or away.
 */
export class Mosquitto implements AsyncDisposable {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.#child = child;
  }

  /** @throws Error when it is not installed */
  static async start(folder: Folder): Promise<Mosquitto> {
    const port = await freePort();
    const file = folder.write(
      "mosquitto.conf",
      [
        "user root",
        `listener ${port} 127.0.0.1`,
        "allow_anonymous true",
        "persistence true",
        `persistence_location ${folder.path}/`,
        "max_queued_messages 0",
        "set_tcp_nodelay true",
        "",
      ].join("\n"),
    );
    const child = spawn("mosquitto", ["-c", file], { stdio: "ignore" });
    await once(child, "spawn");
    const broker = new Mosquitto(port, child);
    for (const until = performance.now() + START_TIMEOUT_MS; !(await listens(port)); await delay(20)) {
      if (child.exitCode !== null || performance.now() > until) {
        await broker[Symbol.asyncDispose]();
        throw new Error(`mosquitto does not listen on port ${port}`);
      }
    }
    return broker;
  }

  /** Stopped, it keeps its connections open and says nothing. */
  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", end(true)).once("error", end(false));
  });
}
