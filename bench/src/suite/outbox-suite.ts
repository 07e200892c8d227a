import { join } from "node:path";
import { Child } from "../harness/child.ts";
import { folder } from "../harness/folder.ts";
import type { Offer, OutboxJob } from "../outbox/outbox-job.ts";
import type { Settings } from "./contender.ts";
import { measured } from "./measured.ts";
import { alternate, type Measurement, type Run } from "./measurement.ts";

const MEMORY = new URL("../outbox/memory-to-memory.ts", import.meta.url);
const WINDOW = 500;
const SIZE = 256;
const MESSAGES = 200_000;
const WARM_UP = 50_000;
const OFFER: Offer = { perSecond: 10_000, seconds: 5 };
const WARM_UP_TIMEOUT_MS = 60_000;

/** `shared_outbox` on a disk: what goes through, and what it does to the event loop. */
export async function* outboxSuite(settings: Settings): AsyncGenerator<Measurement> {
  const { rounds } = settings;
  const messages = settings.messages ?? MESSAGES;
  const saturated = await alternate(rounds, ["bridge"], () => inMemory(settings, "run", messages, messages));
  yield { suite: "outbox", name: `memory to memory, ${WINDOW} in flight`, runs: saturated };
  const offered = await alternate(rounds, ["bridge"], () =>
    inMemory(settings, "offer", OFFER, OFFER.perSecond * OFFER.seconds),
  );
  yield { suite: "outbox", name: `memory to memory, ${OFFER.perSecond} a second`, runs: offered };
}

async function inMemory(settings: Settings, question: string, argument: unknown, messages: number): Promise<Run> {
  await using place = await folder();
  const job: OutboxJob = { window: WINDOW, size: SIZE, outbox: join(place.path, "outbox.db") };
  await using child = await Child.start({ program: MEMORY, job, profileDir: settings.profileDir });
  await child.ask("run", Math.min(WARM_UP, messages), WARM_UP_TIMEOUT_MS);
  return await measured(child, question, argument, messages);
}
