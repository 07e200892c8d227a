import type { DeadLetter, DeadLetterFilter, ErrorClass } from "@bridge/ports";
import fc from "fast-check";
import { expect } from "vitest";
import { deadLetter } from "./dead-letter.ts";
import { type DlqModel, headOf } from "./dlq-model.ts";
import { type ScratchDlq, survivorOf } from "./scratch-dlq.ts";

export interface Real {
  store: ScratchDlq;
}

type Command = fc.AsyncCommand<DlqModel, Real>;

const { signal } = new AbortController();

// Few values, so that they meet.
const id = fc.constantFrom(..."abcdefghijklmnop");
const routeId = fc.constantFrom("r1", "r2");
const category = fc.constantFrom<ErrorClass[]>("transient", "permanent", "rejected");
const time = fc.integer({ min: 0, max: 6 });
const filter = fc.record({ routeId, category, since: time, before: time }, { requiredKeys: [] });
const limit = fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined });
const entry = fc
  .record({ id, routeId, category, failedAt: time, bytes: fc.integer({ min: 0, max: 9_000 }) })
  .map(({ bytes, id: chosen, ...fields }) => deadLetter(chosen, fields, bytes));

export const dlqCommands = fc.commands<DlqModel, Real, false>(
  [
    fc.array(entry, { minLength: 1, maxLength: 6 }).map(putAtOnce),
    id.map(get),
    fc.tuple(filter, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 })).map(list),
    fc.integer({ min: 0, max: 20 }).map(count),
    fc.array(id, { maxLength: 4 }).map(deleteThem),
    fc.tuple(filter, limit).map(deleteWhere),
    fc.constant(restart()),
  ],
  { maxCommands: 50, size: "max" },
);

function command(name: string, run: (model: DlqModel, real: Real) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

function putAtOnce(entries: readonly DeadLetter[]): Command {
  return command(`put ${entries.map((put) => put.id).join()}`, async (model, { store }) => {
    await Promise.all(entries.map((put) => store.put(put, signal)));
    for (const put of entries) model.put(put);
  });
}

function get(wanted: string): Command {
  return command(`get ${wanted}`, async (model, { store }) => {
    expect(await store.get(wanted, signal)).toEqual(model.get(wanted));
  });
}

function list([which, most, offset]: readonly [DeadLetterFilter, number, number]): Command {
  return command(`list ${JSON.stringify(which)} ${most} ${offset}`, async (model, { store }) => {
    const expected = model.matching(which).slice(offset, offset + most);
    expect(await store.list(which, { limit: most, offset }, signal)).toEqual(expected.map(headOf));
  });
}

function count(cap: number): Command {
  return command(`count ${cap}`, async (model, { store }) => {
    expect(await store.count(cap, signal)).toBe(Math.min(cap, model.matching({}).length));
  });
}

function deleteThem(ids: readonly string[]): Command {
  return command(`delete ${ids.join()}`, async (model, { store }) => {
    const there = new Set(ids.filter((wanted) => model.get(wanted) !== undefined));
    expect(await store.admin.delete(ids, signal)).toEqual(there);
    model.remove(there);
  });
}

function deleteWhere([which, most]: readonly [DeadLetterFilter, number | undefined]): Command {
  return command(`deleteWhere ${JSON.stringify(which)} ${most}`, async (model, { store }) => {
    const gone = new Set(
      model
        .matching(which)
        .slice(0, most)
        .map((matching) => matching.id),
    );
    expect(await store.admin.deleteWhere(which, most, signal)).toBe(gone.size);
    model.remove(gone);
  });
}

function restart(): Command {
  return command("killed and opened again", async (_model, real) => {
    real.store = await survivorOf(real.store);
  });
}
