import { type Clock, type ConfigStore, ConfigTextError, type ConfigTexts, type StoredConfig } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import type { Registry } from "../registry.ts";
import type { ShownText } from "./contract.ts";
import { OverlayError } from "./overlay-error.ts";
import { replacedDocument } from "./replaced-document.ts";
import { shownDocument } from "./shown-document.ts";
import { TransactionError } from "./transaction-error.ts";
import { unifiedDiff } from "./unified-diff.ts";

export interface DocumentTextsOptions {
  readonly store: ConfigStore;
  readonly registry: Registry;
  readonly clock: Clock;
}

type Document = StoredConfig["document"];

/** A document and the text that is to say it; without one it is changed in the text of what is stored. */
export interface Written {
  readonly document: Document;
  readonly text: string | undefined;
}

/** What people read and write as a whole, with no secret in it. */
export class DocumentTexts {
  readonly #options: DocumentTextsOptions;

  constructor(options: DocumentTextsOptions) {
    this.#options = options;
  }

  /** @throws TransactionError unsupported */
  async show(stored: StoredConfig, signal: AbortSignal): Promise<ShownText> {
    const texts = this.#texts();
    const { version, revision, document } = stored;
    const { format, text } = await texts.of(stored, signal);
    const shown = await this.#shown(document, signal);
    return {
      version,
      revision,
      format,
      text: await texts.edit(text, shown.document, shown.hidden, signal),
      redacted: shown.redacted,
    };
  }

  /**
   * What a text says that was sent in place of `base`; `base` itself when it is sent back as it was shown.
   * @throws OverlayError; TransactionError unsupported
   */
  async read(text: string, base: StoredConfig, signal: AbortSignal): Promise<Written> {
    const texts = this.#texts();
    if (text === (await this.show(base, signal)).text) return { document: base.document, text: undefined };
    let sent: Document;
    try {
      sent = await texts.read(text, signal);
    } catch (error) {
      if (!(error instanceof ConfigTextError)) throw error;
      // The store that keeps the texts says it in words of its own, which may be those of the text.
      throw new OverlayError([{ path: [], message: ["text: cannot be read", { sent: `: ${error.message}` }] }]);
    }
    const shown = await this.#shown(base.document, signal);
    const restored = await this.#slices().run(replacedDocument(sent, base.document, shown.document), signal);
    return { document: versioned(restored, base.document), text };
  }

  /** Between the texts of what is stored and of what would be; `undefined` when the store keeps none. */
  async diff(base: StoredConfig, pending: Written, signal: AbortSignal): Promise<string | undefined> {
    if (this.#options.store.texts === undefined) return undefined;
    const texts = this.#texts();
    const before = await this.show(base, signal);
    const next = { ...pending.document, config_version: base.version + 1 };
    const shown = await this.#shown(next, signal);
    const from = pending.text ?? (await texts.of(base, signal)).text;
    const after = await texts.edit(from, shown.document, shown.hidden, signal);
    const steps = unifiedDiff(
      { name: String(base.version), text: before.text },
      { name: String(base.version + 1), text: after },
    );
    return this.#slices().run(steps, signal);
  }

  #shown(document: Document, signal: AbortSignal) {
    return this.#slices().run(shownDocument(document, this.#options.registry), signal);
  }

  #texts(): ConfigTexts {
    const { texts } = this.#options.store;
    if (texts === undefined)
      throw new TransactionError("unsupported", "the configuration is kept where no texts of it are: use PATCH");
    return texts;
  }

  #slices(): Slices {
    return new Slices(this.#options.clock);
  }
}

/** Which version it becomes says the commit. */
function versioned(document: Document, base: Document): Document {
  const { config_version: version } = base;
  const { config_version: _, ...rest } = document;
  return version === undefined ? rest : { config_version: version, ...rest };
}
