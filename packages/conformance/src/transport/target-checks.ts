import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { type Addressing, BridgeError, type Envelope, RESERVED, RESERVED_PREFIX, systemClock } from "@bridge/ports";
import { within } from "../harness/within.ts";
import { type Check, isTransient } from "./check.ts";
import { lowerCaseHeaders } from "./content-checks.ts";
import { bytesOf, envelopeOf } from "./messages.ts";
import type { Stage } from "./stage.ts";

const OVERLAPPING = 100;
/** Time for a send to get under way. Whether it does decides nothing. */
const HEAD_START_MS = 50;
const CONTROLS = ["\0", "\t", "\r\n", "\u001b", "\u007f", "\u0085"];

export const TARGET_CHECKS = {
  "reserved headers stay behind, but for the causation id": async (stage, signal) => {
    const producer = await stage.producer();
    const reserved = { [RESERVED.generatedId]: "true", [`${RESERVED_PREFIX}later`]: "1" };
    const headers = { ...reserved, [RESERVED.causationId]: "first", plain: "2" };
    const message = stage.message("target", { headers, dedupId: "d", orderingKey: "k" });
    await producer.deliver(envelopeOf(message), signal);
    const [arrived] = await stage.collect(1);
    const carried = Object.entries(lowerCaseHeaders(arrived ?? message));
    assert.deepEqual(
      carried.filter(([name]) => name.startsWith(RESERVED_PREFIX)),
      [[RESERVED.causationId, "first"]],
    );
  },
  "sends that overlap all arrive": async (stage, signal) => {
    const producer = await stage.producer();
    const payloads = Array.from({ length: OVERLAPPING }, (_, i) => `m${i}`);
    const sends = payloads.map((payload) => producer.send(envelope(stage, payload), signal));
    await within(Promise.all(sends), signal, "overlapping sends");
    await stage.collectTexts(payloads);
  },
  "a send whose signal has aborted before rejects": async (stage, signal) => {
    const producer = await stage.producer();
    const send = producer.send(envelope(stage, "a"), AbortSignal.abort(new Error("given up")));
    await within(assert.rejects(send), signal, "an aborted send to reject");
  },
  "a blocked send rejects when its signal aborts": async (stage, signal) => {
    const producer = await stage.producer();
    stage.link("target").freeze();
    const controller = new AbortController();
    const send = producer.send(envelope(stage, "a"), controller.signal);
    await headStart(send, signal);
    controller.abort(new Error("given up"));
    await within(assert.rejects(send), signal, "a blocked send to reject when it is aborted");
    await stage.link("target").restore();
    await producer.deliver(envelope(stage, "b"), signal);
    await stage.collectTexts(["b"]);
  },
  "a send that is cut off fails as transient, and a later one succeeds": async (stage, signal) => {
    const producer = await stage.producer();
    const link = stage.link("target");
    link.freeze();
    const send = producer.send(envelope(stage, "a"), signal);
    await headStart(send, signal);
    link.refuse();
    link.cut();
    await within(assert.rejects(send, isTransient), signal, "a send that was cut off to fail");
    await link.restore();
    await producer.deliver(envelope(stage, "b"), signal);
    await stage.collectTexts(["b"]);
  },
  "without a connection a send fails as transient": async (stage, signal) => {
    const producer = await stage.producer();
    const connection = await producer.session?.up(1, signal);
    stage.link("target").refuse();
    stage.link("target").cut();
    if (connection !== undefined) await within(connection.closed, signal, "the connection to be closed");
    const send = producer.send(envelope(stage, "a"), signal);
    await within(assert.rejects(send, connection === undefined ? isTransient : isNotTried), signal, "a send to fail");
  },
  "keeps one listener at most on the signal of many sends": async (stage, signal) => {
    const producer = await stage.producer();
    const shared = new AbortController().signal;
    for (let i = 0; i < 20; i++) await within(producer.send(envelope(stage, `m${i}`), shared), signal, "a send");
    assert.ok(getEventListeners(shared, "abort").length <= 1, "listeners stay when the sends have ended");
  },
  "no value puts a control character into an address": async (stage) => {
    const { addressing } = (await stage.producer()).sender;
    if (addressing === undefined) return;
    for (const control of CONTROLS) assert.doesNotMatch(filled(addressing, `a${control}b`), /\p{Cc}/u);
    assert.notEqual(addressing.separator, "", "an empty separator is in every value");
  },
  "disposing the sender twice is once": async (stage, signal) => {
    const { sender } = await stage.producer();
    await within(sender[Symbol.asyncDispose](), signal, "the sender to be disposed");
    await within(sender[Symbol.asyncDispose](), signal, "the sender to be disposed again");
  },
  "disposing the sender ends a blocked send": async (stage, signal) => {
    const producer = await stage.producer();
    stage.link("target").freeze();
    const send = producer.send(envelope(stage, "a"), signal);
    await headStart(send, signal);
    await within(producer[Symbol.asyncDispose](), signal, "a sender to be disposed whose send is blocked");
    await within(assert.rejects(send), signal, "a blocked send to reject when its sender is disposed");
  },
} as const satisfies Record<string, Check>;

/** Lets a send get under way; its failure is looked at later. */
async function headStart(send: Promise<void>, signal: AbortSignal): Promise<void> {
  send.catch(() => {});
  await systemClock.delay(HEAD_START_MS, signal);
}

function envelope(stage: Stage, payload: string): Envelope {
  return envelopeOf(stage.message("target", { payload: bytesOf(payload) }));
}

/** What a value makes of an address; nothing when it is refused. */
function filled(addressing: Addressing, value: string): string {
  try {
    return addressing.fill(value, "a/");
  } catch (error) {
    assert.equal(BridgeError.from(error).code, "BINDING_UNRESOLVED");
    return "";
  }
}

function isNotTried(error: unknown): true {
  isTransient(error);
  assert.equal(BridgeError.from(error).charged, false, "a send without a connection was not tried: it is not charged");
  return true;
}
