import type { ClaimRequest, OutboxClaim, OutboxPlace, OutboxRecord } from "@bridge/ports";
import { int8s } from "./arrays.ts";
import type { Lane } from "./lanes.ts";
import { tokenOf } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { CONTENT_COLUMNS, recordOf, type StoredRow } from "./record-rows.ts";
import { textOf } from "./stored-text.ts";

/** How often the oldest number of a lane is looked for: it costs what has not been vacuumed yet. */
const LOOK_MS = 2_000;
/** And no more of the time than one part of so many. */
const LOOK_SHARE = 20;
/** The names of claims that may be named as lost; older ones lapse. */
const MAX_LOST = 20;
const LOWEST = -1;
/** A lane that comes and goes is looked at with the next claim. */
const MAX_ROUNDS = 5;

export interface Lent {
  readonly number: number;
  readonly attempts: number;
  /** As the server holds it. */
  readonly id: string;
}

/** What a lane answers of which nothing can be lent. */
interface NoLoan {
  readonly number: null;
  readonly attempts: null;
}

/** Lends what is due and may be sent, oldest first. */
export async function claim(
  parts: OutboxParts,
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<readonly OutboxClaim[]> {
  const { loanMs } = request;
  const { lanes, instances, random, claims } = parts;
  if (request.limit <= 0) return [];
  const limit = Math.min(request.limit, Math.ceil(claims.items));
  const [lane] = await Promise.all([lanes.of(request, signal), instances.enter(signal)]);
  using _ = await lane.turns.take(signal);
  const loan = random.id();
  try {
    let lent = await lend(parts, lane, limit, loanMs, loan, signal);
    for (let round = 1; lent === undefined; round++) {
      if (round > MAX_ROUNDS) return [];
      await lanes.enterAgain(lane, false, signal);
      lent = await lend(parts, lane, limit, loanMs, loan, signal);
    }
    const { rows, at } = lent;
    const records = await contentsOf(parts, request, at, rows, signal);
    return rows
      .toSorted((a, b) => a.number - b.number)
      .flatMap(({ number, attempts }) => {
        const record = records.get(number);
        return record === undefined ? [] : { record, token: tokenOf({ lane: at, number, loan }), attempts };
      });
  } catch (error) {
    lane.lost = withLost(lane, loan);
    throw error;
  }
}

function withLost({ lost }: Lane, loan: string): readonly string[] {
  return [...lost, loan].slice(-MAX_LOST);
}

/** `undefined`: the table does not have the lane as it is known here. */
async function lend(
  { client, claimer, instances, lanes, clock, claims }: OutboxParts,
  lane: Lane,
  limit: number,
  loanMs: number,
  loan: string,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly Lent[]; readonly at: number } | undefined> {
  const begunAt = clock.monotonic();
  const look = begunAt >= lane.lookAgainAt;
  const { lost, lane: at } = lane;
  const { names, readings } = instances.readings();
  const statement = {
    what: "claiming from the outbox",
    name: "outbox_claim",
    text: `SELECT c.number, c.attempts, c.id FROM ${client.table("outbox_lane")} AS l
      LEFT JOIN LATERAL ${client.table("outbox_claim")}(
        $1::text, $2::int8, l.lane, $4::int8, $5::bool, $6::int4, $7::int8, $8::text, $9::float8, $10::text, $11::text[],
        $12::text[], $13::float8[], $14::float8) AS c ON true
      WHERE l.lane = $3::int4 AND l.place = $15::uuid`,
    values: [
      claimer,
      lanes.nextTurn(),
      at,
      look ? 0 : lane.floor,
      look,
      limit,
      Math.ceil(claims.bytes),
      instances.name,
      instances.now + loanMs,
      loan,
      lost,
      names,
      readings,
      clock.now(),
      lane.place,
    ],
  };
  const { rows: answer, unsure } = await client.query<Lent | NoLoan>(statement, signal);
  if (answer.length === 0) return undefined;
  const rows = answer.filter((row) => row.number !== null);
  lane.lost = lane.lost.filter((one) => !lost.includes(one));
  if (look) {
    const now = clock.monotonic();
    lane.floor = rows.find(({ attempts }) => attempts === LOWEST)?.number ?? lane.highest;
    lane.lookAgainAt = now + Math.max(LOOK_MS, (now - begunAt) * LOOK_SHARE);
  }
  const lent = unsure
    ? await lentBefore({ client }, at, loan, signal)
    : rows.filter(({ attempts }) => attempts !== LOWEST);
  // A try that finds nothing writes no turn, so that an earlier one may lend yet: with the next claim it may not any more.
  if (unsure && lent.length === 0) lane.lost = withLost(lane, loan);
  for (const { number } of lent) lane.highest = Math.max(lane.highest, number);
  return { rows: lent, at };
}

/** What the tries of one claim have lent, of which one alone did. */
async function lentBefore(
  { client }: Pick<OutboxParts, "client">,
  lane: number,
  loan: string,
  signal: AbortSignal,
): Promise<readonly Lent[]> {
  const text = `SELECT number, attempts, id FROM ${client.table("outbox_queue")} WHERE lane = $1 AND token = $2`;
  const { rows } = await client.query<Lent>({ what: "looking for what was lent", text, values: [lane, loan] }, signal);
  return rows;
}

/** Of those that are still there: who has lent them for a moment only may come too late. */
export async function contentsOf(
  { client, contents, claims }: OutboxParts,
  { routeId, bindingId }: OutboxPlace,
  lane: number,
  lent: readonly Lent[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, OutboxRecord>> {
  const records = new Map<number, OutboxRecord>();
  const unknown: number[] = [];
  for (const { number, id } of lent) {
    const record = contents.take(number);
    // A server that was put back to an earlier state gives numbers out again.
    if (record === undefined || record.id !== textOf(id)) unknown.push(number);
    else records.set(number, record);
  }
  if (unknown.length === 0) return records;
  const statement = {
    what: "reading records of the outbox",
    name: "outbox_read",
    text: `SELECT ${CONTENT_COLUMNS}
             FROM unnest($2::int8[]) AS g (number)
             JOIN ${client.table("outbox_queue")} AS q ON q.lane = $1 AND q.number = g.number
             JOIN ${client.table("outbox_record")} AS r ON r.number = g.number`,
    values: [lane, int8s(unknown)],
    endsWhenLate: unknown.length > 1,
  };
  const { items } = claims;
  try {
    const { rows } = await client.query<StoredRow>(statement, signal);
    for (const row of rows) records.set(row.number, recordOf(row, routeId, bindingId));
    claims.ended({ items: rows.length, bytes: rows.reduce((sum, { payload }) => sum + payload.length, 0) });
    return records;
  } catch (error) {
    claims.ended({ items: Math.min(items, unknown.length), bytes: 0 }, error);
    throw error;
  }
}
