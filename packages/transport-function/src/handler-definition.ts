import type {
  NamedOptions,
  Sender,
  SenderContext,
  SenderDefinition,
  SenderRateLimit,
  TransportMaker,
} from "@bridge/ports";
import type { HandlerOptions } from "./handler-options.ts";

/** Builds the sender of a handler, under the name that it has in the configuration. */
export type MakeSender = (name: string, context: SenderContext) => Sender;

/** A target in code: what `handler` makes. Stands in `to` of a route, or under a name in `functionTransport`. */
export class Handler implements SenderDefinition {
  readonly kind = "sender";
  readonly transport: TransportMaker;
  readonly options: NamedOptions = (id) => ({ handler: id });
  readonly rate_limit: SenderRateLimit | undefined;
  readonly #make: MakeSender;

  constructor(transport: TransportMaker, make: MakeSender, { rate_limit }: HandlerOptions = {}) {
    this.transport = transport;
    this.rate_limit = rate_limit;
    this.#make = make;
  }

  /** For the transport. */
  sender(name: string, context: SenderContext): Sender {
    return this.#make(name, context);
  }
}
