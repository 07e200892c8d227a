import type { Registry } from "@bridge/config";
import { type Ending, type HostProcess, validateConfiguration } from "@bridge/host";
import type { Bootstrap } from "./bootstrap/bootstrap.ts";
import { overruledBy } from "./bootstrap/overrule.ts";
import { openOnce } from "./one-shot.ts";

/** Tells what is wrong with the configuration, line by line (`-validate`). What it refers to is read; no keys are. */
export async function validate(bootstrap: Bootstrap, registry: Registry, host: HostProcess): Promise<Ending> {
  await using once = await openOnce(bootstrap, host);
  const overrule = overruledBy(bootstrap);
  return (await validateConfiguration(once.origin, registry, host, { overrule })) ? "answered" : "not_valid";
}
