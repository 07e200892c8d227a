import { emptyConfig } from "@bridge/config";
import type { HostProcess, Surroundings } from "@bridge/host";
import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { openSecretReader } from "@bridge/secrets-aws";
import type { Bootstrap } from "./bootstrap/bootstrap.ts";
import { configOrigin } from "./config-origin.ts";

const SURROUNDINGS: Surroundings = {
  clock: systemClock,
  random: systemRandom(),
  logger: silentLogger,
  watch: () => emptyConfig().configWatch,
};

/** What a process needs that reads its configuration once and serves nothing; disposing it closes what was opened. */
export async function openOnce(bootstrap: Bootstrap, { env }: HostProcess) {
  const secrets = openSecretReader();
  try {
    const origin = await configOrigin(bootstrap, secrets, env, SURROUNDINGS);
    return {
      origin,
      async [Symbol.asyncDispose]() {
        try {
          await origin.store[Symbol.asyncDispose]();
        } finally {
          secrets[Symbol.dispose]();
        }
      },
    };
  } catch (error) {
    secrets[Symbol.dispose]();
    throw error;
  }
}
