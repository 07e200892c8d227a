import { type Delivery, systemClock } from "@bridge/ports";
import { disposedOnce, type Mutant, NEVER, onDelivery, onIterator } from "./mutant.ts";

const ACCEPT = { kind: "accept", outcome: "delivered", envelopeId: "mutant" } as const;

/** Sources that settle, end or go on wrongly. */
export const SOURCE_MUTANTS: readonly Mutant[] = [
  {
    fault: "settles what it hands out",
    caughtBy: "source: what is unsettled comes back after the consumer has gone",
    hangs: true,
    ...onDelivery((delivery) => {
      void delivery.settle(ACCEPT);
      return { settle: () => {} };
    }),
  },
  {
    fault: "does not tell the source",
    caughtBy: "source: what was accepted does not come back",
    ...onDelivery(() => ({ settle: () => {} })),
  },
  {
    fault: "loses what was unsettled when the connection was cut",
    caughtBy: "source: what is unsettled comes back after the connection was cut",
    hangs: true,
    ...onIterator((sound) => {
      const known = new Set<string>();
      return {
        async next() {
          for (;;) {
            const result = await sound.next();
            if (result.done === true) return result;
            const id = result.value.message.id ?? "";
            if (!known.has(id)) {
              known.add(id);
              return result;
            }
          }
        },
      };
    }),
  },
  {
    fault: "does not say that a delivery was taken back",
    caughtBy: "source: what is unsettled comes back after the connection was cut",
    ...onDelivery(() => ({ signal: undefined })),
  },
  {
    fault: "takes a settlement that comes too late",
    caughtBy: "source: a settlement that comes after the connection was cut is refused",
    ...onDelivery((delivery) => ({
      settle: async (settlement) => Promise.resolve(delivery.settle(settlement)).catch(() => {}),
    })),
  },
  {
    fault: "refuses a late settlement with an unclassified error",
    caughtBy: "source: a settlement that comes after the connection was cut is refused",
    ...onDelivery((delivery) => ({
      settle: async (settlement) =>
        Promise.resolve(delivery.settle(settlement)).catch(() => {
          throw new Error("too late");
        }),
    })),
  },
  {
    fault: "loses what is released",
    caughtBy: "source: a delivery that is released comes back",
    hangs: true,
    ...onDelivery((delivery) => ({ settle: () => delivery.settle(ACCEPT) })),
  },
  {
    fault: "releases at once",
    caughtBy: "source: a released delivery does not come back before its delay",
    ...onDelivery((delivery) => ({
      settle: (settlement) =>
        delivery.settle(settlement.kind === "release" ? { kind: "release", delayMs: 0 } : settlement),
    })),
  },
  {
    fault: "hides that it can release",
    caughtBy: "source: a delivery that is released comes back",
    ...onDelivery(() => ({ releasable: undefined })),
  },
  { fault: "counts to one", caughtBy: "source: receive counts grow", ...onDelivery(() => ({ receiveCount: 1 })) },
  {
    fault: "hands out the next when the last is settled",
    caughtBy: "source: deliveries held together settle in any order",
    hangs: true,
    ...oneAtATime(),
  },
  {
    fault: "throws when its signal aborts",
    caughtBy: "source: receive ends when its signal aborts, and can be called again",
    ...onIterator((sound, signal) => ({
      async next() {
        const result = await sound.next();
        if (result.done === true) signal.throwIfAborted();
        return result;
      },
    })),
  },
  {
    fault: "does not notice that its signal aborts",
    caughtBy: "source: receive ends when its signal aborts, and can be called again",
    hangs: true,
    receiver: (sound) => ({ receive: () => sound.receive(new AbortController().signal) }),
  },
  {
    fault: "can be received from once",
    caughtBy: "source: receive ends when its signal aborts, and can be called again",
    receiver(sound) {
      let calls = 0;
      return { receive: (signal) => sound.receive(calls++ === 0 ? signal : AbortSignal.abort()) };
    },
  },
  {
    fault: "waits although its signal has aborted before",
    caughtBy: "source: receive ends at once when its signal has aborted before",
    hangs: true,
    receiver: (sound) => ({
      receive: (signal) => sound.receive(signal.aborted ? new AbortController().signal : signal),
    }),
  },
  {
    fault: "ends when its connection is cut",
    caughtBy: "source: receive goes on after the connection was cut",
    ...onIterator((sound) => {
      let lost: AbortSignal | undefined;
      return {
        async next() {
          if (lost?.aborted === true) return { done: true, value: undefined };
          const cut = Promise.withResolvers<undefined>();
          lost?.addEventListener("abort", () => cut.resolve(undefined));
          const result = await Promise.race([sound.next(), cut.promise]);
          if (result === undefined || result.done === true) return { done: true, value: undefined };
          lost = result.value.signal;
          return result;
        },
      };
    }),
  },
  {
    fault: "hands out two and two the wrong way round",
    caughtBy: "source: what a stop leaves unsettled comes back in its order, before what is new",
    ...inPairs(),
  },
  {
    fault: "hands out two and two the wrong way round, also after the end of its process",
    caughtBy: "source: what the end of its process leaves unsettled comes back in its order",
    ...inPairs(),
  },
  {
    fault: "keeps for an instance what that instance has left",
    caughtBy: "source: what one instance leaves unsettled reaches another",
    hangs: true,
    ...keptForReplicas(),
  },
  {
    fault: "listens to its signal anew for each delivery",
    caughtBy: "source: leaves no listener on the signal of receive",
    ...onIterator((sound, signal) => ({
      next() {
        signal.addEventListener("abort", () => {});
        return sound.next();
      },
    })),
  },
  {
    fault: "goes on listening to its signal",
    caughtBy: "source: leaves no listener on the signal of receive",
    ...onIterator((_sound, signal) => {
      signal.addEventListener("abort", () => {});
      return {};
    }),
  },
  {
    fault: "has receivers that cannot be disposed twice",
    caughtBy: "source: disposing the receiver twice is once",
    receiver: disposedOnce,
  },
  {
    fault: "leaves receive blocked when the receiver is disposed",
    caughtBy: "source: disposing the receiver ends a blocked receive",
    hangs: true,
    receiver: () => ({ async [Symbol.asyncDispose]() {} }),
  },
];

/** A window of one. */
function oneAtATime(): Pick<Mutant, "receiver"> {
  let settled: Promise<void> | undefined;
  return {
    receiver(sound) {
      const { receive } = onIterator((iterator) => ({
        async next() {
          await settled;
          return iterator.next();
        },
      })).receiver(sound);
      const held = onDelivery((delivery) => {
        const told = Promise.withResolvers<void>();
        settled = told.promise;
        return {
          settle(settlement) {
            told.resolve();
            return delivery.settle(settlement);
          },
        };
      });
      return held.receiver({ ...sound, receive: receive!, [Symbol.asyncDispose]: () => sound[Symbol.asyncDispose]() });
    },
  };
}

/** The second of two that wait is handed out before the first. */
function inPairs(): Required<Pick<Mutant, "receiver">> {
  return onIterator((sound) => {
    let ahead: Promise<IteratorResult<Delivery>> | undefined;
    return {
      async next() {
        if (ahead !== undefined) {
          const held = ahead;
          ahead = undefined;
          return held;
        }
        const first = sound.next();
        const [one, other] = await Promise.all([first, Promise.race([sound.next(), systemClock.delay(50, NEVER)])]);
        if (other === undefined || one.done === true) return one;
        ahead = Promise.resolve(one);
        return other;
      },
    };
  });
}

/** What was handed to one instance is handed to no other. */
function keptForReplicas(): Required<Pick<Mutant, "receiver">> {
  const keepers = new Map<string, string | undefined>();
  return {
    receiver: (receiver, replica) =>
      onIterator((sound) => ({
        async next() {
          for (;;) {
            const result = await sound.next();
            if (result.done === true) return result;
            const id = result.value.message.id ?? "";
            if (!keepers.has(id)) keepers.set(id, replica);
            if (keepers.get(id) === replica) return result;
          }
        },
      })).receiver(receiver),
  };
}
