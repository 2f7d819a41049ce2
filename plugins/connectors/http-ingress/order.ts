/** Keys trimmed, each once, in the order of their bytes: the first names the session (webhooks-7). */
export const inOrder = (keys: readonly string[]): string[] =>
  [...new Set(keys.map((key) => key.trim()))].toSorted((one, other) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  )
