import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { BridgeError, type Clock, type Delivery, type Receiver, type SourceMessage } from "@bridge/ports";
import { fileError } from "./file-error.ts";
import { decodeMessage } from "./message-file.ts";

/** Hands out the files of a folder, oldest first. A file stays until its message is accepted: that is the whole of redelivery. */
export class SpoolReceiver implements Receiver {
  readonly #folder: string;
  readonly #pollMs: number;
  readonly #clock: Clock;
  readonly #disposed = new AbortController();

  constructor(folder: string, pollMs: number, clock: Clock) {
    this.#folder = folder;
    this.#pollMs = pollMs;
    this.#clock = clock;
  }

  /** Building opens nothing; this is where it is found out that the folder cannot be used. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
  }

  async *receive(signal: AbortSignal): AsyncGenerator<Delivery, void, undefined> {
    const ended = AbortSignal.any([signal, this.#disposed.signal]);
    // What is handed out and not settled. It ends with the iteration, so everything unsettled comes again with the next.
    const held = new Set<string>();
    while (!ended.aborted) {
      let idle = true;
      for (const name of await this.#names()) {
        if (ended.aborted) return;
        const delivery = held.has(name) ? undefined : await this.#take(name, held);
        if (delivery === undefined) continue;
        idle = false;
        yield delivery;
      }
      if (idle) await this.#clock.delay(this.#pollMs, ended).catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort();
  }

  /** @throws BridgeError when the folder cannot be read; the engine then asks again, with backoff */
  async #names(): Promise<readonly string[]> {
    try {
      const names = await readdir(this.#folder);
      return names.filter((name) => name.endsWith(".json") && !name.startsWith(".")).toSorted();
    } catch (thrown) {
      throw fileError("the spool cannot be read", thrown);
    }
  }

  /** `undefined` when the file has gone meanwhile. */
  async #take(name: string, held: Set<string>): Promise<Delivery | undefined> {
    const path = join(this.#folder, name);
    let bytes: Uint8Array;
    try {
      bytes = await readFile(path);
    } catch (thrown) {
      const error = fileError("a file of the spool cannot be read", thrown);
      if (error.code === "DESTINATION_NOT_FOUND") return undefined;
      throw error;
    }
    held.add(name);
    const settle = async (): Promise<void> => {
      try {
        await rm(path, { force: true });
      } catch (thrown) {
        throw fileError("a file of the spool cannot be removed", thrown);
      }
      held.delete(name);
    };
    // The source does not count and cannot wait for us: no receive count, not releasable. The engine does both.
    return { ...messageIn(bytes), settle };
  }
}

/** A file that is no message still has bytes that somebody may need: the engine keeps them as a dead letter. */
function messageIn(bytes: Uint8Array): { readonly message: SourceMessage; readonly undecodable?: BridgeError } {
  try {
    return { message: decodeMessage(bytes) };
  } catch (cause) {
    const undecodable = new BridgeError("INVALID_PAYLOAD", "the file is no message", { cause });
    return { message: { subject: "", payload: bytes }, undecodable };
  }
}
