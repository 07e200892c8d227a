import { type Circuit, CLEAN } from "./circuit.ts";

/** The circuits that are not clean, by key. When there are too many, the one that changed longest ago is forgotten. */
export class CircuitTable {
  readonly #capacity: number;
  readonly #circuits = new Map<string, Circuit>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#circuits.size;
  }

  get(key: string): Circuit {
    return this.#circuits.get(key) ?? CLEAN;
  }

  set(key: string, circuit: Circuit): void {
    this.#circuits.delete(key);
    if (circuit.kind === "closed" && circuit.failures === 0) return;
    this.#circuits.set(key, circuit);
    if (this.#circuits.size <= this.#capacity) return;
    for (const oldest of this.#circuits.keys()) {
      this.#circuits.delete(oldest);
      break;
    }
  }
}
