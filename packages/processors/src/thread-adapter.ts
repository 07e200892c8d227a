import { type ProcessorAdapter, processorAdapter, type ProcessorDefinition, type ProcessorPlugin } from "@bridge/ports";
import { givenOptions, threadProgram } from "@bridge/ports/internal";

/** What programs may say of the thread in which a processor works. */
export interface ThreadOptions {
  /**
   * The file that a bundler has made of `@bridge/processors/thread`. What is no file is refused when the bridge is put together. Default: `@bridge/processors/thread`, which is found when nothing is bundled.
   */
  readonly threadUrl?: URL | undefined;
}

/** A processor that works in a thread: options of the thread stand beside its own, and never in a document. */
export interface ThreadAdapter<Options> extends ProcessorAdapter<Options & ThreadOptions> {
  /** The same processor with a thread from elsewhere, for a registry: `processors: [transform.with({ threadUrl })]`. */
  with(thread: ThreadOptions): ProcessorAdapter<Options>;
}

/**
 * The program of the thread of the processor with this id.
 * @throws Error with the remedy when it is not there
 */
export type Program = (id: string) => URL;

/**
 * Makes a processor that programs call with its options. `pluginOf` makes its plugin for one program of the thread, which is
 * sought when a processor is made.
 */
export function threadAdapter<Options extends object>(
  pluginOf: (program: Program) => ProcessorPlugin,
): ThreadAdapter<Options> {
  // One for each program, so that all parts of a bridge that name one program have one plugin.
  const plugins = new Map<string, ProcessorPlugin>();
  const pluginWith = ({ threadUrl }: ThreadOptions): ProcessorPlugin => {
    const key = String(threadUrl ?? "");
    const plugin = plugins.get(key) ?? pluginOf((id) => programAt(threadUrl, id));
    plugins.set(key, plugin);
    return plugin;
  };
  const plain = pluginWith({});
  const define = (given: Options & ThreadOptions): ProcessorDefinition => {
    const { threadUrl, ...options } = givenOptions(`processor "${plain.type}"`, given);
    return { kind: "processor", plugin: pluginWith({ threadUrl }), options };
  };
  return Object.assign(define, plain, {
    with: (thread: ThreadOptions) => processorAdapter(pluginWith(givenOptions(`thread of "${plain.type}"`, thread))),
  });
}

/** Told while the bridge is put together, as a bad schema is, before anything is stopped. */
function programAt(threadUrl: URL | undefined, id: string): URL {
  const [entry, file, from] = ["@bridge/processors/thread", "processor-thread", import.meta.url];
  try {
    return threadProgram({ entry, file, from, threadUrl });
  } catch (cause) {
    throw new Error(`processor "${id}": ${(cause as Error).message}`, { cause });
  }
}
