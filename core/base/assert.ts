/** A fault of the daemon itself, not of its caller: the only plain error that is thrown. */
export const fault = (sentence: string, cause?: unknown): Error => new Error(sentence, { cause })

export function assert(holds: unknown, sentence: string): asserts holds {
  if (holds === undefined || holds === null || holds === false) throw fault(sentence)
}

/** Closes a discriminated union: a new variant that nobody handles does not compile. */
export const assertNever = (value: never): never => {
  throw fault(`unhandled variant ${JSON.stringify(value)}`)
}
