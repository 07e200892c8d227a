import { BY_INDEX } from "./write-functions.ts";

type Table = (name: string) => string;

/**
 * Version 3: nothing goes into a lane that the table does not have as the instance knows it. A database that went back to
 * an earlier moment may not have the lane any more, may have given its number to another, or may not know of its keys.
 */
export const PERSIST_IN_LANES = (table: Table): string => `
-- As outbox_persist, if the lanes are these, and those of p_keyed are said to have keys. Else one row with place 0.
CREATE FUNCTION ${table("outbox_persist_in_lanes")}(
  p_known int[], p_places uuid[], p_keyed int[],
  p_lanes int[], p_ids text[], p_identities uuid[], p_digests text[], p_created double precision[], p_keys text[],
  p_key_hashes uuid[], p_entries text[], p_addresses text[], p_envelopes text[], p_received text[], p_payloads bytea[],
  p_received_payloads bytea[]
) RETURNS TABLE (place int, number bigint) LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (
    SELECT FROM unnest(p_known, p_places) AS k (lane, place)
     WHERE NOT EXISTS (
       SELECT FROM ${table("outbox_lane")} AS l
        WHERE l.lane = k.lane AND l.place = k.place AND (l.keyed OR k.lane <> ALL (p_keyed))
     )
  ) THEN
    RETURN QUERY SELECT 0, 0::bigint;
    RETURN;
  END IF;
  RETURN QUERY
  SELECT p.place, p.number
    FROM ${table("outbox_persist")}(
      p_lanes, p_ids, p_identities, p_digests, p_created, p_keys, p_key_hashes, p_entries, p_addresses,
      p_envelopes, p_received, p_payloads, p_received_payloads
    ) AS p;
END $$;

-- Says of lanes that they have keys if they do, and returns the oldest record of each that the table does not have.
CREATE FUNCTION ${table("outbox_astray")}() RETURNS TABLE (lane int, identity text, envelope text)
LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
DECLARE
  v_keyed int[];
BEGIN
  SELECT array_agg(l.lane) INTO v_keyed
    FROM ${table("outbox_lane")} AS l
   WHERE NOT l.keyed
     AND EXISTS (SELECT FROM ${table("outbox_queue")} AS q WHERE q.lane = l.lane AND q.key_hash IS NOT NULL);
  IF v_keyed IS NOT NULL THEN
    UPDATE ${table("outbox_lane")} AS l SET keyed = true WHERE l.lane = ANY (v_keyed);
  END IF;
  RETURN QUERY
  WITH RECURSIVE used AS (
    SELECT (SELECT min(q.lane) FROM ${table("outbox_queue")} AS q) AS lane
     UNION ALL
    SELECT (SELECT min(q.lane) FROM ${table("outbox_queue")} AS q WHERE q.lane > u.lane) FROM used AS u WHERE u.lane IS NOT NULL
  )
  SELECT u.lane, r.identity::text, q.envelope
    FROM used AS u
   CROSS JOIN LATERAL (
     SELECT q.number, q.envelope FROM ${table("outbox_queue")} AS q WHERE q.lane = u.lane ORDER BY q.number LIMIT 1
   ) AS q
    LEFT JOIN ${table("outbox_record")} AS r ON r.number = q.number
   WHERE NOT EXISTS (SELECT FROM ${table("outbox_lane")} AS l WHERE l.lane = u.lane);
END $$;
`;
