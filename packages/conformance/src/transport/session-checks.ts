import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { type Connection, type Session, type SessionRole, systemClock } from "@bridge/ports";
import { within } from "../harness/within.ts";
import { isTransient } from "./check.ts";
import type { Stage } from "./stage.ts";

/** As a {@link Check}, for one half of a session. */
export type SessionCheck = (stage: Stage, role: SessionRole, signal: AbortSignal) => Promise<void>;

/** Time for an attempt to get under way. Whether it does decides nothing. */
const HEAD_START_MS = 50;

export const SESSION_CHECKS = {
  "connects, closes and connects again": async (stage, role, signal) => {
    const session = await stage.buildSession(role);
    const first = await connect(session, signal);
    await close(first, signal);
    assert.equal(await closed(first, signal), undefined, "a connection that was closed names a cause");
    await close(await connect(session, signal), signal);
  },
  "a connection that is cut settles closed with a transient error": async (stage, role, signal) => {
    const connection = await connect(await stage.buildSession(role), signal);
    stage.link(role).cut();
    isTransient(await closed(connection, signal));
  },
  "disposing a lost connection does nothing": async (stage, role, signal) => {
    const session = await stage.buildSession(role);
    const lost = await connect(session, signal);
    stage.link(role).cut();
    await closed(lost, signal);
    const next = await connect(session, signal);
    await close(lost, signal);
    await within(next.reconcile(signal), signal, "the next connection to go on");
  },
  "disposing a connection twice is once": async (stage, role, signal) => {
    const connection = await connect(await stage.buildSession(role), signal);
    await close(connection, signal);
    await close(connection, signal);
  },
  "a refused connection is a transient error": async (stage, role, signal) => {
    const session = await stage.buildSession(role);
    stage.link(role).refuse();
    await within(assert.rejects(session.connect(signal), isTransient), signal, "a refused attempt to fail");
    await stage.link(role).restore();
    await connect(session, signal);
  },
  "an attempt whose signal aborts rejects": async (stage, role, signal) => {
    const session = await stage.buildSession(role);
    stage.link(role).freeze();
    const controller = new AbortController();
    const attempt = session.connect(controller.signal);
    attempt.catch(() => {});
    await systemClock.delay(HEAD_START_MS, signal);
    controller.abort(new Error("given up"));
    await within(assert.rejects(attempt), signal, "an aborted attempt to reject");
    await stage.link(role).restore();
    await connect(session, signal);
  },
  "reconciling makes the wanted subscriptions, and twice is once": async (stage, role, signal) => {
    const session = await stage.buildSession(role);
    const connection = await connect(session, signal);
    const wanted = [...session.subscriptions].toSorted();
    if (role === "target") assert.deepEqual(wanted, [], "a target wants no subscriptions");
    else assert.notDeepEqual(wanted, [], "the session does not know what its receiver wants");
    for (let i = 0; i < 2; i++) {
      const active = await within(connection.reconcile(signal), signal, "the subscriptions to be acknowledged");
      assert.deepEqual([...active].toSorted(), wanted);
    }
  },
  "leaves no listener on the signal of an attempt": async (stage, role, signal) => {
    const session = await stage.buildSession(role);
    const bound = new AbortController().signal;
    const connection = await connect(session, bound);
    await within(connection.reconcile(bound), signal, "the subscriptions to be acknowledged");
    assert.equal(getEventListeners(bound, "abort").length, 0, "listeners stay when the attempt has succeeded");
  },
  "disposing the session closes its connection, and twice is once": async (stage, role, signal) => {
    const session = await stage.buildSession(role);
    const connection = await connect(session, signal);
    await within(session[Symbol.asyncDispose](), signal, "the session to be disposed");
    await closed(connection, signal);
    await within(session[Symbol.asyncDispose](), signal, "the session to be disposed again");
  },
} as const satisfies Record<string, SessionCheck>;

function connect(session: Session, signal: AbortSignal): Promise<Connection> {
  return within(session.connect(signal), signal, "a connection");
}

function close(connection: Connection, signal: AbortSignal): Promise<void> {
  return within(connection[Symbol.asyncDispose](), signal, "a connection to be disposed");
}

function closed(connection: Connection, signal: AbortSignal): Promise<unknown> {
  return within(connection.closed, signal, "closed to settle");
}
