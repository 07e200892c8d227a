/**
 * Has `instanceof` know what another copy of the class has made: a process may load a package twice, as linked packages and bundles
 * do. Subclasses are known by their prototype, unless they are marked themselves.
 */
export function knownAcrossCopies(type: Function & { readonly prototype: object }, name: string): void {
  const brand = Symbol.for(`@bridge/${name}`);
  Object.defineProperty(type.prototype, brand, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value);
      try {
        return typeof value === "object" && value !== null && brand in value;
      } catch {
        // Such as a proxy that throws when it is looked at.
        return false;
      }
    },
  });
}
