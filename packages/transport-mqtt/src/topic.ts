import { stringProblem } from "./mqtt-string.ts";

const SHARED = /^\$share\/([^/]*)\/(.*)$/s;

/** Why nothing can be published to `topic`, as the end of a sentence; `undefined` when it is a topic name. */
export function topicProblem(topic: string): string | undefined {
  if (topic === "") return "is empty";
  if (/[+#]/.test(topic)) return 'holds "+" or "#", which stand for topics in subscriptions only';
  return stringProblem(topic);
}

/** Why nothing can be subscribed to with `filter`, as the end of a sentence; `undefined` when it is a topic filter. */
export function filterProblem(filter: string): string | undefined {
  const problem = stringProblem(filter);
  if (problem !== undefined) return problem;
  if (filter === "$share" || filter.startsWith("$share/")) {
    const [, group = "", shared = ""] = SHARED.exec(filter) ?? [];
    if (group === "" || shared === "" || /[+#]/.test(group)) return 'is not of the form "$share/group/filter"';
  }
  const pattern = patternOf(filter);
  if (pattern === "") return "is empty";
  const levels = pattern.split("/");
  for (const [index, level] of levels.entries()) {
    if (level.includes("#") && (level !== "#" || index !== levels.length - 1))
      return 'has a "#" that is not the last level';
    if (level.includes("+") && level !== "+") return 'has a "+" that is not a level of its own';
  }
  return undefined;
}

/** Whether each message of a subscription goes to one of its subscribers. */
export function isShared(filter: string): boolean {
  return SHARED.test(filter);
}

/** The part of a filter that topics are compared with: without the group of a shared subscription. */
export function patternOf(filter: string): string {
  return SHARED.exec(filter)?.[2] ?? filter;
}

/** Whether a message published to `topic` is for subscribers of `pattern`. */
export function matches(pattern: string, topic: string): boolean {
  if (pattern === topic) return true;
  // Topics of the broker's own are not for wildcards at the root.
  if (topic.startsWith("$") && !pattern.startsWith("$")) return false;
  const wanted = pattern.split("/");
  const levels = topic.split("/");
  for (const [index, level] of wanted.entries()) {
    if (level === "#") return true;
    if (index >= levels.length || (level !== "+" && level !== levels[index])) return false;
  }
  return wanted.length === levels.length;
}

/** Whether some topic matches both patterns. */
export function overlaps(one: string, other: string): boolean {
  if (one.startsWith("$") !== other.startsWith("$")) return false;
  const [a, b] = [one.split("/"), other.split("/")];
  for (let index = 0; ; index++) {
    const [x, y] = [a[index], b[index]];
    if (x === "#" || y === "#") return true;
    if (x === undefined || y === undefined) return x === y;
    if (x !== "+" && y !== "+" && x !== y) return false;
  }
}
