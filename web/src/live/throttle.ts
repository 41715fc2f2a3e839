/** Runs an action at once, then at most once per period. */
export class Throttle {
  #waiting = new Map<string, ReturnType<typeof setTimeout>>();
  #again = new Map<string, () => void>();

  constructor(readonly periodMs: number) {}

  /** Runs now, or after the period since the last run of that name. */
  run(name: string, deed: () => void): void {
    if (this.#waiting.has(name)) {
      this.#again.set(name, deed);
      return;
    }
    deed();
    this.#waiting.set(
      name,
      setTimeout(() => this.#over(name), this.periodMs),
    );
  }

  /** Cancels all waiting actions. */
  clear(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#again.clear();
  }

  #over(name: string): void {
    this.#waiting.delete(name);
    const deed = this.#again.get(name);
    this.#again.delete(name);
    if (deed) this.run(name, deed);
  }
}
