import { checkDocument, keptLeftovers } from "@bridge/config";
import { silentLogger, type StoredConfig, systemClock } from "@bridge/ports";
import type { DocumentFolder } from "./document-folder.ts";
import { registry, sources, storesOf } from "./file-stores.ts";
import { trying } from "./trying.ts";

const NEVER = new AbortController().signal;

/** The next process on a document, as the host of one begins it; it ends in order. `runs`: whether a document can be run. */
export async function restarted(here: DocumentFolder, runs?: (stored: StoredConfig) => boolean) {
  const { store, settled, stored, logged } = await here.start(runs && { runs });
  const leftBehind = await keptLeftovers({ store, storesOf, clock: systemClock, logger: silentLogger });
  const stage = trying(here.folder, { store, settled, leftBehind });
  const { transactions } = stage;
  const configOf = async ({ version, document }: Pick<StoredConfig, "version" | "document">) => {
    const checked = await checkDocument(document, registry, sources, NEVER);
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    return { ...checked.config, configVersion: version };
  };
  if (stored !== undefined) transactions.started(await configOf(stored));
  return {
    ...stage,
    settled,
    logged: logged.join("\n"),
    runs: stored?.version,
    told: transactions.leftBehind(),
    /** Warnings and errors since it is settled what runs. */
    stage: () => stage.logged,
    /** Another hand brings a document into force. */
    follow: async (version: number, document: StoredConfig["document"]): Promise<void> =>
      transactions.followed(await configOf({ version, document })),
    /** Whoever looks each 5 s has looked. */
    async looked(): Promise<void> {
      stage.clock.advance(5_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await transactions.underWay?.catch(() => {});
    },
    history: await transactions.history(NEVER),
    async [Symbol.asyncDispose]() {
      await transactions.suspend();
      await store[Symbol.asyncDispose]();
    },
  };
}
