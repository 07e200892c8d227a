import { formatPath, type Path, type Problem } from "@bridge/config";
import type { ReceiverDefinition, SenderDefinition, TransportMaker, TransportPlugin } from "@bridge/ports";

interface Uses {
  /** Where it was named first. */
  readonly place: Path;
  readonly receivers: Map<string, ReceiverDefinition>;
  readonly senders: Map<string, SenderDefinition>;
}

/** The transports that a definition names, each with the parts that name it. */
export class TransportsUsed {
  readonly #uses = new Map<TransportMaker, Uses>();

  /** Another transport of the same type would need a name of its own: nothing in a document tells the two apart. */
  problemWith(transport: TransportMaker, place: Path): Problem | undefined {
    if (this.#uses.has(transport)) return undefined;
    for (const [{ type }, { place: first }] of this.#uses) {
      if (type !== transport.type) continue;
      const message = `is of another transport "${type}" than ${formatPath(first)}: make both with the same one`;
      return { path: place, message };
    }
    return undefined;
  }

  /** The parts of a transport, which a part at `place` names. */
  of(transport: TransportMaker, place: Path): Uses {
    let uses = this.#uses.get(transport);
    if (uses === undefined) {
      uses = { place, receivers: new Map(), senders: new Map() };
      this.#uses.set(transport, uses);
    }
    return uses;
  }

  /** A plugin of each, for one bridge. */
  plugins(): readonly TransportPlugin[] {
    return [...this.#uses].map(([transport, uses]) => transport.plugin(uses));
  }
}
