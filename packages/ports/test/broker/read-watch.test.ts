import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { watchReading } from "../../src/broker/read-watch.ts";

test("what a listener throws is the stream's trouble, and nothing is handed out afterwards", async () => {
  const stream = new PassThrough();
  const [seen, heard, failures]: [string[], string[], unknown[]] = [[], [], []];
  watchReading(
    stream,
    (bytes) => void seen.push(bytes.toString()),
    (thrown) => void failures.push(thrown),
  );
  const failure = new Error("cannot read it");
  stream.on("data", (bytes: Buffer) => {
    if (bytes.toString() === "b") throw failure;
    heard.push(bytes.toString());
  });
  for (const text of ["a", "b", "c"]) {
    stream.write(text);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(seen).toEqual(["a", "b"]);
  expect(heard).toEqual(["a"]);
  expect(failures).toEqual([failure]);
});

test("what is refused is not handed out", async () => {
  const stream = new PassThrough();
  const [heard, failures]: [string[], unknown[]] = [[], []];
  const refusal = new Error("too large");
  watchReading(
    stream,
    () => {
      throw refusal;
    },
    (thrown) => void failures.push(thrown),
  );
  stream.on("data", (bytes: Buffer) => void heard.push(bytes.toString()));
  stream.write("a");
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual([]);
  expect(failures).toEqual([refusal]);
});
