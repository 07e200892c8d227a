import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ConfigTransactions,
  createConfigTransactions,
  createRegistry,
  type SettledProbation,
} from "@bridge/config";
import { type ConfigStore, defineFactory, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { describe as described, secret, text as textOption } from "@bridge/ports/options";
import * as v from "valibot";
import { type ConfigFile, openConfigFile } from "../../src/index.ts";

const never = (): never => {
  throw new Error("nothing is built here");
};

/** A broker with a password and headers that are secret. */
const registry = createRegistry({
  transports: [
    {
      type: "web",
      session: defineFactory({
        options: v.strictObject({
          url: described(v.optional(textOption()), "The broker."),
          password: described(v.optional(secret()), "Its password."),
          headers: described(v.optional(v.record(v.string(), secret()), {}), "Sent with each."),
          keys: described(v.optional(v.array(secret()), []), "Opens."),
        }),
        create: never,
      }),
    },
  ],
});

const sources = {
  env: (name: string): string | undefined => ({ ADMIN_KEY: "from-the-environment", USER: "alice" })[name],
  file: () => Promise.reject(new Error("it is not there")),
};

const NEVER = new AbortController().signal;

/** A file in a folder of its own, and transactions on it. */
export interface Committing extends AsyncDisposable {
  readonly folder: string;
  readonly path: string;
  readonly store: ConfigFile;
  readonly transactions: ConfigTransactions;
  /** Opens a transaction, puts `text` there, and commits it. */
  commit(text: string): Promise<Awaited<ReturnType<ConfigTransactions["commit"]>>>;
}

export function committing(
  text: string,
  {
    name = "bridge.yaml",
    seenAs = (store) => store,
    settled,
  }: { name?: string; seenAs?: (store: ConfigFile) => ConfigStore; settled?: SettledProbation | undefined } = {},
): Committing {
  const folder = mkdtempSync(join(tmpdir(), "bridge-config-"));
  const path = join(folder, name);
  writeFileSync(path, text);
  const store = openConfigFile(path);
  const transactions = createConfigTransactions({
    store: seenAs(store),
    registry,
    sources,
    clock: systemClock,
    random: systemRandom(),
    settled,
    logger: silentLogger,
  });
  return {
    folder,
    path,
    store,
    transactions,
    async commit(next) {
      const { id } = await transactions.open(60_000, NEVER);
      await transactions.replace(id, next, NEVER);
      return transactions.commit(id, "alice");
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}
