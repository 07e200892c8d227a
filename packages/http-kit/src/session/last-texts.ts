/** The last so many texts of those that were added. */
export class LastTexts {
  readonly #most: number;
  readonly #texts = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  has(text: string): boolean {
    return this.#texts.has(text);
  }

  add(text: string): void {
    this.#texts.add(text);
    if (this.#texts.size <= this.#most) return;
    for (const oldest of this.#texts) {
      this.#texts.delete(oldest);
      return;
    }
  }
}
