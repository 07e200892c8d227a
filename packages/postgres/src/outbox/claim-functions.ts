import { BY_INDEX } from "./write-functions.ts";

type Table = (name: string) => string;

/** No loan and no wait is as long as this: somebody has changed the row. A wait may be as long as a duration can be. */
const LONGEST = { loan: "30 days", wait: "4000 days" } as const;

/**
 * Whether a claim may have the record: it is on loan to nobody and waits for nothing, or no more. A hold that has not begun
 * yet, by more than clocks jitter, was made before the server's clock was set back: nobody waits for that time again. One that
 * is longer than any can be is none.
 */
export const free = (q: string, now: string, lost?: string): string => `(
  ${q}.held_until IS NULL OR ${q}.held_until <= ${now} OR ${q}.held_at > ${now} + interval '1 minute'
  OR ${q}.held_until > least(${q}.held_at, ${now})
     + CASE WHEN ${q}.token IS NULL THEN interval '${LONGEST.wait}' ELSE interval '${LONGEST.loan}' END
  ${lost === undefined ? "" : `OR ${q}.token = ANY (${lost})`}
) IS TRUE`;

/**
 * Lending. Rows that others have locked are passed over. Without keys that is all; of a key, what is behind such a row would
 * come next: so each key is looked at once more when its records are locked. The lock of the place keeps claims at once from
 * splitting a key between them; the order does not depend on it.
 */
export const CLAIM_FUNCTIONS = (table: Table): string => `
-- Lends what is due, oldest first, from p_floor on; what is on loan under a token of p_lost is due. Those of p_spoiled are not there
-- for it.
CREATE FUNCTION ${table("outbox_claim")}(
  p_place uuid, p_floor bigint, p_limit int, p_bytes bigint, p_loan_ms double precision, p_spoiled bigint[],
  p_token text, p_lost text[]
) RETURNS TABLE (place uuid, number bigint, attempts int, id text) LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
DECLARE
  v_keyed boolean;
  v_now timestamptz;
  v_picked bigint[];
  v_lent bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION USING ERRCODE = 'active_sql_transaction', MESSAGE = 'default_transaction_isolation must be read committed';
  END IF;
  v_keyed := EXISTS (SELECT FROM ${table("outbox_queue")} AS q WHERE q.place = p_place AND q.key_hash IS NOT NULL);
  IF v_keyed THEN
    PERFORM pg_advisory_xact_lock('${table("outbox_queue")}'::regclass::oid::int, uuid_hash(p_place));
  END IF;
  v_now := ${table("outbox_now")}();
  SELECT array_agg(s.number) INTO v_picked
    FROM (
      SELECT c.number, sum(c.bytes) OVER (ORDER BY c.number) - c.bytes AS before
        FROM (
          SELECT q.number, q.bytes
            FROM ${table("outbox_queue")} AS q
           WHERE q.place = p_place AND q.number >= p_floor AND ${free("q", "v_now", "p_lost")}
             AND q.number <> ALL (p_spoiled)
             AND (q.key_hash IS NULL OR v_keyed AND (
               SELECT h.number >= p_floor AND ${free("h", "v_now", "p_lost")}
                 FROM ${table("outbox_queue")} AS h
                WHERE h.place = p_place AND h.key_hash = q.key_hash AND h.number <> ALL (p_spoiled) ORDER BY h.number LIMIT 1
             ))
           ORDER BY q.number LIMIT p_limit
             FOR UPDATE OF q SKIP LOCKED
        ) AS c
    ) AS s
   WHERE s.before < p_bytes;
  IF v_keyed THEN
    -- Of each key, up to the first that is not picked, be it locked by others or held.
    SELECT array_agg(s.number) INTO v_picked
      FROM (
        SELECT c.number, c.key_hash,
               bool_and(c.elder IS NOT DISTINCT FROM c.elder_picked) OVER (PARTITION BY c.key_hash ORDER BY c.number) AS is_next
          FROM (
            SELECT q.number, q.key_hash, lag(q.number) OVER (PARTITION BY q.key_hash ORDER BY q.number) AS elder_picked, (
                     SELECT max(o.number) FROM ${table("outbox_queue")} AS o
                      WHERE o.place = p_place AND o.key_hash = q.key_hash AND o.number < q.number
                        AND o.number <> ALL (p_spoiled)
                   ) AS elder
              FROM ${table("outbox_queue")} AS q
             WHERE q.place = p_place AND q.number = ANY (v_picked)
          ) AS c
      ) AS s
     WHERE s.key_hash IS NULL OR s.is_next;
  END IF;
  RETURN QUERY
  UPDATE ${table("outbox_queue")} AS q
     SET held_at = v_now, held_until = v_now + p_loan_ms * interval '1 ms', token = p_token
   WHERE q.place = p_place AND q.number = ANY (v_picked)
  RETURNING q.place, q.number, q.attempts, q.id;
  -- They were locked: a trigger that somebody else has made keeps them from being lent, and says nothing.
  GET DIAGNOSTICS v_lent = ROW_COUNT;
  IF v_lent <> coalesce(cardinality(v_picked), 0) THEN
    RAISE integrity_constraint_violation USING MESSAGE = 'loans were not kept';
  END IF;
END $$;

-- Lends one record, due or not and whatever its key.
CREATE FUNCTION ${table("outbox_claim_one")}(
  p_id text, p_loan_ms double precision, p_token text, p_lost text[]
) RETURNS TABLE (place uuid, number bigint, attempts int, id text) LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := ${table("outbox_now")}();
BEGIN
  RETURN QUERY
  UPDATE ${table("outbox_queue")} AS q
     SET held_at = v_now, held_until = v_now + p_loan_ms * interval '1 ms', token = p_token
    FROM (
      SELECT r.place, r.number FROM ${table("outbox_record")} AS r
       WHERE r.id = p_id AND r.status = 0 ORDER BY r.number LIMIT 1
    ) AS r
   WHERE q.place = r.place AND q.number = r.number AND (q.token IS NULL OR ${free("q", "v_now", "p_lost")})
  RETURNING q.place, q.number, q.attempts, q.id;
END $$;
`;
