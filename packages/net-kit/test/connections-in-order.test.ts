import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Clock, type LogFields, silentLogger, systemClock } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { ClientMemory } from "../src/client-memory.ts";
import { Connections } from "../src/connections.ts";

let nextPort = 1;

/** What is asked of a socket; it closes as soon as it is destroyed, unless that is left to the test. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress = "::1";
  readonly localAddress = "::1";
  readonly remotePort: number;
  destroyed = false;
  closesAtOnce = true;
  bytesRead = 0;
  bytesWritten = 0;
  writableLength = 0;
  readableLength = 0;

  constructor(remotePort = nextPort++) {
    super();
    this.remotePort = remotePort;
  }
  isPaused(): boolean {
    return false;
  }
  destroy(): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    if (this.closesAtOnce) this.emit("close");
    return this;
  }
  resetAndDestroy(): void {
    this.destroy();
  }
  push(): boolean {
    return true;
  }
}

interface FakeResponse extends EventEmitter {
  writableFinished: boolean;
  destroyed: boolean;
  readonly req: { complete: boolean; readonly url: string };
}

function place(limit: number) {
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  const cutLines: (LogFields | undefined)[] = [];
  const logger = { ...silentLogger, warn: (_: string, fields?: LogFields) => void cutLines.push(fields) };
  const memory = new ClientMemory(1_000);
  const connections = new Connections(limit, clock, memory, logger);
  const taken: unknown[] = [];
  const add = (handshakes = false): FakeSocket => {
    now++;
    const socket = new FakeSocket();
    connections.add(socket as unknown as Socket, handshakes);
    return socket;
  };
  /** A request over `socket`: answered, worked on, or not arrived in full. */
  const ask = (socket: FakeSocket, state: "answered" | "worked on" | "half" = "worked on"): FakeResponse => {
    now++;
    const response = Object.assign(new EventEmitter(), {
      writableFinished: state === "answered",
      destroyed: false,
      req: { complete: state !== "half", url: "/path" },
    });
    const incoming = { socket } as unknown as IncomingMessage;
    connections.use(incoming, response as unknown as ServerResponse, (_, outgoing) => void taken.push(outgoing));
    if (state === "answered") response.emit("close");
    return response;
  };
  const secured = (plain: FakeSocket): FakeSocket => {
    const socket = new FakeSocket(plain.remotePort);
    connections.secured(socket as unknown as Socket);
    return socket;
  };
  const ended = (sockets: readonly FakeSocket[]): readonly boolean[] => sockets.map(({ destroyed }) => destroyed);
  return { connections, add, ask, secured, ended, taken, cutLines, memory, pass: (ms: number) => (now += ms) };
}

describe("a new connection takes the place of", () => {
  it("the one without a request for longest: opened, or asked last", () => {
    const { connections, add, ask, ended } = place(3);
    const all = [add(), add(), add()];
    ask(all[0]!, "answered");
    add();
    expect(ended(all)).toEqual([false, true, false]);
    add();
    expect(ended(all)).toEqual([false, true, true]);
    add();
    expect(ended(all)).toEqual([true, true, true]);
    expect([connections.size, connections.ended, connections.refused]).toEqual([3, 3, 0]);
  });

  it("then one whose request has not arrived in full; never one whose request is worked on", () => {
    const { connections, add, ask, ended } = place(3);
    const [half, worked, idle] = [add(), add(), add()];
    ask(half, "half");
    ask(worked);
    ask(idle, "answered");
    ask(add());
    expect(ended([half, worked, idle])).toEqual([false, false, true]);
    ask(add());
    expect(ended([half, worked, idle])).toEqual([true, false, true]);
    const last = add();
    expect([last.destroyed, connections.size, connections.ended, connections.refused]).toEqual([true, 3, 2, 1]);
  });

  it("one whose client does not take its answer, before those that are worked on", () => {
    const { connections, add, ask, ended } = place(2);
    const [untaken, worked] = [add(), add()];
    ask(untaken);
    ask(worked);
    untaken.writableLength = 10;
    connections.cutUntaken(1_000);
    add();
    expect(ended([untaken, worked])).toEqual([true, false]);
  });

  it("one whose answer was broken off counts as idle", () => {
    const { add, ask, ended } = place(2);
    const [broken, worked] = [add(), add()];
    ask(worked);
    ask(broken).destroyed = true;
    add();
    expect(ended([broken, worked])).toEqual([true, false]);
  });

  it("whoever was ranked and has asked since, or is worked on since, keeps its place", () => {
    const { connections, add, ask, ended } = place(20);
    const all = Array.from({ length: 20 }, () => add());
    // Two are ranked at once: the second, which is next, becomes busy; the third is then the one that is idle for longest.
    add();
    const second = ask(all[1]!);
    add();
    expect(ended(all.slice(0, 4))).toEqual([true, false, true, false]);
    second.writableFinished = true;
    second.emit("close");
    // The fourth is next, and asks once more.
    ask(all[3]!, "answered");
    add();
    expect(ended(all.slice(0, 5))).toEqual([true, false, true, false, true]);
    expect(connections.size).toBe(20);
  });

  it("an idle one, though one that was worked on before it came has stopped to be taken since", () => {
    const { connections, add, ask, ended } = place(20);
    const idle = add();
    const worked = Array.from({ length: 19 }, () => add());
    for (const socket of worked) ask(socket);
    const next = add();
    worked[0]!.writableLength = 10;
    connections.cutUntaken(1_000);
    add();
    expect(ended([idle, worked[0]!, next])).toEqual([true, false, true]);
  });

  it("nobody whose request has arrived in full since it was ranked", () => {
    const { add, ask, ended } = place(20);
    const all = Array.from({ length: 20 }, () => add());
    const responses = all.map((socket) => ask(socket, "half"));
    ask(add());
    responses[1]!.req.complete = true;
    add();
    expect(ended(all.slice(0, 4))).toEqual([true, false, true, false]);
  });

  it("one that counts no more from then on, though its socket closes later", () => {
    const { connections, add, ended } = place(2);
    const all = [add(), add()];
    for (const socket of all) socket.closesAtOnce = false;
    all.push(add());
    expect([ended(all), connections.size]).toEqual([[true, false, false], 2]);
    all.push(add());
    expect([ended(all), connections.size]).toEqual([[true, true, false, false], 2]);
    for (const socket of all.slice(0, 2)) socket.emit("close");
    expect([connections.size, connections.ended, connections.refused]).toEqual([2, 2, 0]);
  });

  it("nobody, for a connection that has closed by itself meanwhile", () => {
    const { connections, add, ended } = place(20);
    const all = Array.from({ length: 20 }, () => add());
    add();
    all[1]!.destroy();
    add();
    expect([connections.size, connections.ended]).toEqual([20, 1]);
    add();
    expect(ended(all.slice(0, 4))).toEqual([true, true, true, false]);
    expect(connections.ended).toBe(2);
  });
});

describe("a connection over TLS", () => {
  it("is one, before its handshake and after it, whichever of its sockets closes first", () => {
    const { connections, add, secured } = place(10);
    const [first, second] = [add(true), add(true)];
    const [own, others] = [secured(first), secured(second)];
    expect(connections.size).toBe(2);
    first.destroy();
    expect(connections.size).toBe(1);
    others.destroy();
    expect(connections.size).toBe(0);
    own.destroy();
    second.destroy();
    expect(connections.size).toBe(0);
  });

  it("that was never added, as its handshake ended after it was closed, is none", () => {
    const { connections, add, secured } = place(10);
    const early = add(true);
    early.destroy();
    secured(early);
    expect(connections.size).toBe(0);
  });

  it("that has closed before its handshake leaves its ends to a new one", () => {
    const { connections, add, secured } = place(10);
    const first = add(true);
    const again = new FakeSocket(first.remotePort);
    connections.add(again as unknown as Socket, true);
    first.destroy();
    secured(again);
    connections.endUnused();
    expect(again.destroyed).toBe(false);
  });

  it("frees what was kept for it, whichever of its sockets closes", () => {
    const { memory, add, ask, secured } = place(10);
    for (const which of [0, 1]) {
      const plain = add(true);
      const sockets = [plain, secured(plain)];
      ask(sockets[1]!);
      ask(sockets[1]!);
      expect(memory.bytes).toBeGreaterThan(0);
      sockets[which]!.destroy();
      expect(memory.bytes).toBe(0);
    }
  });
});

describe("what is asked of connections", () => {
  it("the last response over one, unless requests wait; of one that is none, nothing", () => {
    const { connections, add, ask, taken } = place(10);
    const socket = add();
    expect(connections.lastOf(socket)).toBeUndefined();
    const response = ask(socket);
    expect(connections.lastOf(socket)).toBe(response);
    ask(socket);
    expect(connections.lastOf(socket)).toBe("waiting");
    ask(new FakeSocket());
    expect([connections.lastOf(new FakeSocket()), taken.length]).toEqual([undefined, 1]);
  });

  it("to cut those whose clients take nothing, after a while, and to say so", () => {
    const { connections, add, ask, ended, cutLines, pass } = place(10);
    const [mute, slow] = [add(), add()];
    for (const socket of [mute, slow]) {
      ask(socket);
      socket.writableLength = 10;
    }
    connections.cutUntaken(100);
    pass(99);
    slow.bytesWritten = 5;
    connections.cutUntaken(100);
    expect(ended([mute, slow])).toEqual([false, false]);
    pass(1);
    connections.cutUntaken(100);
    expect(ended([mute, slow])).toEqual([true, false]);
    expect([connections.cut, cutLines]).toEqual([1, [{ path: "/path", cut: 1 }]]);
  });

  it("to cut one for which most is kept before its first request was taken", () => {
    const { connections, memory, add, cutLines } = place(10);
    const socket = add();
    memory.keep({ cut() {} }, 500);
    socket.writableLength = 900;
    connections.cutUntaken(100);
    expect([socket.destroyed, connections.cut, cutLines]).toEqual([true, 1, [{ path: "", cut: 1 }]]);
  });

  it("to end those over which nothing was ever sent, also before their handshake", () => {
    const { connections, add, ask, ended } = place(10);
    const [unused, begun, used, handshaking] = [add(), add(), add(), add(true)];
    begun.bytesRead = 5;
    handshaking.bytesRead = 500;
    ask(used, "answered");
    connections.endUnused();
    expect(ended([unused, begun, used, handshaking])).toEqual([true, false, false, true]);
  });

  it("to spare those that have not been read while idle ones are closed, and only then", () => {
    const { connections, add, ended } = place(10);
    const [read, unread] = [add(), add()];
    unread.writableLength = 10;
    expect(() =>
      connections.sparingUnread(() => {
        for (const socket of [read, unread]) expect(socket.destroy()).toBe(socket);
        throw new Error("closing failed");
      }),
    ).toThrow("closing failed");
    expect(ended([read, unread])).toEqual([true, false]);
    connections.endAll();
    expect([ended([read, unread]), connections.size]).toEqual([[true, true], 0]);
  });
});
