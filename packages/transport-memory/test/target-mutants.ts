import { BridgeError, type Envelope, RESERVED } from "@bridge/ports";
import { disposedOnce, type Mutant, NEVER } from "./mutant.ts";

/** Senders that fail, or do not, as they should not. */
export const TARGET_MUTANTS: readonly Mutant[] = [
  {
    fault: "forgets the last byte of a payload that it sends",
    caughtBy: "target: carries every byte, 0x00 and 0xff first and last",
    ...onSent((envelope) => ({ ...envelope, payload: envelope.payload.subarray(0, -1) })),
  },
  {
    fault: "sends no empty header values",
    caughtBy: "target: carries an empty header value",
    ...onSentHeaders(([, value]) => value !== ""),
  },
  {
    fault: "sends an id of its own",
    caughtBy: "target: carries the id",
    ...onSent((envelope) => ({ ...envelope, id: crypto.randomUUID() })),
  },
  {
    fault: "sends no expiry",
    caughtBy: "target: carries the expiry",
    ...onSent((envelope) => {
      const { expiresAt: _, ...rest } = envelope;
      return rest;
    }),
  },
  {
    fault: "forgets the deduplication id when it sends",
    caughtBy: "target: carries the deduplication id",
    ...onSentHeaders(([name]) => name !== RESERVED.dedupId),
  },
  {
    fault: "sends reserved headers",
    caughtBy: "target: reserved headers stay behind, but for the causation id",
    sender: (_sound, hub) => ({
      async send(envelope, address) {
        hub.publish(address, envelope);
      },
    }),
  },
  {
    fault: "keeps the causation id back",
    caughtBy: "target: reserved headers stay behind, but for the causation id",
    ...onSentHeaders(([name]) => name !== RESERVED.causationId),
  },
  {
    fault: "drops a send while another is on its way",
    caughtBy: "target: sends that overlap all arrive",
    hangs: true,
    sender(sound) {
      let busy = false;
      return {
        async send(envelope, address, signal) {
          if (busy) return;
          busy = true;
          await sound.send(envelope, address, signal);
          busy = false;
        },
      };
    },
  },
  {
    fault: "sends although its signal has aborted before",
    caughtBy: "target: a send whose signal has aborted before rejects",
    sender: (sound) => ({ send: (envelope, address) => sound.send(envelope, address, NEVER) }),
  },
  {
    fault: "lets a value do what it likes to an address",
    caughtBy: "target: no value puts a control character into an address",
    sender: () => ({ addressing: { fill: (value) => value } }),
  },
  {
    fault: "does not notice that the signal of a send aborts",
    caughtBy: "target: a blocked send rejects when its signal aborts",
    hangs: true,
    sender: (sound) => ({
      async send(envelope, address, signal) {
        signal.throwIfAborted();
        await sound.send(envelope, address, NEVER);
      },
    }),
  },
  {
    fault: "does not wait for the target",
    caughtBy: "target: a send that is cut off fails as transient, and a later one succeeds",
    sender: (sound) => ({
      async send(envelope, address, signal) {
        sound.send(envelope, address, signal).catch(() => {});
      },
    }),
  },
  {
    fault: "takes a lost connection for a permanent failure",
    caughtBy: "target: a send that is cut off fails as transient, and a later one succeeds",
    ...onFailure(() => new BridgeError("DESTINATION_NOT_FOUND", "gone")),
  },
  {
    fault: "leaves failures unclassified",
    caughtBy: "target: a send that is cut off fails as transient, and a later one succeeds",
    ...onFailure(() => new Error("ECONNRESET")),
  },
  {
    fault: "charges a send that was not tried",
    caughtBy: "target: without a connection a send fails as transient",
    ...onFailure(() => new BridgeError("CONNECTION_LOST", "not connected")),
  },
  {
    fault: "waits for a connection",
    caughtBy: "target: without a connection a send fails as transient",
    hangs: true,
    ...onFailure(async () => new Promise<never>(() => {})),
  },
  {
    fault: "goes on listening to the signal of a send",
    caughtBy: "target: keeps one listener at most on the signal of many sends",
    sender: (sound) => ({
      send(envelope, address, signal) {
        signal.addEventListener("abort", () => {});
        return sound.send(envelope, address, signal);
      },
    }),
  },
  {
    fault: "has senders that cannot be disposed twice",
    caughtBy: "target: disposing the sender twice is once",
    sender: disposedOnce,
  },
  {
    fault: "leaves a send blocked when the sender is disposed",
    caughtBy: "target: disposing the sender ends a blocked send",
    hangs: true,
    sender: (sound) => ({
      async send(envelope, address, signal) {
        await sound.send(envelope, address, signal).catch(() => new Promise<never>(() => {}));
      },
    }),
  },
];

/** Changes each envelope before it is sent. */
function onSent(change: (envelope: Envelope) => Envelope): Pick<Mutant, "sender"> {
  return {
    sender: (sound) => ({ send: (envelope, address, signal) => sound.send(change(envelope), address, signal) }),
  };
}

/** Sends those headers only that `keep` keeps. */
function onSentHeaders(keep: (header: readonly [name: string, value: string]) => boolean): Pick<Mutant, "sender"> {
  return onSent((envelope) => ({
    ...envelope,
    headers: Object.fromEntries(Object.entries(envelope.headers).filter(keep)),
  }));
}

/** Lets a failed send fail with what `instead` gives. */
function onFailure(instead: () => Error | Promise<never>): Pick<Mutant, "sender"> {
  return {
    sender: (sound) => ({
      async send(envelope, address, signal) {
        try {
          await sound.send(envelope, address, signal);
        } catch {
          throw await instead();
        }
      },
    }),
  };
}
