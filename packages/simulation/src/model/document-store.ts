import { openMemoryConfig } from "@bridge/memory";
import {
  BridgeError,
  type Clock,
  type ConfigChange,
  type ConfigStaging,
  type ConfigStore,
  type StoredConfig,
} from "@bridge/ports";
import { deadline, jsonConfigTexts } from "@bridge/ports/internal";
import type { Owner } from "../time/virtual-time.ts";
import { NEVER } from "./dlq-parts.ts";
import { DocumentSight, type Watched } from "./document-sight.ts";
import { fileDepartures } from "./file-departures.ts";
import { fileLeftVersions } from "./file-left-versions.ts";
import { fileProbations } from "./file-probations.ts";
import type { KeptDocument } from "./kept-document.ts";

/** How often a store checks whether others have written. */
const POLL_MS = 2_000;

const ANSWER_MS = 10_000;

/** The document as one process has it: the real memory store on it, behind a network, or on a disk that hangs. */
export function documentStore(kept: KeptDocument, owner: Owner, clock: Clock): ConfigStore {
  const { service, held } = kept;
  const { shared } = kept.options.habits;
  const real = openMemoryConfig(held);
  const sight = new DocumentSight();
  const ask = async <Answer>(signal: AbortSignal, work: () => Promise<Answer>): Promise<Answer> => {
    if (!shared) return service.ask(owner, signal, { work });
    // A caller of a server gives up in the end; one that waits for a disk keeps waiting.
    using bound = deadline(clock, ANSWER_MS, new BridgeError("TIMEOUT", "the store of the document does not answer"));
    return await service.ask(owner, AbortSignal.any([signal, bound.signal]), { work });
  };
  const onEnd = (): void => kept.options.moments?.comes("tried", owner);
  /** What is there, as a change. */
  const look = async (signal: AbortSignal): Promise<ConfigChange> => {
    const [change, staged] = await ask(signal, async () => [whatIsThere(kept), held.staged] as const);
    sight.staged = staged;
    return change;
  };
  async function* changes(watched: Watched, signal: AbortSignal): AsyncGenerator<ConfigChange> {
    try {
      while (await passed(clock.delay(POLL_MS, signal))) {
        const { turn } = sight;
        const change = turn === undefined ? undefined : await look(signal).catch(() => undefined);
        if (signal.aborted) return;
        if (change === undefined || sight.turn !== turn || nameOf(change) === watched.seen) continue;
        watched.seen = sight.seen = nameOf(change);
        yield change;
      }
    } finally {
      sight.watches.delete(watched);
    }
  }
  return {
    source: "the simulated document",
    get seen() {
      return sight.seen;
    },
    async load(signal) {
      const change = await look(signal);
      sight.seen = nameOf(change);
      if (change.kind === "unreadable") throw change.error;
      return change.kind === "changed" ? change.stored : undefined;
    },
    async write(document, expected, signal) {
      const work = async (): Promise<StoredConfig | undefined> => {
        const done = kept.away === undefined ? await real.write(document, expected, NEVER) : undefined;
        if (done !== undefined) kept.noteWritten("written", done);
        return done;
      };
      return sight.writing(
        () => ask(signal, work),
        (written) => written?.revision,
      );
    },
    async restore(former, current, signal) {
      const work = async (): Promise<boolean> => {
        const is = kept.away === undefined && (await real.restore(former, current, NEVER));
        if (is) kept.options.auditor.documents.putBack(current.version);
        if (is) kept.noteWritten("put back", former);
        return is;
      };
      return sight.writing(
        () => ask(signal, work),
        (done) => (done ? former.revision : undefined),
      );
    },
    watch(signal) {
      const watched: Watched = { seen: sight.seen };
      sight.watches.add(watched);
      return changes(watched, signal);
    },
    history: {
      append: (entry, signal) => ask(signal, async () => real.history?.append(entry, NEVER)),
      list: (signal) => ask(signal, async () => (await real.history?.list(NEVER)) ?? []),
    },
    texts: jsonConfigTexts,
    versions: {
      list: (signal) => ask(signal, async () => listed(kept, (await real.versions?.list(NEVER)) ?? [])),
      load: (version, signal) =>
        ask(signal, async () => {
          const left = kept.left.find(({ stored }) => stored.version === version)?.stored;
          return left ?? real.versions?.load(version, NEVER);
        }),
      keepReverted: (reverted, signal) => ask(signal, async () => real.versions?.keepReverted(reverted, NEVER)),
      ...(!shared && { left: fileLeftVersions(kept, ask) }),
    },
    ...(shared
      ? { staging: stagingOf(kept, real.staging, ask, sight, onEnd) }
      : {
          probations: fileProbations({ kept, owner, ask, sight, onEnd }),
          departures: fileDepartures(kept, owner, ask),
        }),
    async [Symbol.asyncDispose]() {
      kept.letGo(owner);
    },
  };
}

/** The newest first, with those that have left something. */
function listed({ left }: KeptDocument, versions: readonly number[]): readonly number[] {
  return [...new Set([...left.map(({ stored }) => stored.version), ...versions])].toSorted((a, b) => b - a);
}

function passed(delay: Promise<void>): Promise<boolean> {
  return delay.then(
    () => true,
    () => false,
  );
}

function nameOf(change: ConfigChange): string {
  return change.kind === "changed" ? change.stored.revision : change.kind;
}

function whatIsThere({ away, stored }: KeptDocument): ConfigChange {
  if (away === "missing") return { kind: "missing" };
  if (away === "unreadable") return { kind: "unreadable", error: new Error("the document cannot be read") };
  if (away === "empty")
    return { kind: "changed", stored: { version: 0, revision: "empty", document: Object.freeze({}) } };
  return { kind: "changed", stored };
}

export type Ask = <Answer>(signal: AbortSignal, work: () => Promise<Answer>) => Promise<Answer>;

/** What is staged beside the document, as far as this process knows. */
function stagingOf(
  kept: KeptDocument,
  real: ConfigStaging | undefined,
  ask: Ask,
  sight: DocumentSight,
  onEnd: () => void,
): ConfigStaging {
  if (real === undefined) throw new Error("the memory store stages documents");
  return {
    get seen() {
      return sight.staged;
    },
    async look(signal) {
      return (sight.staged = await ask(signal, () => real.look(NEVER)));
    },
    async stage(document, expected, request, signal) {
      const done = await ask(signal, async () => {
        const is = await real.stage(document, expected, request, NEVER);
        if (is !== undefined) kept.noteTried(is, request.until);
        return is;
      });
      if (done !== undefined) sight.staged = done;
      return done;
    },
    async confirm(staging, signal) {
      onEnd();
      const work = async (): Promise<boolean> => {
        const before = kept.stored.revision;
        const is = kept.away === undefined && (await real.confirm(staging, NEVER));
        if (is && before !== staging.revision) kept.noteWritten("confirmed", staging);
        if (is) kept.options.auditor.documents.stays(staging.version);
        return is;
      };
      const done = await sight.writing(
        () => ask(signal, work),
        (is) => (is ? staging.revision : undefined),
      );
      sight.staged = undefined;
      return done;
    },
    async discard(staging, signal) {
      const did = await ask(signal, () => real.discard(staging, NEVER));
      sight.staged = undefined;
      return did;
    },
  };
}
