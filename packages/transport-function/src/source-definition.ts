import type { NamedOptions, ReceiverDefinition, TransportMaker } from "@bridge/ports";
import type { SourceItem } from "./yielded.ts";

/** What a function that begins a source is given. */
export interface SourceContext {
  /** Ends when nothing more is taken from the iterable: give it to whatever the iterable waits for. */
  readonly signal: AbortSignal;
}

/** Begins a source: called when a bridge starts, and again after a stop and after a failure. */
export type BeginSource = (context: SourceContext) => AsyncIterable<SourceItem>;

/** A source in code: what `source` makes. Stands in `from` of a route, or under a name in `functionTransport`. */
export class Source implements ReceiverDefinition {
  readonly kind = "receiver";
  readonly transport: TransportMaker;
  readonly options: NamedOptions = (id) => ({ source: id });
  /** For the transport. */
  readonly begin: BeginSource;

  constructor(transport: TransportMaker, begin: BeginSource) {
    this.transport = transport;
    this.begin = begin;
  }
}
