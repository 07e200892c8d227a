import { type ConfigTexts, silentLogger, systemRandom } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { describe, expect, it } from "vitest";
import { type ConfigApplier, createConfigTransactions, type StartChecks } from "../../src/index.ts";
import { sources } from "../support/arbitrary-documents.ts";
import { beginsAgain } from "../support/change-plans.ts";
import { goodDocument, type Json } from "../support/documents.ts";
import { MemoryConfigStore } from "../support/memory-config-store.ts";
import { registry } from "../support/plugins.ts";

const NEVER = new AbortController().signal;

/** A part that fails as nobody expected, while it is told to. */
class Faulty {
  at: string | undefined;

  readonly checks: StartChecks = {
    whyUnusable: () => this.#pass("whyUnusable", undefined),
    refusals: () => this.#pass("refusals", []),
  };
  readonly applier: ConfigApplier = {
    apply: async () => "applied",
    stranding: async () => this.#pass("stranding", undefined),
    beyondRecovery: () => false,
    plan: async (config) => this.#pass("plan", beginsAgain(config)),
  };

  #pass<Answer>(part: string, answer: Answer): Answer {
    if (this.at === part) throw new TypeError(`a bug in ${part}`);
    return answer;
  }
}

/** Keeps texts, too: a document is replaced as one. */
class TextStore extends MemoryConfigStore {
  readonly texts: ConfigTexts = {
    of: async ({ document }) => ({ format: "json", text: JSON.stringify(document) }),
    read: async (text) => JSON.parse(text) as Json,
    edit: async (_, document) => JSON.stringify(document),
  };
}

const AUDIT = { audit: { file: { path: "audit.jsonl" } } };
const OVERLAY = { ...AUDIT, bridge: { log_level: "warn" } };

describe("an error that nobody expected", () => {
  it("leaves a transaction as it was, wherever it arises", async () => {
    const faulty = new Faulty();
    const store = new TextStore({ ...goodDocument(), ...AUDIT });
    const transactions = createConfigTransactions({
      store,
      registry,
      sources,
      startChecks: faulty.checks,
      applier: faulty.applier,
      clock: new ManualClock(),
      random: systemRandom(),
      logger: silentLogger,
    });
    const { id } = await transactions.open(300_000, NEVER);
    await transactions.patch(id, { bridge: { log_level: "debug" } }, NEVER);
    const { stored } = store;
    const asItWas = await transactions.inspect(id);
    const works: Readonly<Record<string, () => Promise<unknown>>> = {
      patch: () => transactions.patch(id, OVERLAY, NEVER),
      replace: () =>
        transactions.replace(id, JSON.stringify({ ...goodDocument(), audit: { log: false, ...AUDIT.audit } }), NEVER),
      validate: () => transactions.validate(id, NEVER),
      diff: () => transactions.diff(id, NEVER),
      commit: () => transactions.commit(id, "somebody"),
    };
    const failed: string[] = [];
    for (const at of ["whyUnusable", "refusals", "stranding", "plan"]) {
      for (const [name, work] of Object.entries(works)) {
        // What these parts have nothing to do with would be done.
        if (
          ["stranding", "plan"].includes(at) &&
          ["patch", "replace", "commit"].includes(name) &&
          at + name !== "strandingcommit"
        )
          continue;
        faulty.at = at;
        await expect(work(), `${at} in ${name}`).rejects.toThrow(`a bug in ${at}`);
        faulty.at = undefined;
        failed.push(`${at} in ${name}`);
        expect(await transactions.inspect(id), `${at} in ${name}`).toEqual(asItWas);
        expect(store.stored).toBe(stored);
      }
    }
    expect(failed).toHaveLength(15);
    expect(await transactions.patch(id, OVERLAY, NEVER)).toMatchObject({ problems: [] });
    expect(await transactions.commit(id, "somebody")).toMatchObject({ status: "committed" });
  });
});
