import { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { writeTogether } from "../src/one-write.ts";

interface Chunk {
  readonly chunk: Buffer;
}

/** A stream that tells what it was given in each call. */
function recording(highWaterMark = 65_536) {
  const calls: string[] = [];
  const stream = new Writable({
    highWaterMark,
    write(chunk: Buffer, _encoding, done) {
      calls.push(chunk.toString());
      done();
    },
    writev(chunks: Chunk[], done) {
      calls.push(chunks.map(({ chunk }) => chunk.toString()).join("+"));
      done();
    },
  });
  writeTogether(stream);
  return { stream, calls };
}

describe("writeTogether", () => {
  it("lets what is written at a stretch leave in one call, as soon as that stretch ends", async () => {
    const { stream, calls } = recording();
    for (const frame of ["a", "b", "c"]) stream.write(frame);
    expect(calls).toEqual([]);
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(calls).toEqual(["a+b+c"]);
    await turn();
    stream.write("d");
    stream.write("e");
    await turn();
    expect(calls).toEqual(["a+b+c", "d+e"]);
  });

  it("calls back when a frame is written, and says when it is full", async () => {
    const { stream, calls } = recording(2);
    const written = Promise.withResolvers<void>();
    expect(stream.write("a")).toBe(true);
    expect(stream.write("b", () => written.resolve())).toBe(false);
    const drained = new Promise((resolve) => stream.once("drain", resolve));
    await Promise.all([written.promise, drained]);
    expect(calls).toEqual(["a+b"]);
  });

  it("keeps nothing back from a stream that ends, and survives one that is destroyed", async () => {
    const ending = recording();
    ending.stream.write("a");
    ending.stream.end("b");
    await turn();
    expect(ending.calls).toEqual(["a+b"]);
    const destroyed = recording();
    destroyed.stream.write("a");
    destroyed.stream.destroy();
    await turn();
    expect(destroyed.calls).toEqual([]);
  });
});
