import { checkDocument, createRegistry, leftByDeparture, namedStores } from "@bridge/config";
import { systemClock } from "@bridge/ports";
import { describeStorePlaces, PLACES } from "@bridge/tooling/store-places";
import { plugins } from "../src/compose.ts";

const NEVER = new AbortController().signal;
const sources = { env: (name: string) => PLACES[name], file: () => Promise.reject(new Error("there is none")) };
const registry = createRegistry(plugins());
const storesOf = namedStores({ registry, sources, clock: systemClock });

describeStorePlaces(registry.stores, async (document, runs) => {
  const checked = await checkDocument(runs, registry, sources, NEVER);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const former = { version: 1, revision: "1", document };
  return (await leftByDeparture(former, checked.config, "it is only tried", storesOf))?.leftStores ?? [];
});
