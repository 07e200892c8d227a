import type { FaultyLink, TransportPlace } from "@bridge/conformance";
import { BridgeError, type SessionRole } from "@bridge/ports";
import type { FaultGate, MemoryHub } from "../src/index.ts";

export interface MemoryPlaceOptions {
  readonly session: boolean;
  readonly counts?: boolean;
  readonly releasable?: boolean;
}

const LOST = new BridgeError("CONNECTION_LOST", "the link was broken by a test");

/** A channel of its own, that the sender sends into and the receiver takes from. */
export async function memoryPlace(hub: MemoryHub, options: MemoryPlaceOptions): Promise<TransportPlace> {
  const id = crypto.randomUUID();
  const { session, counts = true, releasable = true } = options;
  return {
    id,
    source: {
      ...(session && { session: { options: {} } }),
      receiver: { options: { channel: id, counts, releasable } },
      link: session ? sessionLink(hub, id, "source") : channelLink(hub, id),
    },
    target: {
      ...(session && { session: { options: {} } }),
      sender: { options: {} },
      address: id,
      link: session ? sessionLink(hub, id, "target") : channelLink(hub, id),
    },
    async [Symbol.asyncDispose]() {
      hub.channel(id).drain();
    },
  };
}

function sessionLink(hub: MemoryHub, id: string, role: SessionRole): FaultyLink {
  const link = hub.link(id, role);
  const freezers = [freezer(link.connects), freezer(hub.channel(id).sends)];
  return {
    cut: () => link.cut(),
    refuse: () => link.connects.failNext(Infinity, LOST),
    freeze() {
      for (const { freeze } of freezers) freeze();
    },
    restore() {
      link.up();
      for (const { restore } of freezers) restore();
    },
  };
}

function channelLink(hub: MemoryHub, id: string): FaultyLink {
  const channel = hub.channel(id);
  const { sends } = channel;
  const { freeze, restore } = freezer(sends);
  return {
    cut() {
      channel.interrupt(LOST);
      restore();
    },
    refuse: () => sends.failNext(Infinity, LOST),
    freeze,
    restore() {
      sends.clear();
      restore();
    },
  };
}

function freezer(gate: FaultGate): { freeze(this: void): void; restore(this: void): void } {
  let hold: Disposable | undefined;
  return {
    freeze() {
      hold = gate.hold();
    },
    restore() {
      hold?.[Symbol.dispose]();
      hold = undefined;
    },
  };
}
