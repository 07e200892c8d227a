import { createRegistry } from "@bridge/config";
import { type Ending, type FlagsOf, type FlagTable, type HostProcess, type Program, UsageError } from "@bridge/host";
import manifest from "../package.json" with { type: "json" };
import { loadBootstrap } from "./bootstrap/load-bootstrap.ts";
import { plugins } from "./compose.ts";
import { createTables } from "./create-tables.ts";
import { healthCheck } from "./health-check.ts";
import { serve } from "./serve.ts";
import { validate } from "./validate.ts";

const FLAGS = {
  healthcheck: {
    name: "healthcheck",
    initial: false as boolean,
    help: "ask the running bridge of this host whether it is alive: exit 0 or 1",
  },
  validate: {
    name: "validate",
    initial: false as boolean,
    help: "check the bootstrap document and the configuration, open nothing",
  },
  createTables: {
    name: "create-tables",
    initial: false as boolean,
    help: "make the DynamoDB tables that these name, where they are not there yet",
  },
} as const satisfies FlagTable;

export const program: Program<typeof FLAGS> = {
  name: "bridge-aws",
  version: manifest.version,
  flags: FLAGS,
  notes: `Everything else is in its bootstrap document: JSON in the environment variable BRIDGE_BOOTSTRAP_JSON, or in a file
that BRIDGE_BOOTSTRAP_FILE names. Its keys are described in docs/aws.md.
`,
  run,
};

async function run(flags: FlagsOf<typeof FLAGS>, host: HostProcess): Promise<Ending> {
  const wanted = Object.values(FLAGS).filter((_, index) => Object.values(flags)[index]);
  if (wanted.length > 1)
    throw new UsageError(`${wanted.map(({ name }) => `-${name}`).join(" and ")} do not go together`);
  if (wanted.length === 0) return serve(createRegistry(plugins()), host, manifest.version);
  if (flags.healthcheck) return healthCheck(host);
  const loaded = await loadBootstrap(host.env);
  if (!loaded.ok) {
    for (const problem of loaded.problems) host.stderr.write(`${problem}\n`);
    return "not_valid";
  }
  const { bootstrap } = loaded;
  const registry = createRegistry(plugins());
  return flags.validate ? validate(bootstrap, registry, host) : createTables(bootstrap, registry, host);
}
