import { describe, expect, test } from "vitest";
import { compileExpression, EXPRESSION_LIMITS } from "../src/expression.ts";

const document = {
  payload: {
    text: "a".repeat(100_000),
    items: Array.from({ length: 1_000 }, (_, at) => ({ at, name: `n${at}` })),
    huge: 500_000_000,
  },
};

async function outcomeOf(text: string, timeoutMs = 30_000): Promise<unknown> {
  const evaluate = await compileExpression(text, timeoutMs);
  return evaluate(document).catch((error: unknown) => {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  });
}

const tooLong = {
  code: "PAYLOAD_TOO_LARGE",
  message: `makes a text of more than ${EXPRESSION_LIMITS.characters} characters`,
};
const tooMuchJson = {
  code: "PAYLOAD_TOO_LARGE",
  message: `makes more than ${EXPRESSION_LIMITS.characters} characters of JSON`,
};
const tooMany = {
  code: "PAYLOAD_TOO_LARGE",
  message: `makes a sequence of more than ${EXPRESSION_LIMITS.elements} elements`,
};

describe("an expression is bounded", () => {
  test("in time: a recursion without an end", async () => {
    expect(await outcomeOf("($f := function($n){ $f($n + 1) }; $f(1))", 50)).toEqual({
      code: "TIMEOUT",
      message: "was not evaluated in time",
    });
  });

  test("in depth, whatever the number of elements", async () => {
    expect(await outcomeOf("($f := function($n){ $n = 0 ? 0 : 1 + $f($n - 1) }; $f(100000))")).toEqual({
      code: "INVALID_PAYLOAD",
      message: expect.stringMatching(/^cannot be evaluated at character \d+ \("f"\): JSONata D1011$/) as string,
    });
    expect(await outcomeOf("$sum($map([1..20000], function($v){ $v > 0 ? 1 : 0 }))")).toBe(20_000);
  });

  test.each([
    ['$pad("x", payload.huge)', tooLong],
    ['$pad("x", -payload.huge)', tooLong],
    ["$join(payload.items.($$.payload.text))", tooLong],
    ["$join(payload.items.name, $$.payload.text)", tooLong],
    ['($f := function($s, $n){ $n = 0 ? $s : $f($s & $s, $n - 1) }; $length($f("xxxxxxxx", 25)))', tooLong],
    ["$reduce(payload.items, function($all, $item){ $all & $$.payload.text }, '')", tooLong],
    ['$fromMillis(0, "[Y,9000000-9000000]")', tooLong],
    ["$string(payload.items.{'t': $$.payload.text})", tooMuchJson],
    ['$string(($f := function($v, $n){ $n = 0 ? $v : $f([[$v], [$v]], $n - 1) }; $f("x", 40)))', tooMuchJson],
    ["[1..100001]", tooMany],
    ["payload.items.([1..200])", tooMany],
  ])("in size: %s", async (expression, expected) => {
    expect(await outcomeOf(expression)).toEqual(expected);
  });

  test("runs no text as an expression, so that no payload brings code", async () => {
    expect(await outcomeOf('$eval("1 + 1")')).toMatchObject({ code: "INVALID_PAYLOAD" });
    expect(await outcomeOf("$string.constructor")).toBeUndefined();
    expect(await outcomeOf('$lookup(payload, "constructor")')).toBeUndefined();
    expect(await outcomeOf("payload.__proto__")).toBeUndefined();
  });

  test("functions with a bound do what they did without", async () => {
    expect(await outcomeOf('$pad("x", 3, "-") & $pad("x", -3)')).toBe("x--  x");
    expect(await outcomeOf('$join(payload.items[at < 3].name, "+")')).toBe("n0+n1+n2");
    expect(await outcomeOf('$join("one")')).toBe("one");
    expect(await outcomeOf("payload.items[0] ~> $string")).toBe('{"at":0,"name":"n0"}');
    expect(await outcomeOf('$string("x") & $string(1.5) & $string($sum) & $string([1, {"a": $sum}])')).toBe(
      'x1.5[1,{"a":""}]',
    );
    expect(await outcomeOf("$map(payload.items[at < 2], function($i){ $string($i) })")).toHaveLength(2);
  });
});
