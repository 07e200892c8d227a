import { networkError } from "@bridge/ports/internal";
import { BridgeError, type ErrorCode } from "@bridge/ports";
import { DatabaseError } from "pg";

/** What a failed try comes to. */
export interface Failure {
  readonly error: BridgeError;
  /** Whether the same may succeed a little later. */
  readonly again: boolean;
  /** Whether the server may have done what it was asked for all the same. */
  readonly unsure: boolean;
  /** Whether the same may succeed when it is given more time. */
  readonly late: boolean;
  /** Whether it says something about the server, and not only about this statement. */
  readonly fault: boolean;
}

type Verdict = Omit<Failure, "error"> & { readonly code: ErrorCode; readonly why: string };

const MIGRATE = "make the tables with `bridge -create-tables`";

const REFUSED: Verdict = {
  code: "REJECTED",
  again: false,
  unsure: false,
  late: false,
  fault: false,
  why: "the server refuses the statement",
};
const SERVER: Verdict = { ...REFUSED, code: "UNAVAILABLE", again: true, fault: true, why: "the server failed" };
const CUT: Verdict = { ...SERVER, code: "CONNECTION_LOST", unsure: true, why: "the connection was lost" };
const LATE: Verdict = { ...SERVER, code: "TIMEOUT", unsure: true, late: true, why: "no answer in time" };
/** Records are written such that none is in the way of another: the tables are not as the bridge has left them. */
const MEDDLED: Verdict = {
  ...SERVER,
  again: false,
  why: "a row that was there already, or a constraint that is not the bridge's, is in its way: somebody else has changed the tables: put a sequence that was set back behind the largest number in use, and take away what is not the bridge's",
};
const SUPPRESSED: Verdict = {
  ...SERVER,
  again: false,
  why: "the server kept nothing of what it took: take away the trigger, the rule or the policy that is not the bridge's",
};
const CHANGED: Verdict = {
  ...SERVER,
  again: false,
  why: "somebody else has changed a column, a key or a function of the tables: put it back as a new schema of `bridge -create-tables` has it",
};
const POOLED: Verdict = {
  ...SERVER,
  again: false,
  why: "the server does not know the connection's statements: let the pooler be in session mode, or set its max_prepared_statements",
};
/** Somebody else has changed a table under a connection, which keeps its statements as they were; a new one has none. */
const STALE: Verdict = { ...SERVER, why: "a table was changed under the connection" };
const UNKNOWN: Verdict = { ...REFUSED, code: "INTERNAL", fault: true, why: "failed" };

/** By SQLSTATE (appendix A of the server's manual), else by its class, the first two letters. */
const BY_STATE: Readonly<Record<string, Verdict>> = {
  "08": CUT,
  // What it does not support is not what a record has in it.
  "0A": {
    ...SERVER,
    again: false,
    why: "the server does not support the statement, as with a rule on a table: take away the rule that is not the bridge's",
  },
  "22": REFUSED,
  // Columns take text and numbers of any size, so that it was somebody else who has made them narrower.
  "22001": MEDDLED,
  "22003": MEDDLED,
  // The bridge makes no row that its own constraints refuse.
  "23": MEDDLED,
  // Raised by the bridge's own functions, where they see that nothing was kept.
  "23000": SUPPRESSED,
  "25": { ...SERVER, why: "the server has ended the transaction" },
  "25001": {
    ...SERVER,
    again: false,
    why: "default_transaction_isolation must be read committed: ALTER ROLE … SET default_transaction_isolation = 'read committed'",
  },
  "25006": { ...SERVER, why: "the server is read-only, as a standby is, or default_transaction_read_only is on" },
  "26": POOLED,
  "28": { ...SERVER, code: "NOT_AUTHORIZED", again: false, why: "not let in: check user, password and pg_hba.conf" },
  "3D000": { ...SERVER, code: "DESTINATION_NOT_FOUND", again: false, why: "there is no such database" },
  "3F": { ...SERVER, code: "DESTINATION_NOT_FOUND", again: false, why: `there is no such schema: ${MIGRATE}` },
  "40": { ...SERVER, fault: false, why: "it collided with others" },
  "40003": CUT,
  "42P05": POOLED,
  // The tables are there, and otherwise than the bridge has made them.
  "42P10": CHANGED,
  "42804": CHANGED,
  "42846": CHANGED,
  "42883": CHANGED,
  "42501": { ...SERVER, code: "FORBIDDEN", again: false, why: "not allowed: grant the privileges to the user" },
  "42": { ...SERVER, code: "DESTINATION_NOT_FOUND", again: false, why: `the tables are not as needed: ${MIGRATE}` },
  "53": { ...SERVER, why: "the server is out of room" },
  "53300": { ...SERVER, code: "THROTTLED", why: "the server has no connection left" },
  "54": { ...REFUSED, code: "PAYLOAD_TOO_LARGE", why: "it is larger than the server takes" },
  "55P03": { ...SERVER, fault: false, why: "a lock was not free in time" },
  "57": { ...SERVER, unsure: true, why: "the server ends connections, or starts" },
  "57014": { ...LATE, unsure: false, why: "the server gave the statement up after its time" },
  "57P03": { ...SERVER, why: "the server takes no connections yet" },
  "58": { ...SERVER, unsure: true },
  XX: { ...SERVER, unsure: true },
};

/** A connection keeps its isolation, and a server that has become a standby stays one for its connections. */
const FOR_LIFE: ReadonlySet<string> = new Set(["25001", "25006"]);

const UNCONNECTED: Verdict = { ...LATE, unsure: false, late: false, why: "no connection in time" };

/** What the client library says without a code, by the beginning of its text. */
const BY_TEXT: readonly (readonly [begin: string, verdict: Verdict])[] = [
  ["timeout exceeded when trying to connect", UNCONNECTED],
  ["Connection terminated due to connection timeout", UNCONNECTED],
  ["timeout expired", UNCONNECTED],
  ["Connection terminated", CUT],
  ["Client has encountered a connection error", CUT],
  ["The server does not support SSL", { ...SERVER, again: false, why: "the server has no TLS: remove tls or sslmode" }],
];

/** Nothing left the machine. */
const UNREACHED: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
]);

/** No answer within the time that one try has. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/** No connection within the time that one try waits for it; it may still come. */
export class NoConnection extends Error {
  override readonly name = "NoConnection";
}

/** The server says that it has made a write, and what was written is not there. */
export class NothingKept extends Error {
  override readonly name = "NothingKept";
}

/** What the work of a transaction throws of its own accord, after it was undone: it says nothing about the server. */
export class Declined extends Error {
  override readonly name = "Declined";
  readonly reason: BridgeError;

  constructor(reason: BridgeError) {
    super(reason.message);
    this.reason = reason;
  }
}

/**
 * The failure behind what was thrown; `what` was tried at `label`. Its text is made here: the server's own may repeat
 * values, so that it is not passed on, but for its SQLSTATE and the name of a constraint.
 */
export function failureOf(thrown: unknown, what: string, label: string): Failure {
  const failed = (verdict: Verdict, detail: string): Failure => {
    const { code, why, ...rest } = verdict;
    const text = `${what} at ${label}: ${why}${detail === "" ? "" : ` (${detail})`}`;
    return { ...rest, error: new BridgeError(code, text, { charged: false }) };
  };
  if (thrown instanceof Declined)
    return { again: false, unsure: false, late: false, fault: false, error: thrown.reason };
  if (BridgeError.is(thrown)) return failed({ ...UNKNOWN, code: thrown.code, why: thrown.message }, "");
  if (thrown instanceof NoAnswer) return failed(LATE, "");
  if (thrown instanceof NoConnection) return failed(UNCONNECTED, "");
  if (thrown instanceof NothingKept) return failed(SUPPRESSED, "");
  if (thrown instanceof DatabaseError) {
    const { code: state = "", constraint } = thrown;
    const where = constraint === undefined ? "" : `, constraint ${constraint}`;
    if (isStale(thrown)) return failed(STALE, `SQLSTATE ${state}`);
    return failed(BY_STATE[state] ?? BY_STATE[state.slice(0, 2)] ?? UNKNOWN, `SQLSTATE ${state}${where}`);
  }
  const { code, message, syscall } = thrown as NodeJS.ErrnoException;
  const known = BY_TEXT.find(([begin]) => message.startsWith(begin));
  if (known !== undefined) return failed(known[1], "");
  if (code === undefined && syscall === undefined) return failed(UNKNOWN, "");
  const { code: verdict, message: why } = networkError(label, thrown as Error);
  const error = new BridgeError(verdict, `${what} at ${why}`, { charged: false });
  return { again: true, late: false, unsure: !UNREACHED.has(code ?? ""), fault: true, error };
}

/** Whether the connection can be used after this error: the server has answered, and goes on. */
export function leavesUsable(thrown: unknown): boolean {
  if (thrown instanceof Declined || thrown instanceof NothingKept) return true;
  if (!(thrown instanceof DatabaseError)) return false;
  return thrown.severity === "ERROR" && !FOR_LIFE.has(thrown.code ?? "") && !isStale(thrown);
}

/** "cached plan must not change result type", in whatever language. */
function isStale({ code, routine }: DatabaseError): boolean {
  return code === "0A000" && routine === "RevalidateCachedQuery";
}
