import { Child } from "../harness/child.ts";
import { fileOutbox } from "../harness/file-outbox.ts";
import { postgresOutbox } from "../harness/postgres-outbox.ts";
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

/** Where the outbox is, by the names of the suites. */
const OUTBOXES = { outbox: fileOutbox, "outbox-postgres": postgresOutbox } as const;

/** `shared_outbox` on a disk: what goes through, and what it does to the event loop. */
export async function* outboxSuite(suite: keyof typeof OUTBOXES, settings: Settings): AsyncGenerator<Measurement> {
  const { rounds } = settings;
  const messages = settings.messages ?? MESSAGES;
  const saturated = await alternate(rounds, ["bridge"], () => inMemory(suite, settings, "run", messages, messages));
  yield { suite, name: `memory to memory, ${WINDOW} in flight`, runs: saturated };
  const offered = await alternate(rounds, ["bridge"], () =>
    inMemory(suite, settings, "offer", OFFER, OFFER.perSecond * OFFER.seconds),
  );
  yield { suite, name: `memory to memory, ${OFFER.perSecond} a second`, runs: offered };
}

async function inMemory(
  suite: keyof typeof OUTBOXES,
  settings: Settings,
  question: string,
  argument: unknown,
  messages: number,
): Promise<Run> {
  await using place = await OUTBOXES[suite]();
  const job: OutboxJob = { window: WINDOW, size: SIZE, outbox: place.block };
  await using child = await Child.start({ program: MEMORY, job, profileDir: settings.profileDir });
  await child.ask("run", Math.min(WARM_UP, messages), WARM_UP_TIMEOUT_MS);
  return await measured(child, question, argument, messages);
}
