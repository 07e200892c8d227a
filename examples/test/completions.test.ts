import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CARET, Editor } from "./editor.ts";

/** A bridge in code as somebody types it. */
function shop({ from = `rabbit.queue("orders")`, to = "handler(() => {})", policy = "", hooks = "" }): string {
  return `
    import { defineBridge } from "@bridge/core";
    import { amqp } from "@bridge/transport-amqp";
    import { handler } from "@bridge/transport-function";

    const rabbit = amqp({ url: "amqp://guest:guest@127.0.0.1" });
    defineBridge({
      id: "shop",
      routes: { orders: { from: ${from}, to: ${to}, policy: { ${policy} } } },
      hooks: { ${hooks} },
    });`;
}

describe("an editor completes a bridge in code", () => {
  let editor: Editor;
  beforeAll(() => void (editor = new Editor()));
  afterAll(() => editor[Symbol.dispose]());

  test.each([
    ["what a session can be asked for", { from: `rabbit.${CARET}` }, ["queue", "exchange", "at"]],
    ["the options of a queue", { from: `rabbit.queue("orders", { ${CARET} })` }, ["prefetch"]],
    ["the keys of a policy", { policy: CARET }, ["max_replay_attempts", "on_permanent_failure", "send_timeout"]],
    ["the words of one of them", { policy: `on_permanent_failure: "${CARET}"` }, ["dlq", "drop"]],
    ["hooks", { hooks: CARET }, ["onAttemptFailed", "onDeadLetter", "onProgress", "onState"]],
    ["what a hook is told", { hooks: `onAttemptFailed: (failed) => failed.${CARET}` }, ["attempt", "error", "message"]],
  ])("%s", (_, typed, offered) => {
    expect(editor.completions(shop(typed))).toEqual(expect.arrayContaining(offered));
  });

  test("and offers nothing that is not there", () => {
    expect(editor.completions(shop({ policy: CARET }))).not.toContain("prefetch");
  });

  test("and says in plain words what is wrong with where a route leads", () => {
    expect(editor.problems(shop({}))).toEqual([]);
    expect(editor.problems(shop({ to: `[rabbit.at("a"), handler(() => {})]` }))).toEqual([]);
    expect(editor.problems(shop({ to: "[]" })).at(-1)).toBe("Source has 0 element(s) but target requires 1.");
    expect(editor.problems(shop({ to: `["orders"]` })).at(-1)).toBe(
      "Type 'string' is not assignable to type 'Target'.",
    );
  });
});
