import { type BridgeDocument, formatPath, type Path, type Problem } from "@bridge/config";
import type {
  NamedOptions,
  PartOptions,
  ProcessorDefinition,
  ProcessorPlugin,
  ReceiverDefinition,
  SenderDefinition,
  SessionDefinition,
  TransportMaker,
} from "@bridge/ports";
import { Places } from "./places.ts";
import { TransportsUsed } from "./transports-used.ts";

type List = "sessions" | "receivers" | "senders" | "bindings" | "processors";
type Lists = { readonly [K in List]: NonNullable<BridgeDocument[K]>[number][] };

/** What is shared by identity. */
type Shared = SessionDefinition | SenderDefinition | ProcessorDefinition;

/** The parts of a document, as a definition names them one after another; what is shared by identity stands there once. */
export class DocumentParts {
  readonly lists: Lists = { sessions: [], receivers: [], senders: [], bindings: [], processors: [] };
  /** How many routes there are so far. */
  routes = 0;
  readonly places = new Places();
  /** The places of the document whose values are shown as references, besides those of secrets. */
  readonly hidden: Path[] = [];
  readonly problems: Problem[] = [];
  readonly transports = new TransportsUsed();
  readonly processorPlugins = new Map<string, ProcessorPlugin>();
  readonly #ids = new Map<Shared, string>();

  /** Adds a session when it is new, called like its transport where it has no name; returns its id. */
  session(session: SessionDefinition, place: Path, name = session.transport.type): string {
    return this.#once(session, name, (id) => {
      const other = this.lists.sessions.findIndex((block) => block.id === id);
      if (other !== -1) this.problems.push({ path: place, message: sameName(id, this.#placeOf("sessions", other)) });
      this.#use(session.transport, place);
      const { mode, options, hidden = [] } = session;
      const block = {
        id,
        transport: session.transport.type,
        ...(mode !== undefined && { session_mode: mode }),
        options,
      };
      const path = this.#add("sessions", block, place);
      for (const key of hidden) this.hidden.push([...path, "options", key]);
    });
  }

  receiver(receiver: ReceiverDefinition, place: Path, id: string): void {
    const { transport, session, topics } = receiver;
    this.#use(transport, place).receivers.set(id, receiver);
    const linked = session && { session_id: this.session(session, [...place, "session"]) };
    const block = { id, transport: transport.type, ...linked, ...(topics && { topics }) };
    this.#add("receivers", { ...block, options: optionsOf(receiver.options, id) }, place);
  }

  /** Adds a sender when it is new; returns its id. */
  sender(sender: SenderDefinition, place: Path, wanted: string): string {
    return this.#once(sender, this.#free("senders", wanted), (id) => {
      const { transport, session, rate_limit } = sender;
      this.#use(transport, place).senders.set(id, sender);
      const linked = session && { session_id: this.session(session, [...place, "session"]) };
      const block = { id, transport: transport.type, ...linked, ...(rate_limit && { rate_limit }) };
      this.#add("senders", { ...block, options: optionsOf(sender.options, id) }, place);
    });
  }

  /** Adds a processor when it is new; returns its id. */
  processor(processor: ProcessorDefinition, place: Path, wanted: string): string {
    return this.#once(processor, this.#free("processors", wanted), (id) => {
      const { plugin, options } = processor;
      const known = this.processorPlugins.get(plugin.type) ?? plugin;
      if (known !== plugin) this.problems.push({ path: place, message: this.#otherPlugin(plugin) });
      this.processorPlugins.set(plugin.type, known);
      this.#add("processors", { id, type: plugin.type, options }, place);
    });
  }

  binding(block: Lists["bindings"][number], place: Path): void {
    this.#add("bindings", block, place);
  }

  #once(part: Shared, wanted: string, add: (id: string) => void): string {
    const known = this.#ids.get(part);
    if (known !== undefined) return known;
    this.#ids.set(part, wanted);
    add(wanted);
    return wanted;
  }

  #use(transport: TransportMaker, place: Path): ReturnType<TransportsUsed["of"]> {
    const problem = this.transports.problemWith(transport, place);
    if (problem !== undefined) this.problems.push(problem);
    return this.transports.of(transport, place);
  }

  /** `wanted`, or that with a number when another part has it. */
  #free(list: "senders" | "processors", wanted: string): string {
    const taken = new Set<string>(this.lists[list].map(({ id }) => id));
    let id = wanted;
    for (let count = 2; taken.has(id); count++) id = `${wanted}-${count}`;
    return id;
  }

  #add<K extends List>(list: K, block: Lists[K][number], place: Path): Path {
    const path = [list, this.lists[list].length];
    (this.lists[list] as Lists[K][number][]).push(block);
    this.places.set(path, place);
    return path;
  }

  /** Nothing in a document would tell the two apart. */
  #otherPlugin({ type }: ProcessorPlugin): string {
    const first = this.lists.processors.findIndex((block) => block.type === type);
    return `is made by another plugin "${type}" than ${this.#placeOf("processors", first)}: make both with the same one, and with one threadUrl if it has any`;
  }

  #placeOf(list: List, index: number): string {
    return formatPath(this.places.of({ path: [list, index], message: "" }).path);
  }
}

function optionsOf(options: PartOptions | NamedOptions, id: string): PartOptions {
  return typeof options === "function" ? options(id) : options;
}

function sameName(id: string, other: string): string {
  return `the session at ${other} is called "${id}", too, and brokers may know sessions by their names: name both under sessions`;
}
