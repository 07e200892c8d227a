import { type MessagePort, Worker } from "node:worker_threads";

/** What a checkpoint came to. */
export type CheckpointResult = { readonly error?: undefined } | { readonly error: Error };

type Request = "checkpoint" | "close";
type Reply = { readonly error?: { readonly message: string; readonly errcode: number | undefined } };

/**
 * Brings the log of a file into the file, on a thread of its own: it reads and writes as many pages as the log holds,
 * and syncs twice. The thread starts with the first checkpoint; one that has died is started again.
 */
export class Checkpointer {
  readonly #path: string;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Never rejects: what did not work will be tried with the next one. */
  run(): Promise<CheckpointResult> {
    return this.#inTurn(() => this.#checkpoint());
  }

  /** Resolves when the thread holds the file no more. */
  close(): Promise<void> {
    return this.#inTurn(async () => {
      const worker = this.#worker;
      this.#worker = undefined;
      if (worker === undefined) return;
      await ask(worker, "close");
      await worker.terminate();
    });
  }

  /** One request at a time, so that each gets its own answer. */
  #inTurn<T>(request: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(request);
    this.#last = turn;
    return turn;
  }

  async #checkpoint(): Promise<CheckpointResult> {
    const worker = (this.#worker ??= this.#start());
    const reply = await ask(worker, "checkpoint");
    if (reply instanceof Error) {
      this.#worker = undefined;
      return { error: reply };
    }
    if (reply.error === undefined) return {};
    return { error: Object.assign(new Error(reply.error.message), { errcode: reply.error.errcode }) };
  }

  #start(): Worker {
    // From its text, so that it is there when everything has been bundled into one file.
    const worker = new Worker(`(${serveCheckpoints.toString()})()`, {
      eval: true,
      execArgv: [],
      name: "checkpointer",
      workerData: this.#path,
    });
    worker.on("error", () => {}); // whoever waits for an answer is told
    worker.unref();
    return worker;
  }
}

/** The worker's answer, or why there is none. The process stays alive until then. */
function ask(worker: Worker, request: Request): Promise<Reply | Error> {
  return new Promise((resolve) => {
    const end = (reply: Reply | Error): void => {
      worker.off("message", end).off("error", end).off("exit", onExit);
      worker.unref();
      resolve(reply);
    };
    const onExit = (): void => end(new Error("the checkpoint thread has ended"));
    worker.once("message", end).once("error", end).once("exit", onExit);
    worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    worker.postMessage(request);
  });
}

/** Runs in the worker, from its text: it may use nothing of this module but types. */
function serveCheckpoints(): void {
  const { parentPort, workerData: path } = process.getBuiltinModule("node:worker_threads") as {
    readonly parentPort: MessagePort | null;
    readonly workerData: string;
  };
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const db = new DatabaseSync(path);
  db.exec("PRAGMA busy_timeout = 1000; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0");
  const checkpoint = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  parentPort?.on("message", (request: Request) => {
    let reply: Reply = {};
    try {
      if (request === "checkpoint") checkpoint.get();
      else db.close();
    } catch (error) {
      const { message, errcode } = error as Error & { readonly errcode?: number };
      reply = { error: { message, errcode } };
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    parentPort.postMessage(reply);
  });
}
