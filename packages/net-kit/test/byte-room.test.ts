import { describe, expect, it } from "vitest";
import { ByteRoom } from "../src/byte-room.ts";

const never = new AbortController().signal;

/** Asks for room, and tells when it is there. */
function asking(room: ByteRoom, bytes: number, signal = never) {
  const asked: { held?: Disposable; refused?: unknown; readonly ended: Promise<void> } = {
    ended: room.take(bytes, signal).then(
      (held) => void (asked.held = held),
      (reason: unknown) => void (asked.refused = reason),
    ),
  };
  return asked;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("room for bytes", () => {
  it("is given up to its size, and back when it is not needed any more, once", async () => {
    const room = new ByteRoom(100);
    const [a, b] = [await room.take(60, never), await room.take(40, never)];
    expect([room.size, room.taken]).toEqual([100, 100]);
    a[Symbol.dispose]();
    a[Symbol.dispose]();
    expect(room.taken).toBe(40);
    b[Symbol.dispose]();
    expect(room.taken).toBe(0);
  });

  it("comes in the order of asking: a small one does not pass a large one that waits", async () => {
    const room = new ByteRoom(100);
    const first = await room.take(80, never);
    const [large, small] = [asking(room, 50), asking(room, 10)];
    await turn();
    expect([large.held, small.held, room.taken]).toEqual([undefined, undefined, 80]);
    first[Symbol.dispose]();
    await Promise.all([large.ended, small.ended]);
    expect(room.taken).toBe(60);
  });

  it("who gives up waiting takes none, and those behind get what there is", async () => {
    const room = new ByteRoom(100);
    const first = await room.take(80, never);
    const end = new AbortController();
    const [large, small] = [asking(room, 50, end.signal), asking(room, 10)];
    await turn();
    end.abort(new Error("enough"));
    await Promise.all([large.ended, small.ended]);
    expect(large.refused).toEqual(new Error("enough"));
    expect(room.taken).toBe(90);
    first[Symbol.dispose]();
    expect(room.taken).toBe(10);
  });

  it("who gives up waiting takes nothing from those before it", async () => {
    const room = new ByteRoom(100);
    await room.take(80, never);
    const end = new AbortController();
    const [before, behind] = [asking(room, 30), asking(room, 50, end.signal)];
    await turn();
    end.abort(new Error("enough"));
    await behind.ended;
    await turn();
    expect([before.held, room.taken]).toEqual([undefined, 80]);
  });

  it("what comes in the same moment as the end of waiting is given back, to those behind", async () => {
    const room = new ByteRoom(100);
    const first = await room.take(80, never);
    const end = new AbortController();
    const [late, next] = [asking(room, 50, end.signal), asking(room, 60)];
    await turn();
    end.abort(new Error("enough"));
    // It has given up, and its room comes before that is known.
    first[Symbol.dispose]();
    await Promise.all([late.ended, next.ended]);
    expect([late.held, room.taken]).toEqual([undefined, 60]);
  });

  it("nobody waits whose end has come before", async () => {
    const room = new ByteRoom(100);
    const asked = asking(room, 10, AbortSignal.abort(new Error("over")));
    await asked.ended;
    expect([asked.refused, room.taken]).toEqual([new Error("over"), 0]);
  });
});
