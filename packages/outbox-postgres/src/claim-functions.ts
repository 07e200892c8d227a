import { BY_INDEX } from "./write-functions.ts";

type Table = (name: string) => string;

/**
 * Whether nobody has the record and it need not wait any more. Each hold is measured by the clock of the instance that
 * made it, of which \`p_readings\` has what it shows at least by now. A wait for a retry may end sooner, by the time of day.
 */
export const over = (q: string): string => `(
  ${q}.held_by IS NULL
  OR ${q}.held_until <= p_readings[array_position(p_instances, ${q}.held_by)]
  OR (${q}.token IS NULL AND ${q}.held_by <> p_instance AND ${q}.due_at <= p_now)
) IS TRUE`;

/**
 * Lending as of version 1; version 2 has its own `outbox_claim`. Records of a key follow one another, which needs more
 * than locks on rows: claims on a lane that has keys take turns, and each statement after the lock sees what the last one
 * has lent.
 */
export const CLAIM_FUNCTIONS = (table: Table): string => `
-- Lends what is due, oldest first. A row with -1 attempts tells of the oldest number of the lane, if p_look asks for it.
-- Of several tries of one claim at most one lends: the first that writes down its turn.
CREATE FUNCTION ${table("outbox_claim")}(
  p_claimer text, p_turn bigint, p_lane int, p_floor bigint, p_look boolean, p_limit int, p_bytes bigint,
  p_instance text, p_until double precision, p_token text, p_lost text[], p_instances text[],
  p_readings double precision[], p_now double precision
) RETURNS TABLE (number bigint, attempts int, id text) LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
DECLARE
  v_picked bigint[];
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION USING ERRCODE = 'active_sql_transaction', MESSAGE = 'default_transaction_isolation must be read committed';
  END IF;
  IF p_look THEN
    RETURN QUERY
    SELECT q.number, -1, q.id FROM ${table("outbox_queue")} AS q WHERE q.lane = p_lane ORDER BY q.number LIMIT 1;
  END IF;
  IF (SELECT l.keyed FROM ${table("outbox_lane")} AS l WHERE l.lane = p_lane) THEN
    PERFORM pg_advisory_xact_lock('${table("outbox_queue")}'::regclass::oid::int, p_lane);
    SELECT array_agg(s.number) INTO v_picked
      FROM (
        SELECT c.number, sum(c.bytes) OVER (ORDER BY c.number) - c.bytes AS before
          FROM (
            SELECT q.number, q.bytes
              FROM ${table("outbox_queue")} AS q
             WHERE q.lane = p_lane AND q.number >= p_floor AND ${over("q")}
               AND (q.key_hash IS NULL OR NOT EXISTS (
                 SELECT FROM ${table("outbox_queue")} AS o
                  WHERE o.lane = p_lane AND o.key_hash = q.key_hash AND o.number < q.number
                    AND (o.number < p_floor OR NOT ${over("o")})
               ))
             ORDER BY q.number LIMIT p_limit
               FOR UPDATE OF q SKIP LOCKED
          ) AS c
      ) AS s
     WHERE s.before < p_bytes;
  ELSE
    SELECT array_agg(s.number) INTO v_picked
      FROM (
        SELECT c.number, sum(c.bytes) OVER (ORDER BY c.number) - c.bytes AS before
          FROM (
            SELECT q.number, q.bytes
              FROM ${table("outbox_queue")} AS q
             WHERE q.lane = p_lane AND q.number >= p_floor AND q.key_hash IS NULL AND ${over("q")}
             ORDER BY q.number LIMIT p_limit
               FOR UPDATE OF q SKIP LOCKED
          ) AS c
      ) AS s
     WHERE s.before < p_bytes;
  END IF;
  IF v_picked IS NULL AND cardinality(p_lost) = 0 THEN
    RETURN;
  END IF;
  INSERT INTO ${table("outbox_claimer")} AS c (claimer, lane, turn) VALUES (p_claimer, p_lane, p_turn)
  ON CONFLICT (claimer, lane) DO UPDATE SET turn = excluded.turn, claimed_at = now() WHERE c.turn < excluded.turn;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF cardinality(p_lost) > 0 THEN
    UPDATE ${table("outbox_queue")} AS q SET held_by = NULL, token = NULL
     WHERE q.lane = p_lane AND q.token = ANY (p_lost);
  END IF;
  RETURN QUERY
  UPDATE ${table("outbox_queue")} AS q SET held_by = p_instance, held_until = p_until, token = p_token
   WHERE q.lane = p_lane AND q.number = ANY (v_picked)
  RETURNING q.number, q.attempts, q.id;
END $$;

-- Lends one record, due or not and whatever its key. A further try of the same claim gets what the first one got.
CREATE FUNCTION ${table("outbox_claim_one")}(
  p_id text, p_instance text, p_until double precision, p_token text, p_instances text[],
  p_readings double precision[], p_now double precision
) RETURNS TABLE (lane int, number bigint, attempts int) LANGUAGE plpgsql ${BY_INDEX} AS $$
#variable_conflict use_column
DECLARE
  v_lane int;
  v_number bigint;
BEGIN
  SELECT r.lane, r.number INTO v_lane, v_number
    FROM ${table("outbox_record")} AS r WHERE r.id = p_id AND r.status = 0 ORDER BY r.number LIMIT 1;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock('${table("outbox_queue")}'::regclass::oid::int, v_lane);
  RETURN QUERY
  UPDATE ${table("outbox_queue")} AS q SET held_by = p_instance, held_until = p_until, token = p_token
   WHERE q.lane = v_lane AND q.number = v_number AND (q.token IS NULL OR q.token = p_token OR ${over("q")})
  RETURNING q.lane, q.number, q.attempts;
END $$;
`;
