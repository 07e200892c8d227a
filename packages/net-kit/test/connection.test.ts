import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { ClientMemory } from "../src/client-memory.ts";
import { Connection, connectionOf } from "../src/connection.ts";

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What a connection asks of its socket. */
class FakeSocket extends EventEmitter {
  destroyed = false;
  reset = false;
  endedSoon = false;
  paused = true;
  resumes = 0;
  writableLength = 0;
  readableLength = 0;
  bytesWritten = 0;
  isPaused(): boolean {
    return this.paused;
  }
  resume(): void {
    this.resumes++;
  }
  destroy(): void {
    this.destroyed = true;
  }
  resetAndDestroy(): void {
    this.reset = this.destroyed = true;
  }
  destroySoon(): void {
    this.endedSoon = true;
  }
}

function place() {
  const socket = new FakeSocket();
  const memory = new ClientMemory(100_000);
  // Nobody is cut who is alone.
  memory.keep({ cut() {} }, 1);
  const cuts: Connection[] = [];
  const connection = new Connection(socket as unknown as Socket, 0, memory, (cut) => cuts.push(cut));
  const taken: ServerResponse[] = [];
  const request = (now = 0): EventEmitter & ServerResponse => {
    const outgoing = new EventEmitter() as EventEmitter & ServerResponse;
    const take = (_incoming: unknown, given: ServerResponse): void => void taken.push(given);
    connection.use({ incoming: {} as IncomingMessage, outgoing, take }, now);
    return outgoing;
  };
  return { socket, memory, connection, cuts, taken, request, kept: () => memory.bytes - 1 };
}

describe("requests of one connection", () => {
  it("are taken one after another, each in a turn of its own, and read on when none waits", async () => {
    const { socket, connection, taken, request } = place();
    const [first, second] = [request(5), request(7)];
    expect([taken, connection.since, connection.hasWaiting]).toEqual([[first], 7, true]);
    first.emit("close");
    expect([taken.length, socket.resumes]).toEqual([1, 0]);
    await turn();
    expect([taken, connection.last, connection.hasWaiting]).toEqual([[first, second], second, false]);
    second.emit("close");
    expect(socket.resumes).toBe(1);
    socket.paused = false;
    request().emit("close");
    expect([taken.length, socket.resumes]).toEqual([3, 1]);
  });

  it("that wait take up 2 kB each, and what is read of those behind them", () => {
    const { socket, kept, request } = place();
    socket.readableLength = 300;
    request();
    expect(kept()).toBe(0);
    request();
    expect(kept()).toBe(2_048 + 300);
    request();
    expect(kept()).toBe(2 * 2_048 + 300);
  });

  it("are not taken when it is closed, and take up nothing", () => {
    const { socket, connection, taken, kept, request } = place();
    request(1);
    request(2);
    socket.destroyed = true;
    request(3);
    expect(connection.since).toBe(2);
    connection.forget();
    expect([taken.length, kept(), connection.hasWaiting]).toEqual([1, 0, false]);
  });

  it("are not taken behind the answer with which it ends", async () => {
    const { socket, connection, taken, kept, request } = place();
    const first = request();
    request();
    connection.endAfterAnswer();
    expect([connection.hasWaiting, kept()]).toEqual([false, 0]);
    request(9);
    expect([connection.hasWaiting, connection.since]).toEqual([false, 0]);
    first.emit("close");
    await turn();
    expect([taken.length, socket.endedSoon]).toEqual([1, true]);
  });
});

it("a connection whose next request is given up before its turn takes none", async () => {
  const { connection, taken, request } = place();
  const first = request();
  request();
  first.emit("close");
  connection.endAfterAnswer();
  await turn();
  expect(taken).toEqual([first]);
});

describe("what is kept for a connection", () => {
  it("is what its client has not taken, or what is expected to be more, until the answer has left", () => {
    const { socket, kept, request } = place();
    const outgoing = request();
    socket.writableLength = 500;
    outgoing.emit("prefinish");
    expect(kept()).toBe(500);
    connectionOf(outgoing)?.expect(200);
    expect(kept()).toBe(700);
    socket.writableLength = 900;
    outgoing.emit("prefinish");
    expect(kept()).toBe(900);
    socket.writableLength = 0;
    outgoing.emit("close");
    expect(kept()).toBe(0);
  });

  it("is looked at anew, with how long its client has taken nothing", () => {
    const { socket, connection, kept, request } = place();
    const outgoing = request();
    connectionOf(outgoing)?.expect(800);
    socket.writableLength = 300;
    expect([connection.look(100), connection.isUntaken, kept()]).toEqual([0, true, 300]);
    expect(connection.look(150)).toBe(50);
    socket.bytesWritten = 1;
    expect([connection.look(200), connection.look(230), connection.isUntaken]).toEqual([0, 30, true]);
    socket.writableLength = 0;
    expect([connection.look(300), connection.isUntaken, kept()]).toEqual([0, false, 0]);
    socket.writableLength = 10;
    expect([connection.look(400), connection.look(450)]).toEqual([0, 50]);
  });

  it("is nothing once it is closed", () => {
    const { socket, connection, kept, request } = place();
    const outgoing = request();
    connectionOf(outgoing)?.expect(800);
    socket.destroyed = true;
    outgoing.emit("prefinish");
    expect(kept()).toBe(0);
    connection.forget();
    expect(kept()).toBe(0);
  });

  it("is nothing beside the room that its answer has, which is given back when that has left", async () => {
    const { socket, connection, kept, request } = place();
    const outgoing = request();
    connection.expect(700);
    await connection.room(40_000, never);
    expect(kept()).toBe(40_000);
    socket.writableLength = 5_000;
    connection.expect(700);
    expect(kept()).toBe(40_000);
    socket.writableLength = 0;
    outgoing.emit("close");
    expect(kept()).toBe(0);
  });

  it.each(["forgotten while it has room", "closed while it waits for room"])(
    "is given back when it is %s",
    async (how) => {
      const { socket, memory, connection, kept, request } = place();
      request();
      if (how.startsWith("forgotten")) await connection.room(40_000, never);
      else {
        const others = await memory.room(50_000, never);
        const waiting = connection.room(40_000, never);
        socket.destroyed = true;
        others[Symbol.dispose]();
        await waiting;
      }
      expect(kept()).toBe(how.startsWith("forgotten") ? 40_000 : 0);
      connection.forget();
      expect(kept()).toBe(0);
    },
  );
});

describe("cutting a connection", () => {
  it("resets it, once, tells of it, and keeps nothing for it", () => {
    const { socket, connection, cuts, kept, request } = place();
    connectionOf(request())?.expect(800);
    request();
    connection.cut();
    connection.cut();
    expect([socket.reset, cuts, kept(), connection.hasWaiting]).toEqual([true, [connection], 0, false]);
  });

  it("ends that of a TLS socket without a reset, which would go to the one below", () => {
    const { socket, connection, cuts } = place();
    const tls = new FakeSocket();
    connection.socket = tls as unknown as Socket;
    connection.cut();
    expect([tls.destroyed, tls.reset, socket.destroyed, cuts.length]).toEqual([true, false, false, 1]);
  });
});
