import { type Consumed } from "../client/consumption.ts";
import { type DynamoClient, type DynamoOptions } from "../client/dynamo-client.ts";
import { jsonConfigTexts } from "@bridge/ports/internal";
import { openTable } from "../client/open-table.ts";
import type {
  Clock,
  ConfigChange,
  ConfigHistory,
  ConfigStaging,
  ConfigStore,
  Logger,
  Random,
  StagedConfig,
  StoredConfig,
} from "@bridge/ports";
import { configTable } from "./config-table.ts";
import { Contents } from "./contents.ts";
import { MAX_DOCUMENT_BYTES, storedOf, textOf, UnreadableConfigError } from "./document-text.ts";
import { dynamodbHistory } from "./dynamodb-history.ts";
import { DynamodbVersions } from "./dynamodb-versions.ts";
import { dynamodbStaging, unknown } from "./dynamodb-staging.ts";
import { type Exact, type Head, identityOf, stagedIn } from "./head.ts";
import { changeHead, type Place, readHead, type Step } from "./head-item.ts";
import { type Look, watchDocument, type Watched } from "./watch-document.ts";

export interface DynamodbConfigOptions {
  /** The table, as {@link configTable} describes it. */
  readonly tableName: string;
  /** Names the document in the table, such as the id of the bridge. */
  readonly document: string;
  /** How often to look for changes, give or take a tenth; asked for again and again, so that it may change. Default: 30 s. */
  readonly watch?: (() => { readonly pollIntervalMs: number }) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Is told what each answered request has consumed. */
  readonly onConsumed?: ((consumed: Consumed) => void) | undefined;
  /** For the SDK's client. Default: region, endpoint and credentials as the SDK finds them. */
  readonly sdk?: DynamoOptions["sdk"];
}

const POLL_INTERVAL_MS = 30_000;
/** How often what is stored may be replaced between the two readings that it takes. */
const READINGS = 5;

/**
 * A configuration in a table that all instances share. Every race is decided by one conditional put of one item; reads are
 * strongly consistent.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when there is no such table or no region, `SCHEMA_VIOLATION` when the table
 * has another form
 */
export async function openDynamodbConfig(options: DynamodbConfigOptions, signal: AbortSignal): Promise<ConfigStore> {
  return new DynamodbConfigStore(await openTable(configTable(options.tableName), options, signal), options);
}

class DynamodbConfigStore implements ConfigStore {
  readonly source: string;
  readonly maxDocumentBytes = MAX_DOCUMENT_BYTES;
  readonly history: ConfigHistory;
  readonly texts = jsonConfigTexts;
  readonly versions: DynamodbVersions;
  readonly staging: ConfigStaging;
  readonly #options: DynamodbConfigOptions;
  readonly #client: DynamoClient;
  readonly #place: Place;
  readonly #contents: Contents;
  readonly #exact = new WeakMap<StoredConfig, Exact>();
  /** What this store has last loaded, written or told: a watch tells what differs from it. */
  #seen: string | undefined;
  #staged: StagedConfig | undefined;
  readonly #watches = new Set<Watched>();
  /** What this store is putting there: whether it is there its caller learns, before a watch tells of it. */
  readonly #putting = new Set<string>();

  constructor(client: DynamoClient, options: DynamodbConfigOptions) {
    const { tableName, document, clock, random } = options;
    this.source = `dynamodb:${tableName}/${document}`;
    this.#options = options;
    this.#client = client;
    this.#place = { client, tableName, document, source: this.source };
    this.#contents = new Contents(this.#place, clock);
    this.history = dynamodbHistory(this.#place, random);
    this.versions = new DynamodbVersions(this.#place, this.#contents, options.logger);
    this.staging = dynamodbStaging({
      place: this.#place,
      contents: this.#contents,
      versions: this.versions,
      random,
      look: (head) => void (this.#staged = stagedIn(head)),
      seen: () => this.#staged,
      confirming: (revision) => this.#puts(revision),
      confirmed: (head) => this.#own(head),
    });
  }

  get seen(): string | undefined {
    return this.#seen;
  }

  async load(signal: AbortSignal): Promise<StoredConfig | undefined> {
    const { identity, change } = await this.#read(signal);
    this.#seen = identity;
    if (change.kind === "unreadable") throw change.error;
    return change.kind === "changed" ? change.stored : undefined;
  }

  async write(
    document: Readonly<Record<string, unknown>>,
    expected: StoredConfig,
    signal: AbortSignal,
  ): Promise<StoredConfig | undefined> {
    signal.throwIfAborted();
    const version = expected.version + 1;
    const revision = this.#options.random.id();
    const text = textOf(document, version, this.source);
    const current = { kind: "written", version, revision } as const;
    const done = await this.#replace(expected, { current, text }, "written", signal);
    return done ? this.#stored({ current, text }) : undefined;
  }

  async restore(former: StoredConfig, current: StoredConfig, signal: AbortSignal): Promise<boolean> {
    const exact = this.#exact.get(former);
    if (exact === undefined) throw new TypeError("what is to be restored does not come from this store");
    signal.throwIfAborted();
    return this.#replace(current, exact, "restored", signal);
  }

  watch(signal: AbortSignal): AsyncIterable<ConfigChange> {
    const watched: Watched = { seen: this.#seen };
    this.#watches.add(watched);
    const { clock, random, watch } = this.#options;
    return watchDocument({
      watched,
      look: (bound) => this.#look(bound),
      isOurs: (identity) => this.#putting.has(identity),
      intervalMs: () => watch?.().pollIntervalMs ?? POLL_INTERVAL_MS,
      told: (identity) => void (this.#seen = identity),
      ended: () => void this.#watches.delete(watched),
      clock,
      random,
      signal,
    });
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#client[Symbol.asyncDispose]();
  }

  async #replace(
    expected: StoredConfig,
    { current, text }: Exact,
    done: "written" | "restored",
    signal: AbortSignal,
  ): Promise<boolean> {
    const revision = current.kind === "written" ? current.revision : undefined;
    const prepare = async (head: Head): Promise<void> => {
      if (revision !== undefined) await this.#contents.put(revision, text, signal);
      if (done === "written") await this.versions.keep(head.current, signal);
    };
    const identity = identityOf(current);
    const step = (head: Head): Step<boolean> => {
      const found = identityOf(head.current);
      if (found === identity) return { result: true };
      if (found !== expected.revision) return { result: false };
      return { result: true, next: { current, staged: undefined } };
    };
    using _ = this.#puts(identity);
    const { result, head, unsure, prepared } = await changeHead(this.#place, step, signal, prepare);
    this.#staged = stagedIn(head);
    if (unsure && !result) throw unknown(this.source, done);
    if (result) this.#own(head);
    if (prepared) await this.#contents.sweep(head, result ? expected.revision : revision, signal);
    return result;
  }

  async #look(signal: AbortSignal): Promise<Look> {
    const head = await readHead(this.#place, signal);
    this.#staged = stagedIn(head);
    return { identity: identityOf(head.current), change: (bound) => this.#read(bound, head) };
  }

  /** Rejects when the table cannot be asked. */
  async #read(signal: AbortSignal, read?: Head): Promise<{ identity: string; change: ConfigChange }> {
    signal.throwIfAborted();
    let head = read;
    for (let reading = 1; reading <= READINGS; reading++) {
      head ??= await readHead(this.#place, signal);
      this.#staged = stagedIn(head);
      const { current } = head;
      const identity = identityOf(current);
      if (current.kind === "missing") return { identity, change: { kind: "missing" } };
      if (current.kind === "unreadable") return { identity, change: this.#unreadable(current.why) };
      const text = current.kind === "by hand" ? current.text : await this.#contents.get(current.revision, signal);
      if (text !== undefined) return { identity, change: this.#change({ current, text }) };
      // Somebody has put another one in its place between the two readings.
      head = undefined;
    }
    const why = "the item that holds what was committed is gone: store the document by hand";
    return { identity: "content gone", change: this.#unreadable(why) };
  }

  #change(exact: Exact): ConfigChange {
    try {
      return { kind: "changed", stored: this.#stored(exact) };
    } catch (error) {
      return { kind: "unreadable", error: error as Error };
    }
  }

  #stored(exact: Exact): StoredConfig {
    const stored = storedOf(exact.text, identityOf(exact.current), this.source);
    this.#exact.set(stored, exact);
    return stored;
  }

  #unreadable(why: string): ConfigChange {
    return { kind: "unreadable", error: new UnreadableConfigError(`${this.source}: ${why}`) };
  }

  #puts(identity: string): Disposable {
    this.#putting.add(identity);
    return { [Symbol.dispose]: () => void this.#putting.delete(identity) };
  }

  /** What this store has put there, which its watches are not to tell. */
  #own({ current }: Head): void {
    this.#seen = identityOf(current);
    for (const watched of this.#watches) watched.seen = this.#seen;
  }
}
