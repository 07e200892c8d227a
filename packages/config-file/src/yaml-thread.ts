/**
 * The program of the thread in which the text of a file is read and edited, one task after another. Nothing of the
 * bridge's own packages is imported here but types, so that it starts from its sources as well as from a build. @module
 */
import { parentPort } from "node:worker_threads";
import { coveredComments } from "./covered-comments.ts";
import { editDocument } from "./edit-document.ts";
import { pack } from "./packed-value.ts";
import { parseDocument } from "./parse-document.ts";
import { textOf } from "./text-of.ts";
import type { Answer, Task } from "./thread-protocol.ts";

parentPort?.on("message", (task: Task) => {
  const answer = answerTo(task);
  const buffers: ArrayBuffer[] = [];
  if ("value" in answer) buffers.push(answer.value.bytes.buffer);
  if ("bytes" in answer) buffers.push(answer.bytes.buffer);
  parentPort?.postMessage(answer, buffers);
});

function answerTo(task: Task): Answer {
  try {
    return done(task);
  } catch (error) {
    return { kind: "error", message: error instanceof Error ? error.message : "cannot be read as YAML" };
  }
}

function done(task: Task): Answer {
  const text = textOf(task.bytes);
  if (task.kind === "edit") {
    const edited = editDocument(text, JSON.parse(textOf(task.document)) as Readonly<Record<string, unknown>>);
    const shown = coveredComments(edited.text, task.hidden);
    return { kind: "edited", bytes: new Uint8Array(Buffer.from(shown)), value: pack(edited.value) };
  }
  const parsed = parseDocument(text);
  if (task.kind === "locate") {
    return {
      kind: "located",
      positions: task.paths.map((path) => ("value" in parsed ? parsed.positionOf(path) : undefined)),
    };
  }
  if ("problems" in parsed) return { kind: "problems", problems: parsed.problems };
  return { kind: "value", value: pack(parsed.value) };
}
