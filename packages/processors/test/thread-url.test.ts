import { existsSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memory } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import { schema, transform } from "../src/index.ts";
import { bound, make } from "./support/parts.ts";

const MISSING = new URL("not-there.js", import.meta.url);

/** A program of the user's own, which says that it ran and then does what ours does. */
function ownProgram(folder: string): URL {
  const ours = new URL("../src/processor-thread.ts", import.meta.url);
  const file = join(folder, "own.ts");
  writeFileSync(
    file,
    `import { writeFileSync } from "node:fs";
writeFileSync(new URL("ran", import.meta.url), "");
await import(${JSON.stringify(ours.href)});
`,
  );
  return pathToFileURL(file);
}

describe("a processor that works in a thread", () => {
  test("runs the program that it is told, and no document has it", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "bridge-processors-"));
    const threadUrl = ownProgram(folder.path);
    const inside = memory();
    const bridge = defineBridge({
      id: "b",
      stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
      routes: {
        r: {
          from: inside.channel("in"),
          processors: [
            transform({ payload: "payload.v + 1", threadUrl }),
            transform({ payload: "payload + 1", threadUrl }),
          ],
          to: inside.at("out"),
        },
      },
    });
    expect(bridge.document().processors).toEqual([
      { id: "r.transform", type: "transform", options: { payload: "payload.v + 1" } },
      { id: "r.transform-2", type: "transform", options: { payload: "payload + 1" } },
    ]);
    const running = await bridge.start({ signal: bound() });
    inside.hub.publish("in", { id: "m1", payload: '{"v":1}' });
    const [message] = await inside.hub.channel("out").waitForMessages(1, bound());
    expect(new TextDecoder().decode(message?.payload)).toBe("3");
    await running.shutdown();
    expect(existsSync(join(folder.path, "ran"))).toBe(true);
  });

  test.each([
    MISSING,
    new URL("https://cdn.example/not-there.js"),
    new URL("data:text/javascript,/not-there.js"),
    "not-there.js" as unknown as URL,
  ])("is refused when its program is no file, before anything runs: %s", (threadUrl) => {
    const remedy = /^processor "p": .*threadUrl .*make a file of @bridge\/processors\/thread.*threadUrl/;
    expect(() => make(transform.with({ threadUrl }), { payload: "1" })).toThrow(remedy);
    expect(() => make(schema.with({ threadUrl }), { schema: {} })).toThrow(remedy);
  });

  test("has one program in a bridge", () => {
    const inside = memory();
    const define = () =>
      defineBridge({
        id: "b",
        stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
        routes: {
          r: {
            from: inside.channel("in"),
            processors: [transform({ payload: "1" }), transform({ payload: "2", threadUrl: MISSING })],
            to: inside.at("out"),
          },
        },
      });
    expect(define).toThrow(/routes\.r\.processors\[1\].*"transform".*threadUrl/s);
  });
});
