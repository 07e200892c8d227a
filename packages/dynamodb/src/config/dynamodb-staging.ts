import { BridgeError, type ConfigStaging, type Random, type StagedConfig } from "@bridge/ports";
import type { Contents } from "./contents.ts";
import { textOf } from "./document-text.ts";
import type { DynamodbVersions } from "./dynamodb-versions.ts";
import { type Head, identityOf, stagedIn } from "./head.ts";
import { type Changed, changeHead, type Place, readHead, type Step } from "./head-item.ts";

export interface StagingOptions {
  readonly place: Place;
  readonly contents: Contents;
  readonly versions: DynamodbVersions;
  readonly random: Random;
  /** Told each head that was read or put. */
  readonly look: (head: Head) => void;
  readonly seen: () => StagedConfig | undefined;
  /** Told which configuration is being put in force, until disposed. */
  readonly confirming: (revision: string) => Disposable;
  /** Told what this store has confirmed, which its watches are not to tell. */
  readonly confirmed: (head: Head) => void;
}

/** What is staged stands in the item that says what is stored, so that one conditional put decides each step. */
export function dynamodbStaging({ place, contents, versions, random, ...told }: StagingOptions): ConfigStaging {
  const { source } = place;

  async function change<Result>(
    step: (head: Head) => Step<Result>,
    signal: AbortSignal,
    prepare?: (head: Head) => Promise<void>,
  ): Promise<Changed<Result>> {
    const changed = await changeHead(place, step, signal, prepare);
    told.look(changed.head);
    return changed;
  }

  return {
    get seen() {
      return told.seen();
    },
    async look(signal) {
      const head = await readHead(place, signal);
      told.look(head);
      return stagedIn(head);
    },
    async stage(document, expected, { leftBehindBefore, ...who }, signal) {
      signal.throwIfAborted();
      const staged: StagedConfig = { version: expected.version + 1, revision: random.id(), ...who };
      const { revision } = staged;
      const text = textOf(document, staged.version, source);
      const step = (head: Head): Step<StagedConfig | undefined> => {
        const other = stagedIn(head);
        if (other?.revision === revision) return { result: staged };
        const over = identityOf(head.current);
        if (over !== expected.revision || (other !== undefined && (other.until ?? other.at) >= leftBehindBefore))
          return { result: undefined };
        return { result: staged, next: { current: head.current, staged: { ...staged, over } } };
      };
      const prepare = (): Promise<void> => contents.put(revision, text, signal);
      const { result, head, unsure, prepared } = await change(step, signal, prepare);
      if (unsure && result === undefined) throw unknown(source, "staged");
      if (prepared) await contents.sweep(head, result === undefined ? revision : undefined, signal);
      return result;
    },
    async confirm(staged, signal) {
      const { version, revision } = staged;
      const step = (head: Head): Step<boolean> => {
        if (identityOf(head.current) === revision) return { result: true };
        if (!isStaged(head, staged)) return { result: false };
        return { result: true, next: { current: { kind: "written", version, revision }, staged: undefined } };
      };
      using _ = told.confirming(revision);
      const prepare = ({ current }: Head): Promise<void> => versions.keep(current, signal);
      const { result, head } = await change(step, signal, prepare);
      if (result) told.confirmed(head);
      return result;
    },
    async discard(staged, signal) {
      const step = (head: Head): Step<boolean> =>
        isStaged(head, staged)
          ? { result: true, next: { current: head.current, staged: undefined } }
          : { result: false };
      const { result, head, unsure } = await change(step, signal);
      await contents.sweep(head, staged.revision, signal);
      return result || (unsure && identityOf(head.current) !== staged.revision);
    },
  };
}

function isStaged(head: Head, { revision }: StagedConfig): boolean {
  return stagedIn(head)?.revision === revision;
}

/** The answer to a write was lost, and what is there now is another's. */
export function unknown(source: string, done: "written" | "restored" | "staged"): BridgeError {
  return new BridgeError(
    "CONNECTION_LOST",
    `${source}: whether the configuration was ${done} is unknown: no answer came in time, and another hand has written since`,
  );
}
