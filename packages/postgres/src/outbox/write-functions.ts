type Table = (name: string) => string;

/**
 * Statistics of a queue say what it was like minutes ago, which is nothing: most of the time it is empty, and then it has
 * 100,000 rows. Every statement here has an index for its way, and takes it.
 */
export const BY_INDEX =
  "SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off SET jit = off";

/**
 * Persisting and ending, each of many records in one statement that is its own transaction: no client can stand still in
 * the middle of it, with locks that others wait for.
 */
export const WRITE_FUNCTIONS = (table: Table): string => `
-- Returns which records were new, from 1 on, with the numbers that they have now. Of each record p_at tells its place.
-- Inserted in the order of their identities, so that two that insert the same never wait for each other.
CREATE FUNCTION ${table("outbox_persist")}(
  p_places uuid[], p_routes text[], p_bindings text[],
  p_at int[], p_ids text[], p_identities uuid[], p_digests text[], p_created double precision[], p_keys text[],
  p_key_hashes uuid[], p_entries text[], p_addresses text[], p_envelopes text[], p_received text[], p_payloads bytea[],
  p_received_payloads bytea[], p_seals bytea[]
) RETURNS TABLE (nth int, number bigint) LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
DECLARE
  v_nth int[];
  v_numbers bigint[];
  v_queued bigint;
BEGIN
  WITH given AS MATERIALIZED (
    SELECT nextval('${table("outbox_number")}') AS number, g.*
      FROM (
        SELECT *
          FROM unnest(
            p_at, p_ids, p_identities, p_digests, p_created, p_keys, p_key_hashes, p_entries, p_addresses,
            p_envelopes, p_received, p_payloads, p_received_payloads, p_seals
          ) WITH ORDINALITY AS u (
            at, id, identity, digest, created_at, ordering_key, key_hash, entry_id, address,
            envelope, received, payload, received_payload, seal, nth
          )
         ORDER BY nth
      ) AS g
  ), fresh AS (
    INSERT INTO ${table("outbox_record")} AS r (number, place, id, identity, digest)
    SELECT g.number, p_places[g.at], g.id, g.identity, g.digest FROM given AS g ORDER BY g.identity
    ON CONFLICT (identity) DO NOTHING
    RETURNING r.number
  ), queued AS (
    INSERT INTO ${table("outbox_queue")} (
      place, number, bytes, created_at, key_hash, id, route_id, binding_id, entry_id, ordering_key, address, envelope,
      received, payload, received_payload, seal
    )
    SELECT p_places[g.at], g.number,
           octet_length(g.payload) + coalesce(octet_length(g.received_payload), 0) + octet_length(g.envelope),
           g.created_at, g.key_hash, g.id, p_routes[g.at], p_bindings[g.at], g.entry_id, g.ordering_key, g.address,
           g.envelope, g.received, g.payload, g.received_payload, g.seal
      FROM given AS g
     WHERE g.number IN (SELECT f.number FROM fresh AS f)
    RETURNING 1
  )
  SELECT array_agg(g.nth::int), array_agg(g.number), (SELECT count(*) FROM queued)
    INTO v_nth, v_numbers, v_queued
    FROM given AS g WHERE g.number IN (SELECT f.number FROM fresh AS f);
  -- A trigger that somebody else has made may keep rows from being written, and says nothing.
  IF v_queued <> coalesce(cardinality(v_numbers), 0) THEN
    RAISE integrity_constraint_violation USING MESSAGE = 'records were not kept';
  END IF;
  RETURN QUERY SELECT * FROM unnest(v_nth, v_numbers);
END $$;

-- Ends loans whose token is the record's; status 0 is a retry. Returns which were entered, from 1 on.
CREATE FUNCTION ${table("outbox_finish")}(
  p_places uuid[], p_numbers bigint[], p_ids text[], p_tokens text[], p_statuses int[], p_attempts int[], p_delays double precision[],
  p_mark double precision
) RETURNS TABLE (nth int) LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := ${table("outbox_now")}();
  v_nth int[];
  v_unmarked bigint[];
BEGIN
  WITH given AS MATERIALIZED (
    SELECT *
      FROM unnest(p_places, p_numbers, p_ids, p_tokens, p_statuses, p_attempts, p_delays)
           WITH ORDINALITY AS g (place, number, id, token, status, attempts, delay, nth)
  ), finished AS (
    DELETE FROM ${table("outbox_queue")} AS q USING given AS g
     WHERE g.status <> 0 AND q.place = g.place AND q.number = g.number AND q.id = g.id AND q.token = g.token
    RETURNING g.number, g.id, g.status, g.nth
  ), marked AS (
    UPDATE ${table("outbox_record")} AS r SET status = f.status, finished_at = v_now, mark = p_mark
      FROM finished AS f
     WHERE r.number = f.number AND r.id = f.id
    RETURNING r.number
  ), retried AS (
    UPDATE ${table("outbox_queue")} AS q
       SET held_at = v_now,
           held_until = CASE WHEN g.delay > 0 THEN v_now + g.delay * interval '1 ms' END,
           attempts = g.attempts,
           token = NULL,
           mark = p_mark
      FROM given AS g
     WHERE g.status = 0 AND q.place = g.place AND q.number = g.number AND q.id = g.id AND q.token = g.token
    RETURNING g.nth
  )
  SELECT (SELECT array_agg(e.nth::int) FROM (SELECT f.nth FROM finished AS f UNION ALL SELECT t.nth FROM retried AS t) AS e),
         ARRAY(SELECT f.number FROM finished AS f WHERE f.number NOT IN (SELECT m.number FROM marked AS m))
    INTO v_nth, v_unmarked;
  -- What is still as it was, a trigger that somebody else has made has kept so, and says nothing. Evidence may be gone, or be
  -- another record's.
  IF EXISTS (
    SELECT
      FROM unnest(p_numbers, p_ids) AS g (number, id)
      JOIN ${table("outbox_record")} AS r ON r.number = g.number AND r.id = g.id
     WHERE g.number = ANY (v_unmarked) AND r.status = 0
  ) OR coalesce(cardinality(v_nth), 0) < cardinality(p_numbers) AND EXISTS (
    SELECT
      FROM unnest(p_places, p_numbers, p_ids, p_tokens) AS g (place, number, id, token)
      JOIN ${table("outbox_queue")} AS q ON q.place = g.place AND q.number = g.number AND q.id = g.id AND q.token = g.token
  ) THEN
    RAISE integrity_constraint_violation USING MESSAGE = 'ends of loans were not kept';
  END IF;
  RETURN QUERY SELECT unnest(v_nth);
END $$;
`;
