/** Lets a thing happen at once, and then at most once in a while, however often it is asked for. */
export class Throttle {
  #waiting = new Map<string, ReturnType<typeof setTimeout>>();
  #again = new Map<string, () => void>();

  constructor(readonly periodMs: number) {}

  /** Do it now, or once the time since the last one of that name is over. */
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

  /** Forget what still waits. */
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
