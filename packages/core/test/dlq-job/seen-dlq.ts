import type { DlqStore } from "@bridge/ports";

type OnCall = (name: string) => Promise<void> | undefined | void;

/**
 * A store whose calls a test sees by their names (`get`, `jobs.put`, `admin.trash.move`), refuses by throwing, and holds back by a promise. Nobody who has it
 * can close it.
 */
export function seenDlq<Store extends DlqStore>(dlq: Store, onCall: OnCall): Store {
  return seen(dlq, "", onCall);
}

function seen<Part extends object>(part: Part, prefix: string, onCall: OnCall): Part {
  return new Proxy(part, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key === Symbol.asyncDispose) return async () => {};
      if (typeof key === "symbol" || value === null || value === undefined) return value;
      if (typeof value === "object") return seen(value, `${prefix}${key}.`, onCall);
      // What a store says of itself costs it no call.
      if (typeof value !== "function" || key === "health") return value;
      return (...given: readonly unknown[]): unknown => {
        const call = (): unknown => Reflect.apply(value as (...given: readonly unknown[]) => unknown, target, given);
        try {
          const held = onCall(`${prefix}${key}`);
          return held === undefined ? call() : held.then(call);
        } catch (thrown) {
          return Promise.reject(thrown);
        }
      };
    },
  });
}
