// Laws of one file begin from one seed: each draws the conversations that the one before it drew. Here they are made once.
import fc, { type Arbitrary, type Random, type Stream, type Value } from "fast-check";

/** More than all laws of a file draw first; what is drawn after something else seldom comes again. */
const MOST_KEPT = 1500;

interface Drawn<T> {
  readonly value: Value<T>;
  /** Where the random numbers stand after it. */
  readonly end: Random;
}

/** The same values in the same order, and the same shrinking; nobody may change a value. */
export function drawnOnce<T>(inner: Arbitrary<T>): Arbitrary<T> {
  return new DrawnOnce(inner);
}

class DrawnOnce<T> extends fc.Arbitrary<T> {
  readonly #inner: Arbitrary<T>;
  readonly #drawn = new Map<string, Drawn<T>>();

  constructor(inner: Arbitrary<T>) {
    super();
    this.#inner = inner;
  }

  override generate(random: Random, bias: number | undefined): Value<T> {
    const state = random.getState();
    if (state === undefined) return this.#inner.generate(random, bias);
    const key = `${state.join()} ${bias}`;
    const known = this.#drawn.get(key);
    if (known !== undefined) {
      Object.assign(random, known.end.clone());
      return known.value;
    }
    const value = this.#inner.generate(random, bias);
    if (this.#drawn.size < MOST_KEPT) this.#drawn.set(key, { value, end: random.clone() });
    return value;
  }

  override canShrinkWithoutContext(value: unknown): value is T {
    return this.#inner.canShrinkWithoutContext(value);
  }

  override shrink(value: T, context: unknown): Stream<Value<T>> {
    return this.#inner.shrink(value, context);
  }
}
