import type { ProcessorConfig, ReceiverConfig, Registry, SenderConfig, SessionConfig } from "@bridge/config";
import type {
  Processor,
  Receiver,
  ReceiverContext,
  Seams,
  Sender,
  Session,
  SessionContext,
  TransportPlugin,
} from "@bridge/ports";
import { builtPart, type PartKind } from "./built-part.ts";
import { discard } from "./discard.ts";

/** Has plugins build parts, and keeps track of them until it is known whether they will be used. */
export class PluginParts {
  readonly #registry: Registry;
  readonly #seams: Seams;
  readonly #made: unknown[] = [];

  constructor(registry: Registry, seams: Seams) {
    this.#registry = registry;
    this.#seams = seams;
  }

  session({ id, transport, options }: SessionConfig, context: SessionContext): Session {
    const { session: factory } = this.#transport(transport);
    if (factory === undefined) throw new Error(`transport "${transport}" has no sessions`);
    return this.#hold(factory.create(options, context), "session", builtBy(transport, "session", id));
  }

  receiver({ id, transport, options }: ReceiverConfig, context: ReceiverContext): Receiver {
    const { receiver: factory } = this.#transport(transport);
    if (factory === undefined) throw new Error(`transport "${transport}" has no receiver`);
    return this.#hold(factory.create(options, context), "receiver", builtBy(transport, "receiver", id));
  }

  sender({ id, transport, options }: SenderConfig, session: Session | undefined): Sender {
    const { sender: factory } = this.#transport(transport);
    if (factory === undefined) throw new Error(`transport "${transport}" has no sender`);
    const built = factory.create(options, { ...this.seams(id, { sender_id: id }), session });
    return this.#hold(built, "sender", builtBy(transport, "sender", id));
  }

  processor({ id, type, options }: ProcessorConfig): Processor {
    const plugin = this.#registry.processors.get(type);
    if (plugin === undefined) throw new Error(`no processor plugin is registered for type "${type}"`);
    const built = plugin.create(options, this.seams(id, { processor_id: id }));
    return this.#hold(built, "processor", `create of the processor plugin "${type}", for "${id}",`);
  }

  /** How traces name the system behind a transport. */
  system(transport: string): string {
    return this.#transport(transport).messagingSystem ?? transport;
  }

  /** The seams given to every part. */
  seams(id: string, fields: Readonly<Record<string, string>>): Seams & { readonly id: string } {
    const { clock, random, logger } = this.#seams;
    return { id, clock, random, logger: logger.child(fields) };
  }

  /** Ends everything built: it will not be used. */
  discard(): void {
    for (const part of this.#made) discard(part);
  }

  #hold<Part>(built: Part, kind: PartKind, by: string): Part {
    const part = builtPart(built, kind, by);
    this.#made.push(part);
    return part;
  }

  #transport(type: string): TransportPlugin {
    const plugin = this.#registry.transports.get(type);
    if (plugin === undefined) throw new Error(`no transport plugin is registered for type "${type}"`);
    return plugin;
  }
}

function builtBy(transport: string, kind: "session" | "receiver" | "sender", id: string): string {
  return `${kind}.create of the transport plugin "${transport}", for "${id}",`;
}
