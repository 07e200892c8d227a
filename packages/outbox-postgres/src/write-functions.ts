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
-- Returns the places, from 1 on, of those that were new, with the numbers that they have now.
-- Inserted in the order of their identities, so that two that insert the same never wait for each other.
CREATE FUNCTION ${table("outbox_persist")}(
  p_lanes int[], p_ids text[], p_identities uuid[], p_digests text[], p_created double precision[], p_keys text[],
  p_key_hashes uuid[], p_entries text[], p_addresses text[], p_envelopes text[], p_received text[], p_payloads bytea[],
  p_received_payloads bytea[]
) RETURNS TABLE (place int, number bigint) LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH given AS MATERIALIZED (
    SELECT nextval('${table("outbox_number")}') AS number, g.*
      FROM (
        SELECT *
          FROM unnest(
            p_lanes, p_ids, p_identities, p_digests, p_created, p_keys, p_key_hashes, p_entries, p_addresses,
            p_envelopes, p_received, p_payloads, p_received_payloads
          ) WITH ORDINALITY AS u (
            lane, id, identity, digest, created_at, ordering_key, key_hash, entry_id, address,
            envelope, received, payload, received_payload, place
          )
         ORDER BY place
      ) AS g
  ), fresh AS (
    INSERT INTO ${table("outbox_record")} AS r (number, lane, id, identity, digest)
    SELECT g.number, g.lane, g.id, g.identity, g.digest FROM given AS g ORDER BY g.identity
    ON CONFLICT (identity) DO NOTHING
    RETURNING r.number
  ), queued AS (
    INSERT INTO ${table("outbox_queue")} (
      lane, number, bytes, created_at, key_hash, id, entry_id, ordering_key, address, envelope, received, payload,
      received_payload
    )
    SELECT g.lane, g.number,
           octet_length(g.payload) + coalesce(octet_length(g.received_payload), 0) + octet_length(g.envelope),
           g.created_at, g.key_hash, g.id, g.entry_id, g.ordering_key, g.address, g.envelope, g.received, g.payload,
           g.received_payload
      FROM given AS g
     WHERE g.number IN (SELECT f.number FROM fresh AS f)
  )
  SELECT g.place::int, g.number FROM given AS g WHERE g.number IN (SELECT f.number FROM fresh AS f);
END $$;

-- Ends loans whose token is the record's; status 0 is a retry. Returns the places of those that were entered.
CREATE FUNCTION ${table("outbox_finish")}(
  p_lanes int[], p_numbers bigint[], p_ids text[], p_tokens text[], p_statuses int[], p_attempts int[],
  p_delays double precision[], p_instance text, p_reading double precision, p_now double precision,
  p_word double precision
) RETURNS TABLE (place int) LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH given AS MATERIALIZED (
    SELECT *
      FROM unnest(p_lanes, p_numbers, p_ids, p_tokens, p_statuses, p_attempts, p_delays)
      WITH ORDINALITY AS u (lane, number, id, token, status, attempts, delay, place)
  ), finished AS (
    DELETE FROM ${table("outbox_queue")} AS q USING given AS g
     WHERE g.status <> 0 AND q.lane = g.lane AND q.number = g.number AND q.id = g.id AND q.token = g.token
    RETURNING q.number, g.status, g.place
  ), marked AS (
    UPDATE ${table("outbox_record")} AS r SET status = f.status, finished_at = p_now, word = p_word
      FROM finished AS f
     WHERE r.number = f.number
  ), retried AS (
    UPDATE ${table("outbox_queue")} AS q
       SET held_by = CASE WHEN g.delay > 0 THEN p_instance END,
           held_until = p_reading + g.delay,
           due_at = p_now + g.delay,
           attempts = g.attempts,
           token = NULL,
           word = p_word
      FROM given AS g
     WHERE g.status = 0 AND q.lane = g.lane AND q.number = g.number AND q.id = g.id AND q.token = g.token
    RETURNING g.place
  )
  SELECT f.place::int FROM finished AS f UNION ALL SELECT t.place::int FROM retried AS t;
END $$;
`;
