import { openMemoryDlq } from "@bridge/dlq-memory";
import { type DlqStore, type Logger, type OutboxClaim, type Processor, RESERVED, silentLogger } from "@bridge/ports";
import { RateLimiter } from "../../src/control/rate-limiter.ts";
import { replayHeader } from "../../src/dlq-job/replay-id.ts";
import { Lease } from "../../src/lease/lease.ts";
import { instantOf, Term } from "../../src/lease/term.ts";
import { ClaimVerdicts } from "../../src/outbox/claim-verdicts.ts";
import { EntryFates } from "../../src/outbox/entry-fates.ts";
import { RecordSender } from "../../src/outbox/record-sender.ts";
import { Strays } from "../../src/route/strays.ts";
import { Link } from "../../src/session/link.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { envelopeOf } from "../support/envelope.ts";
import { HeldSender } from "../support/held-sender.ts";
import { partsOf } from "../support/parts-of.ts";

export const never = new AbortController().signal;
export const BATCH_MS = 30_000;
export const SEND_TIMEOUT_MS = 10_000;

/** A redriven one has a dead letter, which may tell that it has failed already. */
function claimOf(id: string, { redriven = false, orderingKey }: Kind = {}): OutboxClaim {
  const headers = redriven ? { [RESERVED.job]: replayHeader({ jobId: "j", attempt: 2 }) } : {};
  const record = {
    id,
    routeId: "r",
    bindingId: "out",
    address: "out",
    envelope: envelopeOf({ id, headers }),
    payloadDigest: "d",
    createdAt: 0,
    ...(redriven && { entryId: "e1" }),
    ...(orderingKey !== undefined && { orderingKey }),
  };
  return { record, token: "t", attempts: 2 };
}

interface Kind {
  readonly redriven?: boolean;
  readonly orderingKey?: string;
}

interface Given {
  /** There is a turn for one record in a hundred seconds. */
  readonly rated?: boolean;
  readonly processors?: readonly Processor[];
  readonly get?: DlqStore["get"];
}

/** Sends the records of the binding `out`, over a link under a lease, to a target that a test answers for. */
export function stage({ rated = false, processors = [], get = async () => undefined }: Given = {}) {
  const clock = new BoundingClock();
  const told: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (_, fields) => void told.push(fields), child: () => logger };
  const policy = { sendTimeoutMs: SEND_TIMEOUT_MS };
  const { parts: built } = partsOf({ clock, logger, processors, policy, deliveryMode: "shared_outbox" });
  const [route] = built.routes.values();
  const [given] = route?.targets.values() ?? [];
  if (route === undefined || given === undefined) throw new Error("the bridge has no binding");
  const parts = { ...route, dlq: () => ({ ...openMemoryDlq({ maxEntries: 10 }), get }) };
  const sender = new HeldSender();
  const rate = new RateLimiter(clock, rated ? { messagesPerSecond: 0.01, burst: 1 } : undefined);
  const lease = new Lease("s", "bridge/s");
  lease.taken(new Term(clock, 1, instantOf(clock), BATCH_MS + SEND_TIMEOUT_MS));
  const link = new Link({ sessionId: "s", role: "target", session: SESSION, lease });
  link.connectedWith(new Set());
  const target = { ...given, sender, rate, link, strays: new Strays(clock) };
  const verdicts = new ClaimVerdicts({ parts, target, entries: new EntryFates(), givenUp: never });
  const leaving = new AbortController();
  const records = new RecordSender({ parts, target, verdicts, leaving: leaving.signal });
  const batch = { deadline: clock.monotonic() + BATCH_MS, blocked: new Set<string>() };
  const send = (id: string, kind?: Kind) => records.send(claimOf(id, kind), batch, never);
  const sent = (): readonly string[] => sender.sends.map(({ envelope }) => envelope.id);
  return { clock, told, target, lease, link, pause: parts.control.pause, leaving, batch, sender, sent, send };
}

export type Stage = ReturnType<typeof stage>;

const SESSION = {
  subscriptions: new Set<string>(),
  connect: () => Promise.reject(new Error("the test connects")),
  [Symbol.asyncDispose]: async () => {},
};
