import type { Clock, ConfigStore, LeftVersion, StoredConfig } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import { type CheckedDocument, checkDocument } from "../check-document.ts";
import { hasNext } from "../config-version.ts";
import type { Path } from "../problem.ts";
import { type ReferenceSources, resolveReferences } from "../references.ts";
import type { Registry } from "../registry.ts";
import { namedStores, type StoresOf } from "./named-stores.ts";
import type { Transaction } from "./open-transaction.ts";
import type { StartChecks, UnusableFile } from "../surroundings.ts";
import { begunElsewhere } from "./begun-elsewhere.ts";
import { checkForStart } from "./check-for-start.ts";
import type { ConfigView } from "./contract.ts";
import type { Written } from "./document-texts.ts";
import { erasedOptions } from "./erased-options.ts";
import { readWithin } from "./read-within.ts";
import { redactedView } from "./redacted-view.ts";
import { TransactionError } from "./transaction-error.ts";

export interface StoredDocumentsOptions {
  readonly store: ConfigStore;
  readonly registry: Registry;
  readonly sources: ReferenceSources;
  readonly startChecks?: StartChecks | undefined;
  readonly clock: Clock;
}

/** A former version, and what it would be as the next one. */
export interface FormerVersion {
  /** With where its stores were, as far as it has left something there. */
  readonly stored: StoredConfig;
  readonly pending: Written;
}

/** What is judged of a transaction. */
type Judged = Pick<Transaction, "base" | "whole" | "pending" | "former">;

/** What is stored and was, read within a bound, looked at and judged in slices. */
export class StoredDocuments {
  /** Which stores a document names, also one that is not valid here. */
  readonly storesOf: StoresOf;
  readonly #options: StoredDocumentsOptions;
  #seen: { readonly document: StoredConfig["document"]; readonly view: ConfigView } | undefined;

  constructor(options: StoredDocumentsOptions) {
    this.#options = options;
    this.storesOf = namedStores(options);
  }

  /** @throws TransactionError unavailable */
  async load(signal: AbortSignal): Promise<StoredConfig> {
    let stored: StoredConfig | undefined;
    try {
      stored = await this.within(signal, (bound) => this.#options.store.load(bound));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new TransactionError("unavailable", `the configuration cannot be read: ${reason}`, { cause: error });
    }
    if (stored === undefined) throw new TransactionError("unavailable", "there is no configuration yet");
    return stored;
  }

  /** What is stored; `undefined` when there is nothing that can be read. */
  async find(signal: AbortSignal): Promise<StoredConfig | undefined> {
    return this.load(signal).catch(() => undefined);
  }

  /**
   * A former version, as it would be stored again: what a change may do is said by what is stored now, and nothing
   * else.
   * @throws TransactionError
   */
  async former(version: number, base: StoredConfig, signal: AbortSignal): Promise<FormerVersion | undefined> {
    const { versions, texts } = this.#options.store;
    if (version === base.version && versions?.left === undefined) return undefined;
    if (versions === undefined)
      throw new TransactionError("unsupported", "the configuration is kept where no former versions are");
    let stored: StoredConfig | undefined;
    let text: string | undefined;
    let left: LeftVersion | undefined;
    try {
      left = await this.#leftBy(version, signal);
      // What is stored has the number, too: only what has left something in its stores is told to be found by it.
      if (version === base.version && left === undefined) return undefined;
      stored = await this.within(signal, (bound) => versions.load(version, bound));
      if (stored !== undefined) ({ text } = (await texts?.of(stored, signal)) ?? {});
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new TransactionError("unavailable", `version ${version} cannot be read: ${reason}`, { cause: error });
    }
    if (stored === undefined)
      throw new TransactionError("not_found", `version ${version} is not kept: GET /config/history tells which are`);
    const { config: _, ...rest } = stored.document;
    const { config, config_version: current } = base.document;
    const document = {
      ...rest,
      ...(current !== undefined && { config_version: current }),
      ...(config !== undefined && { config }),
    };
    return { stored: { ...stored, places: left?.places }, pending: { document, text } };
  }

  /** The first one is what that number finds. */
  async #leftBy(version: number, signal: AbortSignal): Promise<LeftVersion | undefined> {
    const { left } = this.#options.store.versions ?? {};
    const all = await this.within(signal, async (bound) => (await left?.list(bound)) ?? []);
    return all.find((one) => one.version === version);
  }

  /** Of the document that was looked at last it is kept. */
  async view(document: StoredConfig["document"]): Promise<ConfigView> {
    if (this.#seen?.document !== document)
      this.#seen = { document, view: await this.slices().run(redactedView(document)) };
    return this.#seen.view;
  }

  /**
   * What is wrong with what is pending, also for the next start, and with where it would look for what its version has
   * left; and what of the options in `whole` it would erase.
   */
  async judge(
    { base, whole, pending, former }: Judged,
    signal: AbortSignal,
  ): Promise<[CheckedDocument, readonly Path[]]> {
    const sound = await this.#checkForStart(pending.document, base.document, signal);
    const checked = withRoom(reaching(sound, pending, former), base);
    const { document } = await this.within(signal, (bound) =>
      resolveReferences(whole, this.#options.sources, bound, this.slices()),
    );
    return [checked, erasedOptions(document, checked.resolved)];
  }

  check(document: unknown, signal: AbortSignal, whyUnusable?: UnusableFile): Promise<CheckedDocument> {
    const { registry, sources } = this.#options;
    return this.within(signal, (bound) =>
      checkDocument(document, registry, { ...sources, whyUnusable }, bound, this.slices()),
    );
  }

  #checkForStart(document: unknown, base: unknown, signal: AbortSignal): Promise<CheckedDocument> {
    const { startChecks } = this.#options;
    if (startChecks === undefined) return this.check(document, signal);
    return checkForStart(document, base, startChecks, (each, whyUnusable) => this.check(each, signal, whyUnusable));
  }

  within<Result>(signal: AbortSignal, work: (bound: AbortSignal) => Promise<Result>): Promise<Result> {
    return readWithin(this.#options.clock, signal, work);
  }

  slices(): Slices {
    return new Slices(this.#options.clock);
  }
}

function reaching(checked: CheckedDocument, { document }: Written, former: StoredConfig | undefined): CheckedDocument {
  if (!checked.ok) return checked;
  const problems = begunElsewhere(document, former, checked.config.stores);
  const { warnings, resolved } = checked;
  return problems.length === 0 ? checked : { ok: false, problems, warnings, resolved, unread: false };
}

/** A change of the last version there is cannot be written: no start would take what it is stored as. */
function withRoom(checked: CheckedDocument, { version }: StoredConfig): CheckedDocument {
  if (hasNext(version)) return checked;
  const message = `is ${version}, after which there is none: leave it out of the document, or write a smaller one there, by hand`;
  const problems = [...(checked.ok ? [] : checked.problems), { path: ["config_version"], message }];
  const { warnings, resolved } = checked;
  return { ok: false, problems, warnings, resolved, unread: false };
}
