import { BridgeError } from "@bridge/ports";
import { DatabaseError } from "pg";
import { expect, test } from "vitest";
import { Declined, failureOf, leavesUsable, NoAnswer } from "../../src/client/failure.ts";

function answered(code: string, severity = "ERROR"): DatabaseError {
  const error = new DatabaseError('Key (id)=(secret) already exists, "secret"', 0, "error");
  return Object.assign(error, { code, severity, detail: "secret" });
}

const AGAIN = { again: true, unsure: false };
const PERHAPS = { again: true, unsure: true };
const NEVER = { again: false, unsure: false };

test.each([
  ["08006", "CONNECTION_LOST", PERHAPS],
  ["22P05", "REJECTED", NEVER],
  ["25001", "UNAVAILABLE", NEVER],
  ["25006", "UNAVAILABLE", AGAIN],
  ["28P01", "NOT_AUTHORIZED", NEVER],
  ["28000", "NOT_AUTHORIZED", NEVER],
  ["3D000", "DESTINATION_NOT_FOUND", NEVER],
  ["3F000", "DESTINATION_NOT_FOUND", NEVER],
  ["40001", "UNAVAILABLE", AGAIN],
  ["40P01", "UNAVAILABLE", AGAIN],
  ["40003", "CONNECTION_LOST", PERHAPS],
  ["42P01", "DESTINATION_NOT_FOUND", NEVER],
  ["42501", "FORBIDDEN", NEVER],
  ["42883", "UNAVAILABLE", NEVER],
  ["42P05", "UNAVAILABLE", NEVER],
  ["26000", "UNAVAILABLE", NEVER],
  ["53100", "UNAVAILABLE", AGAIN],
  ["53300", "THROTTLED", AGAIN],
  ["54000", "PAYLOAD_TOO_LARGE", NEVER],
  ["55P03", "UNAVAILABLE", AGAIN],
  ["57014", "TIMEOUT", AGAIN],
  ["57P01", "UNAVAILABLE", PERHAPS],
  ["57P03", "UNAVAILABLE", AGAIN],
  ["58030", "UNAVAILABLE", PERHAPS],
  ["XX000", "UNAVAILABLE", PERHAPS],
  ["99999", "INTERNAL", NEVER],
])("SQLSTATE %s is %s", (state, code, then) => {
  const failure = failureOf(answered(state), "reading a lease", "host:5432/db");
  expect(failure).toMatchObject({ error: { code, charged: false }, ...then });
  expect(failure.error.message).toMatch(new RegExp(`^reading a lease at host:5432/db: .+ \\(SQLSTATE ${state}\\)$`));
  expect(failure.error.message + String(failure.error.cause)).not.toContain("secret");
});

test.each([
  ["25P03", AGAIN],
  ["25P02", AGAIN],
  ["0A000", NEVER],
])("finding 6.7: %s says nothing about the record that was to be written", (state, then) => {
  expect(failureOf(answered(state), "writing", "host:5432/db")).toMatchObject({
    error: { code: "UNAVAILABLE", charged: false },
    fault: true,
    ...then,
  });
});

test.each(["22001", "22003", "23001", "23502", "23503", "23505", "23514", "23P01", "23xxx"])(
  "%s, which no record of the bridge brings about, is a fault of the store with the constraint and the remedy",
  (state) => {
    const thrown = Object.assign(answered(state), { constraint: "outbox_record_pkey" });
    const failure = failureOf(thrown, "persisting", "host:5432/db");
    expect(failure).toMatchObject({ ...NEVER, fault: true, error: { code: "UNAVAILABLE", charged: false } });
    expect(failure.error.message).toMatch(/somebody else has changed the tables: put a sequence /);
    expect(failure.error.message).toContain(`(SQLSTATE ${state}, constraint outbox_record_pkey)`);
    expect(failure.error.message).not.toContain("secret");
  },
);

test.each([
  [Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" }), "CONNECTION_LOST", AGAIN],
  [Object.assign(new Error("read"), { code: "ECONNRESET", syscall: "read" }), "CONNECTION_LOST", PERHAPS],
  [new Error("Connection terminated unexpectedly"), "CONNECTION_LOST", PERHAPS],
  [new Error("Connection terminated due to connection timeout"), "TIMEOUT", AGAIN],
  [new Error("timeout expired"), "TIMEOUT", AGAIN],
  [new Error("The server does not support SSL connections"), "UNAVAILABLE", NEVER],
  [new NoAnswer(), "TIMEOUT", PERHAPS],
  [new TypeError("x is not a function"), "INTERNAL", NEVER],
])("%s is %s", (thrown, code, then) => {
  expect(failureOf(thrown, "writing", "host:5432/db")).toMatchObject({ error: { code, charged: false }, ...then });
});

const UNREADABLE = new BridgeError("UNAVAILABLE", 'tls.ca_file "/ca.pem" cannot be read: EACCES');
const NO_PASSWORD = new BridgeError("NOT_AUTHORIZED", "the server asks for a password", { charged: false });

test.each([UNREADABLE, NO_PASSWORD])("%s is a fault, and is not tried again", (thrown) => {
  const failure = failureOf(thrown, "writing", "host:5432/db");
  expect(failure).toMatchObject({ ...NEVER, fault: true, error: { code: thrown.code, charged: false } });
  expect(failure.error.message).toBe(`writing at host:5432/db: ${thrown.message}`);
});

test("what the work of a transaction throws is passed on as it is, and is no fault", () => {
  const failure = failureOf(new Declined(NO_PASSWORD), "writing", "host:5432/db");
  expect(failure).toEqual({ ...NEVER, late: false, fault: false, error: NO_PASSWORD });
});

test("a wrong isolation is a fault, with its name, what it has to be and the remedy", () => {
  const { error, fault } = failureOf(answered("25001"), "claiming", "host:5432/db");
  expect(fault).toBe(true);
  expect(error.message).toBe(
    "claiming at host:5432/db: default_transaction_isolation must be read committed: ALTER ROLE … SET default_transaction_isolation = 'read committed' (SQLSTATE 25001)",
  );
});

test("only what the server has answered and goes on after leaves a connection usable", () => {
  expect(leavesUsable(answered("23505"))).toBe(true);
  expect(leavesUsable(answered("25001"))).toBe(false);
  expect(leavesUsable(answered("25006"))).toBe(false);
  expect(leavesUsable(answered("57P01", "FATAL"))).toBe(false);
  expect(leavesUsable(new Error("Connection terminated"))).toBe(false);
});
