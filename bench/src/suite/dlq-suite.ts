import { join } from "node:path";
import { type Filling, PAGES, ROUTES } from "../dlq/dead-letters.ts";
import { Child } from "../harness/child.ts";
import { folder } from "../harness/folder.ts";
import type { Settings } from "./contender.ts";
import { measured } from "./measured.ts";
import { alternate, type Measurement } from "./measurement.ts";

const PROGRAM = new URL("../dlq/main.ts", import.meta.url);
const ENTRIES = 1_000_000;
const SIZE = 256;
const OFFSETS = [0, 1_000, 100_000];
const FILL_TIMEOUT_MS = 300_000;

/** The DLQ on a file: pages out of a million entries, and deleting a tenth of them. */
export async function* dlqSuite(settings: Settings): AsyncGenerator<Measurement> {
  const entries = settings.messages ?? ENTRIES;
  // Every round deletes another route.
  const rounds = Math.min(settings.rounds, ROUTES);
  await using place = await folder();
  const job: Filling = { path: join(place.path, "dlq.db"), entries, size: SIZE, bindingId: "to-out" };
  await using child = await Child.start({ program: PROGRAM, job, profileDir: settings.profileDir });
  await child.ask("fill", undefined, FILL_TIMEOUT_MS);

  for (const offset of OFFSETS) {
    const runs = await alternate(rounds, ["bridge"], () => measured(child, "page", offset, PAGES));
    yield { suite: "dlq-file", name: `page of 100 of ${entries}, slowest filter, offset ${offset}`, runs };
  }
  let route = 0;
  const runs = await alternate(rounds, ["bridge"], () => measured(child, "delete", route++, entries / ROUTES));
  yield { suite: "dlq-file", name: `delete-by-filter of ${entries / ROUTES}`, runs };
}
