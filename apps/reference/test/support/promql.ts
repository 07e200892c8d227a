import { type SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

/** A series that an expression asks for, with every label that it has to have for that. */
export interface Wanted {
  readonly metric: string;
  readonly labels: ReadonlySet<string>;
  /** What its labels are compared with, where that is no pattern. */
  readonly values: readonly (readonly [label: string, value: string])[];
}

/**
 * What an expression asks for: each selector with the labels that it matches, and with those that everything around it
 * groups or joins by. @throws Error when it is not PromQL
 */
export function wantedBy(expression: string): readonly Wanted[] {
  const tree = parser.parse(expression);
  const wanted: Wanted[] = [];
  tree.iterate({
    enter: ({ type, node }) => {
      if (type.isError) throw new Error(`not PromQL, at character ${node.from}: ${expression}`);
      if (type.name !== "VectorSelector") return;
      const name = node.getChild("Identifier");
      if (name === null) throw new Error(`a selector without the name of a metric: ${expression}`);
      const matchers = node.getChild("LabelMatchers");
      const labels = new Set([...labelsIn(matchers, expression), ...labelsAround(node, expression)]);
      wanted.push({ metric: text(name, expression), labels, values: valuesIn(matchers, expression) });
    },
  });
  return wanted;
}

/** The labels that the result can have; `undefined` when that depends on the series. */
export function labelsLeft(expression: string): ReadonlySet<string> | undefined {
  const left = new Set<string>();
  let grouped = false;
  parser.parse(expression).iterate({
    enter: ({ type, node }) => {
      if (type.name !== "AggregateExpr") return;
      grouped = true;
      for (const label of groupedBy(node, expression)) left.add(label);
    },
  });
  return grouped ? left : undefined;
}

function labelsAround(node: SyntaxNode, expression: string): readonly string[] {
  const labels: string[] = [];
  for (let around = node.parent; around !== null; around = around.parent) {
    if (around.name === "AggregateExpr") labels.push(...groupedBy(around, expression));
    const join = around.name === "BinaryExpr" ? around.getChild("MatchingModifierClause") : null;
    if (join !== null) labels.push(...labelsIn(join.getChild("GroupingLabels"), expression));
  }
  return labels;
}

function groupedBy(aggregate: SyntaxNode, expression: string): readonly string[] {
  return labelsIn(aggregate.getChild("AggregateModifier")?.getChild("GroupingLabels") ?? null, expression);
}

function labelsIn(list: SyntaxNode | null, expression: string): readonly string[] {
  if (list === null) return [];
  const labels: string[] = [];
  list.cursor().iterate(({ name, node }) => {
    if (name === "LabelName") labels.push(text(node, expression));
  });
  return labels;
}

const WORDS = /^\w+(?:\|\w+)*$/;

/** What a label is compared with; of a pattern each alternative when these are words, else nothing. */
function valuesIn(matchers: SyntaxNode | null, expression: string): readonly (readonly [string, string])[] {
  return (matchers?.getChildren("UnquotedLabelMatcher") ?? []).flatMap((matcher) => {
    const [label = "", operator = "", quoted = ""] = ["LabelName", "MatchOp", "StringLiteral"].map((part) =>
      text(matcher.getChild(part) ?? matcher, expression),
    );
    const value = quoted.slice(1, -1);
    if (!operator.endsWith("~")) return [[label, value] as const];
    return WORDS.test(value) ? value.split("|").map((word) => [label, word] as const) : [];
  });
}

function text(node: SyntaxNode, expression: string): string {
  return expression.slice(node.from, node.to);
}
