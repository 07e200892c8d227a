import fc from "fast-check";
import { expect, test } from "vitest";
import { Backlog, type Reservation } from "../../src/receiver/backlog.ts";
import { OrderedList, type Place } from "../../src/receiver/ordered-list.ts";

test("a backlog never holds more than its limits, and hands out in order", () => {
  const operation = fc.record({
    kind: fc.constantFrom("arrive", "grow", "complete", "pull", "end"),
    size: fc.integer({ min: 0, max: 40 }),
    pick: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const limits = { requests: 4, bytes: 100 };
      const backlog = new Backlog<number>(limits);
      let model: { readonly id: number; readonly reservation: Reservation<number>; complete: boolean }[] = [];
      let arrived = 0;
      for (const { kind, size, pick } of operations) {
        const chosen = model[pick % Math.max(1, model.length)];
        const bytes = model.reduce((sum, { reservation }) => sum + reservation.bytes, 0);
        if (kind === "arrive") {
          const reservation = backlog.reserve(size);
          expect(reservation !== undefined).toBe(model.length < limits.requests && bytes + size <= limits.bytes);
          if (reservation !== undefined) model.push({ id: arrived++, reservation, complete: false });
        } else if (kind === "grow" && chosen !== undefined && !chosen.complete) {
          const before = chosen.reservation.bytes;
          const fits = bytes + Math.max(0, size - before) <= limits.bytes;
          expect(backlog.extend(chosen.reservation, size)).toBe(fits);
          expect(chosen.reservation.bytes).toBe(fits ? Math.max(before, size) : before);
        } else if (kind === "complete" && chosen !== undefined && !chosen.complete) {
          backlog.keep(chosen.id, chosen.reservation);
          chosen.complete = true;
          model = [...model.filter((entry) => entry !== chosen), chosen];
        } else if (kind === "pull") {
          const next = model.find(({ complete }) => complete);
          if (next === undefined) continue;
          expect(backlog.first).toBe(next.id);
          backlog.release(next.reservation);
          model = model.filter((entry) => entry !== next);
        } else if (kind === "end" && chosen !== undefined) {
          backlog.release(chosen.reservation);
          model = model.filter((entry) => entry !== chosen);
        }
        expect(backlog.requests).toBe(model.length);
        expect(backlog.bytes).toBe(model.reduce((sum, { reservation }) => sum + reservation.bytes, 0));
      }
    }),
  );
});

test("an ordered list is the values that were appended and not removed", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(), { nil: undefined })), (operations) => {
      const list = new OrderedList<number>();
      let model: { readonly value: number; readonly place: Place<number> }[] = [];
      for (const [value, remove] of operations.entries()) {
        const victim = remove === undefined ? undefined : model[remove % Math.max(1, model.length)];
        if (victim === undefined) {
          model.push({ value, place: list.append(value) });
        } else {
          list.remove(victim.place);
          model = model.filter((entry) => entry !== victim);
        }
        expect(list.size).toBe(model.length);
        expect(list.first).toBe(model[0]?.value);
      }
      const rest: (number | undefined)[] = [];
      for (const { place } of model) {
        rest.push(list.first);
        list.remove(place);
      }
      expect(rest).toEqual(model.map(({ value }) => value));
    }),
  );
});
