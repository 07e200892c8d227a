import { placeBytes, placeHash } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { uuids } from "./arrays.ts";
import type { SpoiledRow } from "./spoiled-records.ts";
import { textOf } from "./stored-text.ts";
import { places } from "./views.ts";

/** No more are looked at in one go; the others come when these are dealt with. */
const MAX_ROWS = 1_000;

/**
 * Finds records whose place is not that of their route and binding, and tells them as spoiled: no claim looks where they lie, so
 * that they would wait in silence.
 */
export async function findMisplaced({ client, spoiled }: OutboxParts, signal: AbortSignal): Promise<void> {
  const table = (name: string): string => client.table(name);
  const what = "looking for records of the outbox out of place";
  const text = `${places(table)} SELECT place, route_id, binding_id FROM place`;
  const oldest = await client.query<Omit<SpoiledRow, "envelope">>({ what, text }, signal);
  const foreign = oldest.rows.filter(isMisplaced).map(({ place }) => placeBytes(place));
  if (foreign.length === 0) {
    spoiled.misplaced([]);
    return;
  }
  const { rows } = await client.query<SpoiledRow>(
    {
      what,
      text: `SELECT place, number, id, route_id, binding_id, envelope FROM ${table("outbox_queue")}
              WHERE place = ANY ($1::uuid[]) ORDER BY place, number LIMIT ${MAX_ROWS}`,
      values: [uuids(foreign)],
    },
    signal,
  );
  spoiled.misplaced(rows.filter(isMisplaced));
}

function isMisplaced({ place, route_id: routeId, binding_id: bindingId }: Omit<SpoiledRow, "envelope">): boolean {
  return !placeHash({ routeId: textOf(routeId), bindingId: textOf(bindingId) }).equals(placeBytes(place));
}
