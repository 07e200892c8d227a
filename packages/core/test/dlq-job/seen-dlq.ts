import type { DlqStore } from "@bridge/ports";

/**
 * A store whose calls a test sees by their names (`get`, `jobs.put`, `admin.trash.move`), and refuses by throwing. Nobody who has it
 * can close it.
 */
export function seenDlq<Store extends DlqStore>(dlq: Store, onCall: (name: string) => void): Store {
  return seen(dlq, "", onCall);
}

function seen<Part extends object>(part: Part, prefix: string, onCall: (name: string) => void): Part {
  return new Proxy(part, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key === Symbol.asyncDispose) return async () => {};
      if (typeof key === "symbol" || value === null || value === undefined) return value;
      if (typeof value === "object") return seen(value, `${prefix}${key}.`, onCall);
      // What a store says of itself costs it no call.
      if (typeof value !== "function" || key === "health") return value;
      return (...given: readonly unknown[]): unknown => {
        try {
          onCall(`${prefix}${key}`);
        } catch (thrown) {
          return Promise.reject(thrown);
        }
        return Reflect.apply(value as (...given: readonly unknown[]) => unknown, target, given);
      };
    },
  });
}
