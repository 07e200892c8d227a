import type { Rule } from "./rule-context.ts";

/** Every id that a part names is declared. */
export const crossReferences: Rule = function* (context) {
  for (const { part, path } of context.parts("receivers")) {
    yield;
    context.refer("sessions", part.session_id, [...path, "session_id"]);
  }
  for (const { part, path } of context.parts("senders")) {
    yield;
    context.refer("sessions", part.session_id, [...path, "session_id"]);
  }
  for (const { part, path } of context.parts("bindings")) {
    yield;
    context.refer("senders", part.sender_id, [...path, "sender_id"]);
    context.refer("sessions", part.session_id, [...path, "session_id"]);
  }
  for (const { part, path } of context.parts("routes")) {
    yield;
    context.refer("receivers", part.receiver_id, [...path, "receiver_id"]);
    for (const [index, id] of (part.bindings ?? []).entries()) {
      context.refer("bindings", id, [...path, "bindings", index]);
    }
    for (const [index, id] of (part.processors ?? []).entries()) {
      context.refer("processors", id, [...path, "processors", index]);
    }
  }
};
