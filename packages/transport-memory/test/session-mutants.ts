import { BridgeError, type Connection } from "@bridge/ports";
import { bind, disposedOnce, type Mutant, NEVER } from "./mutant.ts";

/** Sessions that connect, subscribe or end wrongly. */
export const SESSION_MUTANTS: readonly Mutant[] = [
  {
    fault: "connects once",
    caughtBy: "source session: connects, closes and connects again",
    session(sound) {
      let connected = false;
      return {
        async connect(signal) {
          if (connected) throw new BridgeError("INTERNAL", "connected before");
          connected = true;
          return sound.connect(signal);
        },
      };
    },
  },
  {
    fault: "names a cause when its connection is closed",
    caughtBy: "target session: connects, closes and connects again",
    ...onConnection((sound) => ({
      closed: sound.closed.then((cause) => cause ?? new BridgeError("CONNECTION_LOST", "closed")),
    })),
  },
  {
    fault: "does not say that a connection is gone",
    caughtBy: "source session: a connection that is cut settles closed with a transient error",
    hangs: true,
    ...onConnection(() => ({ closed: new Promise(() => {}) })),
  },
  {
    fault: "does not say why a connection is gone",
    caughtBy: "target session: a connection that is cut settles closed with a transient error",
    ...onConnection((sound) => ({ closed: sound.closed.then(() => undefined) })),
  },
  {
    fault: "lets closed reject",
    caughtBy: "source session: a connection that is cut settles closed with a transient error",
    ...onConnection((sound) => {
      const closed = sound.closed.then((cause) => {
        throw cause ?? new BridgeError("CONNECTION_LOST", "closed");
      });
      closed.catch(() => {});
      return { closed };
    }),
  },
  {
    fault: "closes the connection that is open when a lost one is disposed",
    caughtBy: "source session: disposing a lost connection does nothing",
    session(sound) {
      let newest: Connection | undefined;
      return {
        async connect(signal) {
          const made = await sound.connect(signal);
          newest = made;
          return bind(made, { [Symbol.asyncDispose]: async () => newest?.[Symbol.asyncDispose]() });
        },
      };
    },
  },
  {
    fault: "has connections that cannot be disposed twice",
    caughtBy: "target session: disposing a connection twice is once",
    ...onConnection(disposedOnce),
  },
  {
    fault: "takes a refused connection for a permanent failure",
    caughtBy: "source session: a refused connection is a transient error",
    session: (sound) => ({
      connect: (signal) =>
        sound.connect(signal).catch((error: unknown) => {
          throw new BridgeError("NOT_AUTHORIZED", "refused", { cause: error });
        }),
    }),
  },
  {
    fault: "leaves a refused connection unclassified",
    caughtBy: "target session: a refused connection is a transient error",
    session: (sound) => ({
      connect: (signal) =>
        sound.connect(signal).catch((error: unknown) => {
          throw new Error("ECONNREFUSED", { cause: error });
        }),
    }),
  },
  {
    fault: "does not notice that the signal of an attempt aborts",
    caughtBy: "source session: an attempt whose signal aborts rejects",
    hangs: true,
    session: (sound) => ({ connect: () => sound.connect(NEVER) }),
  },
  {
    fault: "acknowledges subscriptions once",
    caughtBy: "source session: reconciling makes the wanted subscriptions, and twice is once",
    ...onConnection((sound) => {
      let reconciled = false;
      return {
        async reconcile(signal) {
          if (reconciled) return new Set();
          reconciled = true;
          return sound.reconcile(signal);
        },
      };
    }),
  },
  {
    fault: "does not know what its receivers want",
    caughtBy: "source session: reconciling makes the wanted subscriptions, and twice is once",
    session: () => ({ subscriptions: new Set() }),
  },
  {
    fault: "subscribes on a target",
    caughtBy: "target session: reconciling makes the wanted subscriptions, and twice is once",
    ...onConnection(() => ({ reconcile: async () => new Set(["all"]) })),
  },
  {
    fault: "goes on listening to the signal of an attempt",
    caughtBy: "target session: leaves no listener on the signal of an attempt",
    session: (sound) => ({
      connect(signal) {
        signal.addEventListener("abort", () => {});
        return sound.connect(signal);
      },
    }),
  },
  {
    fault: "leaves its connection open when it is disposed",
    caughtBy: "source session: disposing the session closes its connection, and twice is once",
    hangs: true,
    session: () => ({ async [Symbol.asyncDispose]() {} }),
  },
  {
    fault: "has sessions that cannot be disposed twice",
    caughtBy: "target session: disposing the session closes its connection, and twice is once",
    session: disposedOnce,
  },
];

function onConnection(change: (sound: Connection) => Partial<Connection>): Pick<Mutant, "session"> {
  return {
    session: (sound) => ({
      async connect(signal) {
        const made = await sound.connect(signal);
        return bind(made, change(made));
      },
    }),
  };
}
