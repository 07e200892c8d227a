import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Addressing, BridgeError, type Clock, type Envelope, type Random, type Sender } from "@bridge/ports";
import { fileError } from "./file-error.ts";
import { encodeMessage } from "./message-file.ts";

/** Writes each message as a file into the folder that the binding's address names. */
export class SpoolSender implements Sender {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #random: Random;
  #disposed = false;
  #written = 0;

  constructor(root: string, clock: Clock, random: Random) {
    this.#root = root;
    this.#clock = clock;
    this.#random = random;
  }

  /** What comes with a message may name a folder, but no path. */
  readonly addressing: Addressing = {
    fill(value) {
      if (/^[\w-][\w.-]*$/.test(value)) return value;
      throw new BridgeError("BINDING_UNRESOLVED", "a value for the address is no name of a folder");
    },
  };

  async send(envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#disposed) throw new BridgeError("UNAVAILABLE", "the sender is closed", { charged: false });
    const folder = join(this.#root, address);
    const name = `${this.#clock.now().toString().padStart(15, "0")}-${this.#random.id()}`;
    const temporary = join(folder, `.${name}`);
    try {
      await writeDurably(temporary, encodeMessage(envelope));
      // Too late is not accepted: the engine has stopped to listen and sends again.
      signal.throwIfAborted();
      await rename(temporary, join(folder, `${name}.json`));
      await syncFolder(folder);
      this.#written++;
    } catch (thrown) {
      await rm(temporary, { force: true }).catch(() => {});
      signal.throwIfAborted();
      throw fileError(`not written to ${address === "" ? "the spool" : address}`, thrown);
    }
  }

  counters(): Readonly<Record<string, number>> {
    return { written: this.#written };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A rename is durable when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
