import { type MessagePort, Worker } from "node:worker_threads";
import { type Pieces, type Reading, readPieces } from "./digests.ts";
import { sqliteLocation } from "./sqlite-location.ts";

/** What a checkpoint came to. */
export type CheckpointResult =
  | {
      readonly error?: undefined;
      /** Whether all of the log was brought into the file. */
      readonly isWhole: boolean;
      /** When that was asked for, and the disk lets it be read. */
      readonly reading?: Reading | undefined;
    }
  | { readonly error: Error };

interface Request {
  readonly task: "open" | "checkpoint" | "close";
  readonly pieces?: readonly Pieces[] | undefined;
}
interface Reply {
  readonly isWhole?: boolean;
  readonly reading?: Reading | undefined;
  readonly error?: { readonly message: string; readonly errcode: number | undefined };
}

/** What Node gives as the id of a thread that has ended. */
const DEAD = -1;

/**
 * Brings the log of a file into the file, on a thread of its own: it reads and writes as many pages as the log holds,
 * and syncs twice. The thread starts when it is first needed; one that has died is started again.
 */
export class Checkpointer {
  readonly #location: string;
  readonly #start: (location: string) => Worker;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, start = startThread) {
    this.#location = sqliteLocation(path);
    this.#start = start;
  }

  /**
   * Opens the file, unless it has it open. While everything that was written is durable: a handle that is opened later is not
   * told that a sync has failed, and what the disk has not taken would be brought into the file in part. Never rejects: a thread
   * that cannot be started, as when there are too many, is tried again the next time.
   */
  open(): Promise<CheckpointResult> {
    return this.#inTurn(async () => {
      try {
        this.#worker = this.#living ?? this.#start(this.#location);
      } catch (thrown) {
        return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
      }
      return resultOf(await this.#ask({ task: "open" }));
    });
  }

  /** Reads `pieces` then, if that was all of the log. Never rejects: what did not work will be tried with the next one. */
  run(pieces?: readonly Pieces[]): Promise<CheckpointResult> {
    return this.#inTurn(async () => resultOf(await this.#ask({ task: "checkpoint", pieces })));
  }

  /** Resolves when the thread holds the file no more. */
  close(): Promise<void> {
    return this.#inTurn(async () => {
      const worker = this.#living;
      this.#worker = undefined;
      if (worker === undefined) return;
      await ask(worker, { task: "close" });
      await worker.terminate();
    });
  }

  /** One request at a time, so that each gets its own answer. */
  #inTurn<T>(request: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(request);
    this.#last = turn;
    return turn;
  }

  /** The thread, unless it has died since it was last asked: it would never answer. */
  get #living(): Worker | undefined {
    return this.#worker?.threadId === DEAD ? undefined : this.#worker;
  }

  async #ask(request: Request): Promise<Reply | Error> {
    const worker = this.#living;
    const reply = worker === undefined ? ended() : await ask(worker, request);
    if (reply instanceof Error) this.#worker = undefined;
    return reply;
  }
}

function startThread(location: string): Worker {
  // From its text, so that it is there when everything has been bundled into one file.
  const worker = new Worker(`(${serveCheckpoints.toString()})(${readPieces.toString()})`, {
    eval: true,
    execArgv: [],
    name: "checkpointer",
    workerData: location,
  });
  worker.on("error", () => {}); // whoever waits for an answer is told
  return worker;
}

function resultOf(reply: Reply | Error): CheckpointResult {
  if (reply instanceof Error) return { error: reply };
  if (reply.error === undefined) return { isWhole: reply.isWhole === true, reading: reply.reading };
  return { error: Object.assign(new Error(reply.error.message), { errcode: reply.error.errcode }) };
}

/** The worker's answer, or why there is none. The process stays alive until then. */
function ask(worker: Worker, request: Request): Promise<Reply | Error> {
  return new Promise((resolve) => {
    const end = (reply: Reply | Error): void => {
      worker.off("message", end).off("error", end).off("exit", onExit);
      worker.unref();
      resolve(reply);
    };
    const onExit = (): void => end(ended());
    worker.once("message", end).once("error", end).once("exit", onExit);
    worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    worker.postMessage(request);
  });
}

function ended(): Error {
  return new Error("the checkpoint thread has ended");
}

/** Runs in the worker, from its text, as does what it is given: it may use nothing of this module but types. */
function serveCheckpoints(read: typeof readPieces): void {
  const { parentPort, workerData: location } = process.getBuiltinModule("node:worker_threads") as {
    readonly parentPort: MessagePort | null;
    readonly workerData: string;
  };
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  let opened: InstanceType<typeof DatabaseSync> | undefined;
  function open(): InstanceType<typeof DatabaseSync> {
    if (opened !== undefined) return opened;
    const db = new DatabaseSync(location);
    try {
      // The last one makes SQLite open the log.
      db.exec("PRAGMA busy_timeout = 1000; PRAGMA synchronous = FULL");
      db.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA schema_version");
    } catch (error) {
      db.close();
      throw error;
    }
    return (opened = db);
  }
  function checkpoint(): boolean {
    const { busy, log, checkpointed } = open().prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as Record<
      string,
      number
    >;
    return busy === 0 && log === checkpointed;
  }
  function readable(pieces: readonly Pieces[]): Reading | undefined {
    try {
      return read(pieces);
    } catch {
      return undefined;
    }
  }
  function serve({ task, pieces }: Request): Reply {
    if (task === "close") opened?.close();
    else if (task === "open") open();
    else if (checkpoint()) return { isWhole: true, reading: pieces && readable(pieces) };
    return { isWhole: false };
  }
  parentPort?.on("message", (request: Request) => {
    let reply: Reply;
    try {
      reply = serve(request);
    } catch (error) {
      const { message, errcode } = error as Error & { readonly errcode?: number };
      reply = { error: { message, errcode } };
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    parentPort.postMessage(reply);
  });
}
