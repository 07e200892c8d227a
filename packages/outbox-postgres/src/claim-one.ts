import type { OutboxClaim } from "@bridge/ports";
import { contentsOf, type Lent } from "./claim.ts";
import { tokenOf } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { storedText, textOf } from "./stored-text.ts";

interface LentOne extends Lent {
  readonly lane: number;
  readonly route_id: string;
  readonly binding_id: string;
}

/** Lends one pending record, due or not. */
export async function claimOne(
  parts: OutboxParts,
  id: string,
  loanMs: number,
  signal: AbortSignal,
): Promise<OutboxClaim | undefined> {
  const { client, instances, random, clock } = parts;
  await instances.enter(signal);
  const loan = random.id();
  const { names, readings } = instances.readings();
  const statement = {
    what: "claiming a record of the outbox",
    text: `SELECT o.lane, o.number, o.attempts, $1::text AS id, l.route_id, l.binding_id
             FROM ${client.table("outbox_claim_one")}(
               $1::text, $2::text, $3::float8, $4::text, $5::text[], $6::float8[], $7::float8) AS o
             JOIN ${client.table("outbox_lane")} AS l USING (lane)`,
    values: [storedText(id), instances.name, instances.now + loanMs, loan, names, readings, clock.now()],
  };
  const { rows } = await client.query<LentOne>(statement, signal);
  const [row] = rows;
  if (row === undefined) return undefined;
  const place = { routeId: textOf(row.route_id), bindingId: textOf(row.binding_id) };
  const { lane, number, attempts } = row;
  const record = (await contentsOf(parts, place, lane, [row], signal)).get(number);
  return record === undefined ? undefined : { record, token: tokenOf({ lane, number, loan }), attempts };
}
