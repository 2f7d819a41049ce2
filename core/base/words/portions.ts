/** Long work that is done in portions: `turns` has what serves others in between. Imports nothing of base. */

/** Work that stops now and then and goes on when it is asked; a portion takes a few milliseconds. */
export type Portions<T> = Generator<undefined, T, undefined>

/** The result of work that is done in one go: for what is short. */
export const atOnce = <T>(work: Portions<T>): T => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
