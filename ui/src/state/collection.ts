// Objects of one topic, kept up to date by the stream. Changes of one moment become one change of the signal.
import { signal, type Signal } from '@preact/signals'
import type { Change } from '../api/stream'

export class Collection<T> {
  readonly #objects = new Map<string, T>()
  /** In the order in which they came, so that nothing on a page moves when one changes. */
  readonly all: Signal<readonly T[]> = signal([])
  /** False until the first whole list is here: what is empty and what is not known must not look alike. */
  readonly known = signal(false)

  constructor(
    readonly topic: string,
    readonly keyOf: (object: T) => string,
  ) {}

  /** Apply changes without telling anybody; `publish` tells. */
  take(change: Change): void {
    if (change.type === 'RESET') {
      this.#objects.clear()
      for (const each of (change.object as T[] | undefined) ?? []) this.#objects.set(this.keyOf(each), each)
      this.known.value = true
    } else {
      const object = change.object as T
      if (change.type === 'DELETED') this.#objects.delete(this.keyOf(object))
      else this.#objects.set(this.keyOf(object), object)
    }
  }

  publish(): void {
    this.all.value = [...this.#objects.values()]
  }
}
