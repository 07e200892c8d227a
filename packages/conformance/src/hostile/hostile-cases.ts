import assert from "node:assert/strict";
import type { Delivery } from "@bridge/ports";
import type { Case } from "../case.ts";
import { accept, type Consumer } from "../transport/consumer.ts";
import { textOf } from "../transport/messages.ts";
import { Stage } from "../transport/stage.ts";
import { bent } from "./bent-frames.ts";
import type { HostileSubject, StandInPlace } from "./hostile-subject.ts";

/** Messages without anything to them, which have to arrive whatever was there before. */
const PLAIN: readonly string[] = Array.from({ length: 100 }, (_, index) => `plain ${index}`);

export type HostileCaseName = keyof typeof SERVER_CHECKS | keyof typeof STAND_IN_CHECKS;

type ServerCheck = (subject: HostileSubject, signal: AbortSignal) => Promise<void>;
type StandInCheck = (stage: Stage, server: StandInPlace, signal: AbortSignal) => Promise<void>;

const SERVER_CHECKS = {
  "messages that no library would write hurt nobody but themselves": hurtNobody,
} as const satisfies Record<string, ServerCheck>;

const STAND_IN_CHECKS = {
  "a server that says too much, too little or nonsense costs its connection only": (stage, server, signal) =>
    endure(
      stage,
      server,
      Object.values(server.frames).flatMap((frame) => [...bent(frame)]),
      signal,
    ),
  "a server that announces more than is taken in, or what is not there, costs its connection only": (
    stage,
    server,
    signal,
  ) => endure(stage, server, server.outrages, signal),
} as const satisfies Record<string, StandInCheck>;

/** Everything that is demanded of a source at the level of its wire. */
export function hostileCases(subject: HostileSubject): readonly Case<HostileCaseName>[] {
  const cases: Case<HostileCaseName>[] = [];
  if (subject.openServer !== undefined)
    for (const [name, check] of entries(SERVER_CHECKS)) cases.push({ name, run: (signal) => check(subject, signal) });
  if (subject.openStandIn !== undefined)
    for (const [name, check] of entries(STAND_IN_CHECKS))
      cases.push({ name, run: (signal) => besideStandIn(subject, check, signal) });
  return cases;
}

async function besideStandIn(subject: HostileSubject, check: StandInCheck, signal: AbortSignal): Promise<void> {
  const server = await subject.openStandIn?.(signal);
  assert.ok(server !== undefined);
  await using stage = new Stage(subject.plugin, server, signal);
  await check(stage, server, signal);
}

async function hurtNobody(subject: HostileSubject, signal: AbortSignal): Promise<void> {
  const place = await subject.openServer?.(signal);
  assert.ok(place !== undefined);
  await using stage = new Stage(subject.plugin, place, signal);
  const consumer = await stage.consumer();
  await place.write(place.messages, signal);
  await stage.publishTexts(...PLAIN);
  await arrive(consumer, signal);
  const connections = consumer.session?.connections ?? 1;
  assert.equal(connections, 1, "a message has cost the connection that it came on");
}

/** One connection after the other goes wrong, in each state, and then all is well. */
async function endure(
  stage: Stage,
  server: StandInPlace,
  wrongs: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<void> {
  const consumer = await stage.consumer();
  for (const state of server.states) for (const wrong of wrongs) await server.say(state, wrong, signal);
  server.hand(PLAIN);
  await arrive(consumer, signal);
}

/** Takes what comes, until all that is plain has come. */
async function arrive(consumer: Consumer, signal: AbortSignal): Promise<void> {
  const missing = new Set(PLAIN);
  while (missing.size > 0) {
    const delivery = await consumer.next(signal);
    if (missing.delete(textOf(delivery.message)))
      assert.equal(delivery.undecodable, undefined, "a plain message counts as undecodable");
    else assertHarmless(delivery);
    await accept(delivery, signal).catch((error: unknown) => {
      // Whoever's connection is gone by now will send it again.
      if (delivery.signal?.aborted !== true) throw error;
      if (PLAIN.includes(textOf(delivery.message))) missing.add(textOf(delivery.message));
    });
  }
}

function assertHarmless({ message, undecodable }: Delivery): void {
  assert.ok(message.payload instanceof Uint8Array, "a payload is no bytes");
  const headers: readonly unknown[] = Object.values(message.headers ?? {});
  assert.ok(
    headers.every((value) => typeof value === "string"),
    "a header is no text",
  );
  if (undecodable !== undefined)
    assert.equal(undecodable.class, "rejected", `what cannot be decoded is ${undecodable.code}`);
}

function entries<Key extends string, Value>(table: Readonly<Record<Key, Value>>): [Key, Value][] {
  return Object.entries(table) as [Key, Value][];
}
