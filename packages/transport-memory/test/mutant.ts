import type { TransportCaseName } from "@bridge/conformance";
import type {
  Delivery,
  Receiver,
  ReceiverContext,
  Sender,
  SenderContext,
  Session,
  SourceMessage,
  TransportPlugin,
} from "@bridge/ports";
import { type MemoryHub } from "../src/index.ts";
import { memoryTransport } from "../src/memory-transport.ts";

/** The parts of a memory transport that differ from the sound ones. */
export interface MutantParts {
  /** `replica` is the instance whose session it is built on. */
  readonly receiver?: (sound: Receiver, replica?: string) => Partial<Receiver>;
  readonly sender?: (sound: Sender, hub: MemoryHub) => Partial<Sender>;
  readonly session?: (sound: Session) => Partial<Session>;
}

/** A memory transport with a fault in it, which the suite must find. */
export interface Mutant extends MutantParts {
  /** What is wrong with the transport: "a transport that …". */
  readonly fault: string;
  readonly caughtBy: TransportCaseName;
  /** The suite finds it only by waiting in vain. */
  readonly hangs?: true;
}

/** The memory transport with these parts instead of its own. */
export function mutated(hub: MemoryHub, mutant: MutantParts): TransportPlugin {
  const { type, session, receiver, sender } = memoryTransport(hub);
  // A part may find its session again by what it was built as, so mutants remember the sound one.
  const sound = new Map<Session, Session>();
  const replicas = new Map<Session | undefined, string | undefined>();
  const withSound = <Context extends ReceiverContext | SenderContext>(context: Context): Context => ({
    ...context,
    session: context.session && (sound.get(context.session) ?? context.session),
  });
  return {
    type,
    session: {
      ...session!,
      create(options, context) {
        const made = session!.create(options, context);
        const broken = bind(made, mutant.session?.(made));
        sound.set(broken, made);
        replicas.set(broken, context.replica);
        return broken;
      },
    },
    receiver: {
      ...receiver!,
      create(options, context) {
        const made = receiver!.create(options, withSound(context));
        return bind(made, mutant.receiver?.(made, replicas.get(context.session)));
      },
    },
    sender: {
      ...sender!,
      create(options, context) {
        const made = sender!.create(options, withSound(context));
        return bind(made, mutant.sender?.(made, hub));
      },
    },
  };
}

/** `sound` with some of its members replaced. */
export function bind<T extends object>(sound: T, replaced: Partial<T> = {}): T {
  return new Proxy(sound, {
    get(target, name) {
      const source: object = name in replaced ? replaced : target;
      const member: unknown = Reflect.get(source, name, source);
      return typeof member === "function" ? member.bind(source) : member;
    },
  });
}

/** Changes each delivery on its way out. */
export function onDelivery(change: (delivery: Delivery) => Partial<Delivery>): Required<Pick<Mutant, "receiver">> {
  return onIterator((sound) => ({
    async next() {
      const result = await sound.next();
      return result.done === true ? result : { done: false, value: bind(result.value, change(result.value)) };
    },
  }));
}

/** Changes each message on its way out of a source. */
export function onReceived(change: (message: SourceMessage) => Partial<SourceMessage>): Pick<Mutant, "receiver"> {
  return onDelivery(({ message }) => ({ message: { ...message, ...change(message) } }));
}

/** Changes the iterations of a receiver. */
export function onIterator(
  change: (sound: AsyncIterator<Delivery>, signal: AbortSignal) => Partial<AsyncIterator<Delivery>>,
): Required<Pick<Mutant, "receiver">> {
  return {
    receiver: (receiver) => ({
      receive: (signal) => ({
        [Symbol.asyncIterator]() {
          const sound = receiver.receive(signal)[Symbol.asyncIterator]();
          return bind(sound, change(sound, signal));
        },
      }),
    }),
  };
}

/** Lets the second disposal fail. */
export function disposedOnce(sound: AsyncDisposable): AsyncDisposable {
  let disposed = false;
  return {
    async [Symbol.asyncDispose]() {
      if (disposed) throw new Error("disposed twice");
      disposed = true;
      await sound[Symbol.asyncDispose]();
    },
  };
}

export const NEVER = new AbortController().signal;
